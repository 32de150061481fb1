package setup

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/address"
	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/http1"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// limiter says of itself which strategy it has, or what handle answers.
type limiter struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
	from  []string // the other end of the connection, of each question
}

func newLimiter(t *testing.T, handle http.HandlerFunc) *limiter {
	t.Helper()
	l := &limiter{}
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.mu.Lock()
		l.asked, l.from = append(l.asked, r.Method+" "+r.URL.Path), append(l.from, r.RemoteAddr)
		l.mu.Unlock()
		handle(w, r)
	}))
	t.Cleanup(l.Close)
	return l
}

// questions is what was asked, and over how many connections.
func (l *limiter) questions() (asked []string, connections int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.asked), len(slices.Compact(slices.Sorted(slices.Values(l.from))))
}

// newPreflight asks whether the target is healthy, and which strategy it has.
func newPreflight(t *testing.T, url string, change ...func(*source.Request)) Preflight {
	t.Helper()
	requests := []source.Request{
		{Name: "healthy", Weight: 1, Method: "HEAD", Path: "/health"},
		{
			Name: "GET /version", Weight: 1, Method: "GET", Path: "/version",
			Expect: source.Expectation{Status: []int32{200}, JSON: []source.ExpectedValue{{Path: ".strategy", Equals: "lua"}, {Path: ".capacity", Equals: "50"}}},
		},
	}
	for _, f := range change {
		f(&requests[1])
	}
	src, err := source.New(source.Config{Requests: requests})
	must.Succeed(t, err)
	dialer, err := dial.NewDialer(dial.Config{URL: url, Policy: address.Policy{AllowSpecial: true}})
	must.Succeed(t, err)
	return Preflight{Config: Config{Source: src, Client: http1.NewClient(dialer, ""), Timeout: 20 * time.Second, Workers: 1}}
}

