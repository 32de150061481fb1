package attack

import (
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/address"
	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/trace"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/pace"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
	"github.com/loadtest-dev/loadtest-operator/test/virtual"
)

// oracle is a server that remembers what it served: it, not the worker, says
// what was sent.
type oracle struct {
	*httptest.Server
	mu    sync.Mutex
	came  []arrival
	conns int
}

// arrival is a request that a server got.
type arrival struct {
	path string
	at   time.Time
}

func newOracle(t *testing.T, handle http.HandlerFunc) *oracle {
	t.Helper()
	o := &oracle{}
	o.Server = httptest.NewUnstartedServer(nil)
	o.Config = o.server(handle)
	o.Start()
	t.Cleanup(o.Close)
	return o
}

// server notes what comes before it is handled.
func (o *oracle) server(handle http.HandlerFunc) *http.Server {
	s := &http.Server{Protocols: &http.Protocols{}, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		o.came = append(o.came, arrival{r.URL.Path, time.Now()})
		o.mu.Unlock()
		if handle != nil {
			handle(w, r)
		}
	})}
	s.Protocols.SetHTTP1(true)
	s.Protocols.SetUnencryptedHTTP2(true)
	s.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			o.mu.Lock()
			o.conns++
			o.mu.Unlock()
		}
	}
	return s
}

// arrivals are all requests in the order in which they came.
func (o *oracle) arrivals() []arrival {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.came)
}

// served is the paths of all requests, sorted.
func (o *oracle) served() (paths []string) {
	for _, a := range o.arrivals() {
		paths = append(paths, a.path)
	}
	slices.Sort(paths)
	return paths
}

// counts are how often each path came.
func (o *oracle) counts() map[string]int {
	n := map[string]int{}
	for _, a := range o.arrivals() {
		n[a.path]++
	}
	return n
}

func (o *oracle) connections() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.conns
}

// accepts waits until the server has seen that many connections: it accepts
// them after they were opened.
func (o *oracle) accepts(t *testing.T, n int) {
	t.Helper()
	await.True(t, fmt.Sprintf("the server has seen %d connections", n), func() bool { return o.connections() >= n })
	if got := o.connections(); got != n {
		t.Errorf("the server saw %d connections, want %d", got, n)
	}
}

// setup is what a test may vary.
type setup struct {
	url      string
	requests []source.Request
	timeout  time.Duration
	maxConns int
	client   string
	origins  []source.Origin
	worker   int32
	lookup   dial.Lookup
	journeys []source.Journey
	tables   []*source.Table
	bodies   *transport.Budget
	resume   bool
	// front stands before the server, and before TLS.
	front  func(url string) (string, dial.Lookup)
	traced int64 // the share that is sampled, of trace.Whole; 0: there are no traces
}

func get(path string) source.Request {
	return source.Request{Name: "get " + path, Weight: 1, Method: "GET", Path: path}
}

// runner returns a runner whose steps the driver drives.
func (d testDriver) runner(t *testing.T, s setup) *Runner {
	t.Helper()
	if s.requests == nil {
		s.requests = []source.Request{get("/${seq}")}
	}
	if s.timeout == 0 {
		s.timeout = 20 * time.Second
	}
	if s.maxConns == 0 {
		s.maxConns = 1000
	}
	src, err := source.New(source.Config{Requests: s.requests, ClientHeader: s.client, Origins: s.origins, Journeys: s.journeys, Tables: s.tables, Traced: s.traced > 0})
	must.Succeed(t, err)
	dialed := dial.Config{URL: s.url}
	switch {
	case d.network != nil:
		dialed.Dial, dialed.TLS = d.network.Dial, d.clientTLS
	case d.secured:
		dialed = scripted.Secure(t, s.url)
	}
	if s.front != nil {
		dialed.URL, s.lookup = s.front(dialed.URL)
	}
	dialed.Policy, dialed.Lookup, dialed.HTTP2, dialed.Resume = address.Policy{AllowSpecial: true}, s.lookup, d.http2(), s.resume
	dialer, err := dial.NewDialer(dialed)
	must.Succeed(t, err)
	config := Config{
		Source: src, Client: d.client(dialer), Timeout: s.timeout, MaxConnections: s.maxConns,
		LedgerBytes: len(s.client) << 20, Worker: s.worker, Bodies: s.bodies,
	}
	if d.network != nil {
		config.Timer, config.Clock = virtual.NewTimer, d.network.Clock
	}
	if s.traced > 0 {
		config.Traces, err = trace.NewSampler(s.traced)
		must.Succeed(t, err)
	}
	r, err := NewRunner(config)
	must.Succeed(t, err)
	t.Cleanup(r.Close)
	return r
}

// all is the share of a single worker.
func all(n int64) pace.Share { return pace.Share{Stride: 1, Count: n} }

