package attack

import (
	"encoding/hex"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/trace"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

var traceparent = regexp.MustCompile(`^00-([0-9a-f]{32})-([0-9a-f]{16})-0([01])$`)

// tracedOracle is a server that remembers the traces of what it served.
type tracedOracle struct {
	*oracle
	mu      sync.Mutex
	sampled map[string]string // path by trace id
	ids     map[string]bool   // of traces and of parents
	bad     []string
}

func newTracedOracle(t *testing.T, d testDriver, handle http.HandlerFunc) *tracedOracle {
	o := &tracedOracle{sampled: map[string]string{}, ids: map[string]bool{}}
	o.oracle = d.oracle(t, func(w http.ResponseWriter, r *http.Request) {
		o.note(r)
		<-time.After(latency)
		if handle != nil {
			handle(w, r)
		}
	})
	return o
}

func (o *tracedOracle) note(r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	values := r.Header.Values(trace.Header)
	parts := traceparent.FindStringSubmatch(strings.Join(values, ","))
	if parts == nil || o.ids[parts[1]] || o.ids[parts[2]] {
		o.bad = append(o.bad, r.URL.Path+" "+strings.Join(values, ","))
		return
	}
	o.ids[parts[1]], o.ids[parts[2]] = true, true
	if parts[3] == "1" {
		o.sampled[parts[1]] = r.URL.Path
	}
}

// check compares what was measured with what the server saw.
func (o *tracedOracle) check(t *testing.T, s *measure.Measurement) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.bad) > 0 {
		t.Errorf("%d requests have no trace of their own, such as %s", len(o.bad), o.bad[0])
	}
	q := total(t, s)
	if n := int64(len(o.ids) / 2); n != q.Sent || int64(len(o.sampled)) != q.Sampled {
		t.Errorf("the server got %d traces, %d of them sampled; %d were sent, %d sampled", n, len(o.sampled), q.Sent, q.Sampled)
	}
	for _, x := range q.Traces {
		if _, ok := o.sampled[hex.EncodeToString(x.ID[:])]; !ok {
			t.Errorf("trace %x is none that the server was asked for", x.ID)
		}
	}
}

// pathOf is the path of a request, whose trace it is.
func (o *tracedOracle) pathOf(x measure.Trace) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.sampled[hex.EncodeToString(x.ID[:])]
}

// Each request of a step has a trace of its own, and the slowest that is reported is the
// one that the server held.
func TestTheSlowestTraceIsThatOfTheSlowestRequest(t *testing.T) {
	arrivalsInVirtualTime(t, func(t *testing.T, d testDriver) {
		o := newTracedOracle(t, d, func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/5" {
				<-time.After(95 * ms)
			}
		})
		s := drive(t, d.runner(t, setup{url: o.URL, traced: trace.Whole}), arrivalsStep(100e6, 300*ms))
		o.check(t, s)
		slowest := s.Requests[0].Traces.Slowest()
		if len(slowest) != measure.SlowestTraces || o.pathOf(slowest[0]) != "/5" {
			t.Fatalf("%d slowest, the first of them %s; want %d, /5", len(slowest), o.pathOf(slowest[0]), measure.SlowestTraces)
		}
		if x := slowest[0]; x.Service != 100*ms || x.Response != 100*ms || x.Status != 200 || !x.Expected {
			t.Errorf("the slowest is %+v", x)
		}
	})
}

// Of users, of users with journeys and of a burst, as many are sampled as the server saw.
func TestEveryLoadHasTraces(t *testing.T) {
	journeys := setup{
		requests: []source.Request{get("/a/${seq}"), get("/b/${seq}")}, traced: trace.Whole / 2,
		journeys: []source.Journey{{Name: "j", Weight: 1, TimeLimit: time.Minute, Steps: []source.JourneyStep{{Request: 0, Times: 2}, {Request: 1, Times: 1}}}},
	}
	for name, load := range map[string]struct {
		setup
		step StepShare
	}{
		"closed users": {setup{traced: trace.Whole / 2}, usersStep(3, ClosedUsers{Duration: 200 * time.Millisecond})},
		"a burst":      {setup{traced: trace.Whole / 2}, usersStep(5, Burst{Requests: 40, Limit: time.Minute})},
		"journeys":     {journeys, usersStep(5, Burst{Requests: 40, Limit: time.Minute})},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, d testDriver) {
				o := newTracedOracle(t, d, nil)
				load.url = o.URL
				s := drive(t, d.runner(t, load.setup), load.step)
				o.check(t, s)
				// One in 2^100 runs samples fewer than five, or all.
				if q := total(t, s); q.Sent >= 200 && (q.Sampled < measure.SlowestTraces || q.Sampled == q.Sent || len(q.Traces.Slowest()) != measure.SlowestTraces) {
					t.Errorf("%d of %d sampled, %d kept", q.Sampled, q.Sent, len(q.Traces))
				}
			})
		})
	}
}

// A trace of a failure says how it failed, that of a request that had no end too.
func TestTracesOfFailuresAreKept(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		o := newTracedOracle(t, d, func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/0", "/1", "/2":
				w.WriteHeader(http.StatusServiceUnavailable)
			case "/3":
				<-r.Context().Done()
			}
		})
		x := d.runner(t, setup{url: o.URL, traced: trace.Whole}).Start(usersStep(10, Burst{Requests: 1, Limit: time.Minute}), time.Now())
		<-time.After(time.Second)
		x.Cut()
		s := finish(t, x)
		o.check(t, s)
		got := map[string]int{}
		for _, x := range s.Requests[0].Traces.Failed() {
			got[x.Outcome.String()]++
			if want := map[measure.Outcome]int{measure.ServerError: 503}[x.Outcome]; x.Status != want {
				t.Errorf("%v has status %d, want %d", x.Outcome, x.Status, want)
			}
			if x.Outcome == measure.Unfinished && o.pathOf(x) != "/3" {
				t.Errorf("the unfinished one is %s", o.pathOf(x))
			}
		}
		same.As(t, "failures", map[string]int{"serverError": measure.FailedTraces, "unfinished": 1}, got)
	})
}

// Requests of the warm-up have traces, of which none is reported.
func TestTracesOfTheWarmUpAreNotKept(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		o := newTracedOracle(t, d, nil)
		step := usersStep(4, PacedUsers{Rate: 20e6, Duration: time.Second})
		step.WarmUp = 2 * time.Second
		s := drive(t, d.runner(t, setup{url: o.URL, traced: trace.Whole}), step)
		q := total(t, s)
		if q.Sampled != 20 || q.Sent != 20 || len(o.arrivals()) != 60 || len(o.sampled) != 60 || len(o.bad) > 0 {
			t.Errorf("%d of %d sampled; the server got %d requests with %d traces", q.Sampled, q.Sent, len(o.arrivals()), len(o.sampled))
		}
	})
}

func TestWithoutTracesThereIsNoHeader(t *testing.T) {
	arrivalsInVirtualTime(t, func(t *testing.T, d testDriver) {
		o := d.oracle(t, func(_ http.ResponseWriter, r *http.Request) {
			if h, ok := r.Header[http.CanonicalHeaderKey(trace.Header)]; ok {
				t.Errorf("the header is %q", h)
			}
		})
		if q := total(t, drive(t, d.runner(t, setup{url: o.URL}), arrivalsStep(20e6, time.Second))); q.Sampled > 0 || len(q.Traces) > 0 {
			t.Errorf("%d sampled, %d traces", q.Sampled, len(q.Traces))
		}
	})
}