func answer(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/health" {
			return
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func TestPreflightAsksInOrderOverOneConnection(t *testing.T) {
	l := newLimiter(t, answer(200, `{"strategy":"lua","capacity":50}`))
	must.Succeed(t, newPreflight(t, l.URL).Ask(context.Background()))
	asked, connections := l.questions()
	if diff := cmp.Diff([]string{"HEAD /health", "GET /version"}, asked); diff != "" || connections != 1 {
		t.Errorf("asked over %d connections (-want +got):\n%s", connections, diff)
	}
}

// The questions of a worker differ from those of others, and their random values from
// those of the steps.
func TestPreflightNumbersItsQuestions(t *testing.T) {
	l := newLimiter(t, answer(200, `{"strategy":"lua","capacity":50}`))
	p := newPreflight(t, l.URL, func(r *source.Request) { r.Path = "/${worker}/${seq}/${rand:0-1000000000}" })
	p.Worker, p.Workers = 2, 5
	must.Succeed(t, p.Ask(context.Background()))
	var b source.Buffer
	p.Source.Render(&b, 1, source.Vars{Seq: 7, Worker: 2})
	asked, _ := l.questions()
	if got := asked[1]; !strings.HasPrefix(got, "GET /2/7/") || got == "GET "+string(b.Request.Path) {
		t.Errorf("the second question of worker 2 of 5 is %s, want number 7, and not as in step 0", got)
	}
}

// counted counts the connections that are in use.
type counted struct {
	transport.Client
	connections, open atomic.Int64
}

func (c *counted) NewConn() transport.Conn {
	c.connections.Add(1)
	c.open.Add(1)
	return &countedConn{Conn: c.Client.NewConn(), client: c}
}

type countedConn struct {
	transport.Conn
	client *counted
}

func (l *countedConn) Close() {
	l.Conn.Close()
	l.client.open.Add(-1)
}

// Nothing of the setup stays connected to the target.
func TestEveryConnectionIsClosed(t *testing.T) {
	shop := newShop(t)
	limiter := newLimiter(t, answer(200, `{}`)) // its answer is not as expected
	table := codes(t)
	tests := map[string]func(*counted){
		"preflight": func(c *counted) {
			p := newPreflight(t, limiter.URL)
			c.Client, p.Client = p.Client, c
			if p.Ask(context.Background()) == nil {
				t.Error("the answer was accepted")
			}
		},
		"fill": func(c *counted) {
			config := newConfig(t, shop.URL, table)
			c.Client, config.Client = config.Client, c
			if err := fill(3, table).Run(context.Background(), config, func(int64, error) {}); err != nil {
				t.Error(err)
			}
		},
		"warm-up": func(c *counted) {
			config := newConfig(t, shop.URL, codes(t))
			c.Client, config.Client = config.Client, c
			WarmUp{Duration: time.Millisecond, Connections: 3}.Run(context.Background(), config)
		},
	}
	for name, run := range tests {
		t.Run(name, func(t *testing.T) {
			c := &counted{}
			run(c)
			if c.connections.Load() == 0 || c.open.Load() != 0 {
				t.Errorf("%d of %d connections are left open", c.open.Load(), c.connections.Load())
			}
		})
	}
}

// The next try may be answered by another replica.
func TestPreflightOpensAConnectionForEachTry(t *testing.T) {
	l := newLimiter(t, answer(503, ""))
	p := newPreflight(t, l.URL)
	for range 3 {
		var unreachable *Unreachable
		if err := p.Ask(context.Background()); !errors.As(err, &unreachable) {
			t.Fatalf("Ask = %v, want that the target is not ready", err)
		}
	}
	if asked, connections := l.questions(); len(asked) != 6 || connections != 3 {
		t.Errorf("%d questions over %d connections, want 6 over 3", len(asked), connections)
	}
}

func TestPreflightJudgesTheAnswer(t *testing.T) {
	tests := map[string]struct {
		change      func(*source.Request)
		handle      http.HandlerFunc
		unreachable bool
		want        string
	}{
		"another strategy": {
			handle: answer(200, `{"strategy":"hash","capacity":50}`),
			want:   `preflight: GET /version: .strategy: a string of 4 bytes instead of "lua"`,
		},
		"the second value is another": {
			handle: answer(200, `{"strategy":"lua","capacity":51}`),
			want:   `preflight: GET /version: .capacity: a number of 2 bytes instead of "50"`,
		},
		"an error of the target's": {
			handle: answer(500, ``),
			want:   `preflight: GET /version: status 500 Internal Server Error instead of 200`,
		},
		"too many requests": {
			handle: answer(429, ``),
			want:   `preflight: GET /version: status 429 Too Many Requests instead of 200`,
		},
		// A request of the mix is spared then, since its answer is the limiter's.
		"too many requests, which is expected, without the values": {
			change: func(r *source.Request) { r.Expect.Status = []int32{200, 429} },
			handle: answer(429, `{}`),
			want:   `preflight: GET /version: .strategy: the body of 2 bytes has none; "lua" is expected`,
		},
		"too large": {
			change: func(r *source.Request) { r.Expect = source.Expectation{MaxBytes: 2} },
			handle: answer(200, `lua`),
			want:   `preflight: GET /version: body of 3 bytes, at most 2 are expected`,
		},
		"a bad gateway": {
			handle: answer(502, ``), unreachable: true,
			want: `preflight: GET /version: status 502 Bad Gateway instead of 200: the target is not ready`,
		},
		"not ready": {
			change: func(r *source.Request) { r.Expect = source.Expectation{} },
			handle: answer(503, ``), unreachable: true,
			want: `preflight: GET /version: status 503 Service Unavailable instead of 200 to 299: the target is not ready`,
		},
		"a gateway that waits": {
			change: func(r *source.Request) { r.Expect.Status = []int32{200, 204} },
			handle: answer(504, ``), unreachable: true,
			want: `preflight: GET /version: status 504 Gateway Timeout instead of 200 or 204: the target is not ready`,
		},
		"not ready, which is expected": {
			change: func(r *source.Request) { r.Expect = source.Expectation{Status: []int32{503}} },
			handle: answer(503, ``),
		},
		"not ready, which is expected, with another value": {
			change: func(r *source.Request) { r.Expect.Status = []int32{503} },
			handle: answer(503, `{"strategy":"hash"}`),
			want:   `preflight: GET /version: .strategy: a string of 4 bytes instead of "lua"`,
		},
		"no answer": {
			handle: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, unreachable: true,
			want: `preflight: healthy: read: unexpected EOF`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			l := newLimiter(t, tt.handle)
			p := newPreflight(t, l.URL)
			if tt.change != nil {
				p = newPreflight(t, l.URL, tt.change)
			}
			got := ""
			err := p.Ask(context.Background())
			if err != nil {
				got = err.Error()
			}
			var unreachable *Unreachable
			if got != tt.want || errors.As(err, &unreachable) != tt.unreachable {
				t.Errorf("Ask = %q (unreachable: %v), want %q (%v)", got, errors.As(err, &unreachable), tt.want, tt.unreachable)
			}
		})
	}
}

func TestPreflightStopsAtTheFirstWrongAnswer(t *testing.T) {
	l := newLimiter(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	err := newPreflight(t, l.URL).Ask(context.Background())
	if want := `preflight: healthy: status 404 Not Found instead of 200 to 299`; err == nil || err.Error() != want {
		t.Errorf("Ask = %v, want %s", err, want)
	}
	if asked, _ := l.questions(); len(asked) != 1 {
		t.Errorf("asked %v, want the first question alone", asked)
	}
}

// A target that hangs does not delay the end.
func TestPreflightEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	released := make(chan struct{})
	defer close(released)
	l := newLimiter(t, func(http.ResponseWriter, *http.Request) { cancel(); <-released })
	p := newPreflight(t, l.URL)
	p.Timeout = time.Hour
	ended := make(chan error, 1)
	go func() { ended <- p.Ask(ctx) }()
	if err := await.Receive(t, "the preflight ends", ended); !errors.Is(err, context.Canceled) {
		t.Errorf("Ask = %v, want %v", err, context.Canceled)
	}
}
