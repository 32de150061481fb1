package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/address"
	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/http1"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// shop is a target that answers with a code for each item it is given.
type shop struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string
	fail   func(n int, w http.ResponseWriter) bool // whether it answers otherwise
}

func newShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.bodies = append(s.bodies, string(body))
		n := len(s.bodies)
		s.mu.Unlock()
		if s.fail != nil && s.fail(n, w) {
			return
		}
		_, _ = fmt.Fprintf(w, `{"item":{"code":"c%s"},"size":%d}`, body, len(body))
	}))
	t.Cleanup(s.Close)
	return s
}

// got is what was sent, sorted.
func (s *shop) got() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(slices.Values(s.bodies))
}

func newConfig(t *testing.T, url string, into *source.Table) Config {
	t.Helper()
	requests := []source.Request{
		{Name: "create", Weight: 1, Method: "POST", Path: "/", Body: "${seq}", Expect: source.Expectation{MaxBytes: 500}},
		{Name: "read", Weight: 1, Method: "GET", Path: "/${code}"},
	}
	src, err := source.New(source.Config{Requests: requests, Tables: []*source.Table{into}})
	must.Succeed(t, err)
	dialer, err := dial.NewDialer(dial.Config{URL: url, Policy: address.Policy{AllowSpecial: true}})
	must.Succeed(t, err)
	return Config{Source: src, Client: http1.NewClient(dialer, ""), Timeout: 20 * time.Second, Worker: 1, Workers: 3}
}

func codes(t *testing.T) *source.Table {
	t.Helper()
	table, err := source.NewTable("setup.fill.capture", []string{"code", "size"}, source.Sequential)
	must.Succeed(t, err)
	return table
}

// fill sends the numbers 1, 4, 7, … of all workers.
func fill(count int64, into *source.Table) Fill {
	return Fill{
		Number: func(j int64) int64 { return 1 + 3*j }, Count: count, Into: into,
		Capture: map[string]string{"code": ".item.code", "size": ".size"},
	}
}

func TestFillSendsItsShareAndCapturesInOrder(t *testing.T) {
	const n = 2*batch + 100
	s, table := newShop(t), codes(t)
	c := newConfig(t, s.URL, table)
	var reported []int64
	must.Succeed(t, fill(n, table).Run(context.Background(), c, func(sent int64, _ error) { reported = append(reported, sent) }))
	var want []string
	for j := range n {
		want = append(want, fmt.Sprint(1+3*j))
	}
	slices.Sort(want)
	same.As(t, "sent", want, s.got())
	if table.Rows() != n {
		t.Fatalf("%d rows of %d responses", table.Rows(), n)
	}
	// In turn they come in the order of the requests, whichever was answered first.
	var b source.Buffer
	for _, j := range []int64{0, 1, 2, 500, n - 1} {
		c.Source.Render(&b, 1, source.Vars{Order: source.Order{N: j, Streams: 1}})
		if got, want := string(b.Request.Path), fmt.Sprintf("/c%d", 1+3*j); got != want {
			t.Errorf("row %d is %s, want %s", j, got, want)
		}
	}
	if len(reported) == 0 || reported[0] != 0 || !slices.IsSorted(reported) {
		t.Errorf("reported %v, want how many were sent, from 0", reported)
	}
}

func TestFillWithoutCapture(t *testing.T) {
	s, table := newShop(t), codes(t)
	plain := Fill{Number: func(j int64) int64 { return j }, Count: 40}
	must.Succeed(t, plain.Run(context.Background(), newConfig(t, s.URL, table), func(int64, error) {}))
	if len(s.got()) != 40 || table.Rows() != 0 {
		t.Errorf("%d sent, %d rows; want 40 and none", len(s.got()), table.Rows())
	}
}

func TestFillTriesAgain(t *testing.T) {
	for name, fails := range map[string]func(http.ResponseWriter){
		"the connection breaks":   func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
		"the target is not ready": func(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) },
	} {
		t.Run(name, func(t *testing.T) {
			s, table := newShop(t), codes(t)
			s.fail = func(n int, w http.ResponseWriter) bool {
				if n <= 2 {
					fails(w)
				}
				return n <= 2
			}
			must.Succeed(t, fill(1, table).Run(context.Background(), newConfig(t, s.URL, table), func(int64, error) {}))
			if n := len(s.got()); n != 3 || table.Rows() != 1 {
				t.Errorf("sent %d times, %d rows; want 3 and one", n, table.Rows())
			}
		})
	}
}

func TestFillFails(t *testing.T) {
	says := func(status int, body string) func(int, http.ResponseWriter) bool {
		return func(_ int, w http.ResponseWriter) bool {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
			return true
		}
	}
	tests := map[string]struct {
		fail func(int, http.ResponseWriter) bool
		want string
	}{
		"another status": {
			says(500, ""),
			`setup.fill: request "create": status 500 Internal Server Error instead of 200 to 299`,
		},
		"a body that is not expected": {
			says(200, strings.Repeat("x", 501)),
			`setup.fill: request "create": status 200: body of 501 bytes, at most 500 are expected`,
		},
		"no JSON": {
			says(200, "hello"),
			`setup.fill: request "create": status 200, capture of code: the body of 5 bytes is not JSON, wrong at byte 1; it looks like text/plain`,
		},
		"another document": {
			says(200, "{}"),
			`setup.fill: request "create": status 200, capture of code: the body of 2 bytes has no .item.code`,
		},
		"a code that is not there yet": {
			says(200, `{"item":{"code":null},"size":1}`),
			`setup.fill: request "create": status 200, capture of code: the body of 31 bytes has no .item.code`,
		},
		"a code that does not stand in a path": {
			says(200, `{"item":{"code":"a b"},"size":1}`),
			`setup.fill.capture: request "create": column "code": the character at 1 must be percent-encoded`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, table := newShop(t), codes(t)
			s.fail = tt.fail
			err := fill(1, table).Run(context.Background(), newConfig(t, s.URL, table), func(int64, error) {})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Run = %v, want …%s…", err, tt.want)
			}
		})
	}
}

