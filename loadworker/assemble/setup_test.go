package assemble

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/attack"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

// shop creates codes, and knows only those.
type shop struct {
	*workertest.Target
	mu    sync.Mutex
	codes map[string]int // how often each was read
	wrong int
}

func newShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{codes: map[string]int{}}
	s.Target = workertest.NewTarget(t, func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if r.Method == http.MethodPost {
			body, _ := io.ReadAll(r.Body)
			code := "code-" + string(body)
			s.codes[code] = 0
			_, _ = fmt.Fprintf(w, `{"code":%q}`, code)
			return
		}
		code := strings.TrimPrefix(r.URL.Path, "/")
		if _, ok := s.codes[code]; !ok {
			s.wrong++
			w.WriteHeader(http.StatusNotFound)
			return
		}
		s.codes[code]++
	})
	return s
}

// count is how many codes were created, and how many reads were of another.
func (s *shop) count() (created, wrong int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.codes), s.wrong
}

// shopping fills some of 60 codes and reads them.
func shopping(url string, count int64, steps ...*workerv1.Step) *workerv1.Assignment {
	a := workertest.Assignment(url, steps...)
	a.Requests = []*workerv1.Request{
		{Name: "read", Weight: 1, Method: "GET", Path: "/${code}"},
		{Name: "create", Weight: 1, Method: "POST", Path: "/", Body: []byte("${seq}")},
	}
	a.Setup = &workerv1.Setup{Fill: &workerv1.Fill{
		Request: 1, Share: &workerv1.Share{First: 0, Stride: 2, Count: count}, Capture: map[string]string{"code": ".code"},
		Choice: workerv1.DataChoice_DATA_CHOICE_SEQUENTIAL,
	}}
	return a
}

func TestSetupIsNoPartOfTheResult(t *testing.T) {
	server := newShop(t)
	a := shopping(server.URL, 30, workertest.Burst(0, 3, 20))
	a.Setup.WarmUp = &workerv1.WarmUp{Request: 0, DurationNanos: int64(2 * time.Second)}
	var progress []string
	x := prepared(t, a, testConfig(), func(err error) { progress = append(progress, err.Error()) })
	if n := len(progress); n < 2 || !strings.HasSuffix(progress[0], " of 30 requests sent") || progress[n-1] != "setup: the target is warmed up for 2s" {
		t.Errorf("the setup reports %q, want the requests that were sent, and last the warm-up", progress)
	}
	warm := server.Served()
	if created, _ := server.count(); created != 30 || warm <= 30 {
		t.Errorf("%d codes were created, %d requests served; want 30 and the warm-up", created, warm)
	}
	got := run(t, x)
	total, err := got.Total()
	must.Succeed(t, err)
	if _, wrong := server.count(); total.Sent != 60 || total.Outcomes[measure.Success] != 60 || wrong != 0 {
		t.Errorf("sent %d, %d successes, %d codes unknown to the server; want 60 that it knows", total.Sent, total.Outcomes[measure.Success], wrong)
	}
	// The server may count the last request of each of the warm-up's three connections
	// late.
	if n := server.Served() - warm; n < 60 || n > 63 || got.ConnectionsOpened != 3 {
		t.Errorf("%d served in the step on %d connections, want 60 on 3", n, got.ConnectionsOpened)
	}
}

func TestWarmUpConnections(t *testing.T) {
	for name, tt := range map[string]struct {
		first attack.StepShare
		want  int
	}{
		"one for each user":      {(&Assembly{}).stepOf(workertest.Burst(0, 3, 1)), 3},
		"at most the bound":      {(&Assembly{}).stepOf(workertest.Burst(0, 1000, 1)), 64},
		"arrivals have no users": {(&Assembly{}).stepOf(&workerv1.Step{Load: &workerv1.Step_Arrivals{Arrivals: &workerv1.Arrivals{}}}), 16},
	} {
		if got := warmUpConnections(tt.first); got != tt.want {
			t.Errorf("%s: warmed up over %d connections, want %d", name, got, tt.want)
		}
	}
}