func usersStep(n int64, load Load) StepShare { return StepShare{Share: all(n), Total: n, Load: load} }

// arrivalsStep is all hits of a step of arrivals.
func arrivalsStep(rate pace.Rate, d time.Duration) StepShare {
	n := rate.Before(d)
	return StepShare{Share: all(n), Total: n, Load: Arrivals{Rate: rate, Duration: d}}
}

// sendAll runs a step of n arrivals, which it cuts when all of them have ended, however long
// this machine takes for them: within a window that closes, a busy one leaves some unsent.
func sendAll(t *testing.T, r *Runner, rate pace.Rate, n int64) *measure.Measurement {
	t.Helper()
	x := r.Start(StepShare{Share: all(n), Total: n, Load: Arrivals{Rate: rate, Duration: time.Hour}}, time.Now())
	until(t, x, func(s *measure.Measurement) bool {
		q := total(t, s)
		return q.Sent-q.Outcomes[measure.Unfinished] == n
	})
	x.Cut()
	return finish(t, x)
}

// drive runs a step to its end.
func drive(t *testing.T, r *Runner, step StepShare) *measure.Measurement {
	t.Helper()
	must.Succeed(t, step.Check())
	x := r.Start(step, time.Now())
	return finish(t, x)
}

func finish(t *testing.T, x *Execution) *measure.Measurement {
	t.Helper()
	select {
	case <-x.Done():
	case <-time.After(max(0, time.Until(x.start)) + x.step.Load.length() + await.Patience):
		t.Fatal("the step does not end")
	}
	return snapshot(t, x)
}

// snapshot takes a snapshot and checks what always holds.
func snapshot(t *testing.T, x *Execution) *measure.Measurement {
	t.Helper()
	clients := x.Clients()
	s, err := x.Snapshot()
	must.Succeed(t, err)
	s.Clients = clients
	total := total(t, s)
	sum := int64(0)
	for _, n := range total.Outcomes {
		sum += n
	}
	ended := total.Sent - total.Outcomes[measure.Unfinished]
	switch {
	case sum != total.Sent:
		t.Errorf("the outcomes sum to %d, sent is %d", sum, total.Sent)
	case total.Outcomes[measure.Unfinished] < 0:
		t.Errorf("%d unfinished", total.Outcomes[measure.Unfinished])
	case s.Due != total.Sent+s.Unsent:
		t.Errorf("due %d is not sent %d + unsent %d", s.Due, total.Sent, s.Unsent)
	case total.Response.Count() != ended, total.Service.Count() != ended:
		t.Errorf("%d response and %d service times, want %d", total.Response.Count(), total.Service.Count(), ended)
	case total.StatusCodes.Sum() != total.Completed():
		t.Errorf("status codes of %d responses, %d completed", total.StatusCodes.Sum(), total.Completed())
	case s.Transport != x.runner.client.Name() || s.Engine != "" && (s.Engine == "vegeta") != strings.HasPrefix(s.Transport, "net/http"):
		t.Errorf("the client of %s was %q", s.Engine, s.Transport)
	case s.Lateness.Count() != total.Sent:
		t.Errorf("%d latenesses of %d sent", s.Lateness.Count(), total.Sent)
	}
	return s
}

func total(t *testing.T, s *measure.Measurement) measure.Request {
	t.Helper()
	total, err := s.Total()
	must.Succeed(t, err)
	return total
}

// until takes snapshots until one is as it should be.
func until(t *testing.T, x *Execution, fits func(*measure.Measurement) bool) {
	t.Helper()
	await.True(t, "a snapshot is as it should be", func() bool { return fits(snapshot(t, x)) })
}

// outcomes are those that occurred, by name.
func outcomes(r measure.Request) map[string]int64 {
	out := map[string]int64{}
	for o, n := range r.Outcomes {
		if n != 0 {
			out[measure.Outcome(o).String()] = n
		}
	}
	return out
}

// hold is a handler that answers only once it is released, or the client hangs up.
func hold(t *testing.T) (http.HandlerFunc, func()) {
	t.Helper()
	released := make(chan struct{})
	release := sync.OnceFunc(func() { close(released) })
	t.Cleanup(release)
	return func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-released:
		case <-r.Context().Done():
		}
	}, release
}

func contains(t *testing.T, text, want string) {
	t.Helper()
	if !strings.Contains(text, want) {
		t.Errorf("%q does not contain %q", text, want)
	}
}

// errorsOf has one message for each failing outcome of all requests.
func errorsOf(m *measure.Measurement) map[measure.Outcome]string {
	all := map[measure.Outcome]string{}
	for i := range m.Requests {
		maps.Copy(all, m.Requests[i].Errors)
	}
	return all
}