// It does not wait for requests that the target has taken and does not answer.
func TestFillEndsWithItsContext(t *testing.T) {
	s, table := newShop(t), codes(t)
	ctx, cancel := context.WithCancel(context.Background())
	released := make(chan struct{})
	defer close(released)
	s.fail = func(int, http.ResponseWriter) bool { cancel(); <-released; return false }
	c := newConfig(t, s.URL, table)
	c.Timeout = time.Hour
	done := make(chan error, 1)
	go func() { done <- fill(1000, table).Run(ctx, c, func(int64, error) {}) }()
	if err := await.Receive(t, "the fill ends", done); !errors.Is(err, context.Canceled) {
		t.Errorf("Run = %v, want %v", err, context.Canceled)
	}
}

func TestCheck(t *testing.T) {
	table := codes(t)
	c := newConfig(t, "http://x", table)
	tests := map[string]struct {
		check func() error
		want  string
	}{
		"a request that is not there":   {func() error { return Fill{Request: 2}.Check(c) }, "setup.fill.request: there is no request 2"},
		"one below 0":                   {func() error { return Fill{Request: -1}.Check(c) }, "setup.fill.request: there is no request -1"},
		"a path that is none":           {func() error { return Fill{Capture: map[string]string{"code": "x"}}.Check(c) }, `setup.fill.capture.code: "x" is not a path`},
		"what it is to capture":         {func() error { return Fill{Request: 1, Into: table}.Check(c) }, `setup.fill.request: request "read" uses values that it captures itself`},
		"to warm up with one not there": {func() error { return WarmUp{Request: 9}.Check(c) }, "setup.warmUp.request: there is no request 9"},
		"with the one behind the last":  {func() error { return WarmUp{Request: 2}.Check(c) }, "setup.warmUp.request: there is no request 2"},
		"with one below 0":              {func() error { return WarmUp{Request: -1}.Check(c) }, "setup.warmUp.request: there is no request -1"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if err := tt.check(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Check = %v, want %s", err, tt.want)
			}
		})
	}
	if err := (Fill{Request: 2}).Run(context.Background(), c, nil); err == nil || err.Error() != "setup.fill.request: there is no request 2" {
		t.Errorf("Run of a request that is not there = %v", err)
	}
	for _, request := range []int{0, 1} { // the second takes captured values
		if err := (WarmUp{Request: request}).Check(c); err != nil {
			t.Errorf("a warm-up with request %d: %v", request, err)
		}
	}
}

func TestWarmUp(t *testing.T) {
	const connections = 4
	s, table := newShop(t), codes(t)
	c := newConfig(t, s.URL, table)
	ctx, cancel := context.WithTimeout(context.Background(), await.Patience)
	defer cancel()
	s.fail = func(n int, _ http.ResponseWriter) bool {
		if n >= 10*connections && len(countByConnection(t, s.got(), c, connections)) == connections {
			cancel()
		}
		return false
	}
	WarmUp{Duration: time.Hour, Connections: connections}.Run(ctx, c)
	if !errors.Is(ctx.Err(), context.Canceled) {
		t.Fatalf("%d requests sent, want some on each connection", len(s.got()))
	}
	if n := c.Client.Opened(); n != connections {
		t.Errorf("%d connections opened, want %d", n, connections)
	}
	if sent := s.got(); len(slices.Compact(slices.Clone(sent))) != len(sent) {
		t.Errorf("numbers came twice: %v", sent)
	}
}

// countByConnection counts the requests of a warm-up by the connection of their numbers:
// the workers have them in turn, and of a worker its connections.
func countByConnection(t *testing.T, sent []string, c Config, connections int) map[int]int {
	t.Helper()
	count := map[int]int{}
	for _, text := range sent {
		number, err := strconv.Atoi(text)
		if err != nil || number%int(c.Workers) != int(c.Worker) {
			t.Errorf("%q is no number of worker %d", text, c.Worker)
		}
		count[number/int(c.Workers)%connections]++
	}
	return count
}

// A target that hangs does not hold the worker up beyond the warm-up.
func TestWarmUpEndsInTime(t *testing.T) {
	s, table := newShop(t), codes(t)
	released := make(chan struct{})
	defer close(released)
	s.fail = func(int, http.ResponseWriter) bool { <-released; return false }
	done := make(chan bool, 1)
	go func() {
		WarmUp{Duration: 20 * time.Millisecond, Connections: 100}.Run(context.Background(), newConfig(t, s.URL, table))
		done <- true
	}()
	await.Receive(t, "the warm-up ends", done)
}