// What the administrator allows bounds the connections of a fill, and of a warm-up.
func TestSetupConnectionsAreBounded(t *testing.T) {
	for most, want := range map[int32][2]int{0: {16, 64}, 1: {1, 1}, 20: {16, 20}, 100: {16, 64}} {
		a := shopping("http://127.0.0.1:1", 3, workertest.Burst(0, 100, 1))
		a.Requests[0].Path = "/"
		a.Setup.WarmUp = &workerv1.WarmUp{Request: 0, DurationNanos: 1}
		a.Setup.Connections = most
		x, err := New(t.Context(), a, testConfig(), ignore)
		must.Succeed(t, err)
		if p := x.sides[0].setup; p.fill.Connections != want[0] || p.warmUp.Connections != want[1] {
			t.Errorf("of at most %d, the fill has %d and the warm-up %d connections, want %v", most, p.fill.Connections, p.warmUp.Connections, want)
		}
	}
}

// A worker without a share of the fill is refused only if its requests take
// captured values.
func TestFillWithoutAShare(t *testing.T) {
	a := shopping("http://127.0.0.1:1", 0, workertest.Burst(0, 1, 1))
	a.Requests[0].Path = "/"
	if _, err := New(t.Context(), a, testConfig(), ignore); err != nil {
		t.Errorf("New = %v, want no refusal: no request takes a captured value", err)
	}
}

// A target that gives no response to a fill, or is not ready, is out of reach for as long as it is.
func TestSetupWaitsForTheTarget(t *testing.T) {
	for name, tt := range map[string]struct {
		fails func(http.ResponseWriter)
		says  string
	}{
		"no response": {func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, "read: unexpected EOF"},
		"not ready":   {func(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) }, "status 503 Service Unavailable instead of 200 to 299: the target is not ready"},
	} {
		t.Run(name, func(t *testing.T) {
			var away atomic.Bool
			away.Store(true)
			server := workertest.NewTarget(t, func(w http.ResponseWriter, _ *http.Request) {
				if away.Load() {
					tt.fails(w)
					return
				}
				_, _ = io.WriteString(w, `{"code":"x"}`)
			})
			a := shopping(server.URL, 1, workertest.Burst(0, 1, 1))
			says := `setup.fill: request "create": ` + tt.says + "; it is sent again"
			prepared(t, a, testConfig(), unreachable(t, says, func() { away.Store(false) }))
			if away.Load() {
				t.Error("it was not said that the target is out of reach")
			}
		})
	}
}

func TestSetupRefusals(t *testing.T) {
	tests := map[string]struct {
		change  func(*workerv1.Assignment)
		handle  http.HandlerFunc
		reason  string
		message string
	}{
		"a response that is not expected": {
			handle:  func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInsufficientStorage) },
			reason:  "SetupFailed",
			message: `setup.fill: request "create": status 507 Insufficient Storage instead of 200 to 299`,
		},
		"nothing for this worker to capture": {
			change:  func(a *workerv1.Assignment) { a.Setup.Fill.Share.Count = 0 },
			reason:  "InvalidSpec",
			message: "setup.fill.count: must be at least the number of workers",
		},
		"a request that is not there": {
			change:  func(a *workerv1.Assignment) { a.Setup.WarmUp = &workerv1.WarmUp{Request: 5} },
			reason:  "InvalidSpec",
			message: "setup.warmUp.request: there is no request 5",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			server := workertest.NewTarget(t, tt.handle)
			a := shopping(server.URL, 1, workertest.Burst(0, 1, 1))
			if tt.change != nil {
				tt.change(a)
			}
			if got := refusal(t, a, testConfig()); got.Reason != tt.reason || !strings.Contains(got.Error(), tt.message) {
				t.Errorf("refused for %s: %v, want %s: …%s…", got.Reason, got, tt.reason, tt.message)
			}
		})
	}
}
