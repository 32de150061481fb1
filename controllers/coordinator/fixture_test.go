package coordinator

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	clocktesting "k8s.io/utils/clock/testing"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/certs"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/measure/wire"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// tokens are "run/worker/pod"; "bad" is no token, "down" cannot be verified. A pod
// "name@3" was created at second 3.
type tokens struct {
	// gone has what Check says of a pod, by its UID.
	gone *sync.Map
}

func (tokens) Authenticate(_ context.Context, token string) (Identity, error) {
	if token == "down" {
		return Identity{}, errors.New("the API server is away")
	}
	run, rest, _ := strings.Cut(token, "/")
	number, pod, _ := strings.Cut(rest, "/")
	namespace := "team-a"
	if run == "neighbour" {
		namespace = "team-b"
	}
	id := Identity{Run: RunID(run), Namespace: namespace, Pod: pod, PodUID: "uid of " + pod, Node: "node of " + pod}
	if _, at, ok := strings.Cut(pod, "@"); ok {
		second, err := strconv.Atoi(at)
		if err != nil {
			return Identity{}, err
		}
		id.Created = noon.Add(time.Duration(second) * time.Second)
	}
	if _, err := fmt.Sscan(number, &id.Worker); err != nil {
		return Identity{}, fmt.Errorf("%w: %q", ErrUnauthenticated, token)
	}
	return id, nil
}

func (a tokens) Check(_ context.Context, id Identity) error {
	if err, ok := a.gone.Load(id.PodUID); ok {
		return err.(error)
	}
	return nil
}

// fixture is a coordinator that serves on loopback.
type fixture struct {
	*Coordinator
	t     *testing.T
	clock *clocktesting.FakeClock
	gone  *sync.Map // see tokens
	addr  string
	from  string // the address that workers dial from; empty: any
	// connTo opens a connection; nil: by TCP.
	connTo func(ctx context.Context, addr string) (net.Conn, error)
	wrap   func(net.Conn) net.Conn // the connections of workers; nil: as they are
	roots  *x509.CertPool
	stop   func() error

	mu       sync.Mutex
	notices  int
	timers   map[int]timer
	timer    int
	notified chan struct{}
}

type timer struct {
	after time.Duration
	run   func()
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	r := unserved(t)
	r.serve(lis)
	return r
}

// unserved is a fixture before serve.
func unserved(t *testing.T) *fixture {
	t.Helper()
	r := &fixture{t: t, clock: clocktesting.NewFakeClock(noon), timers: map[int]timer{}, notified: make(chan struct{}, 1), roots: x509.NewCertPool()}
	r.gone = &sync.Map{}
	r.Coordinator = New(tokens{r.gone}, r.clock, r.count, prometheus.NewRegistry())
	// Timers fire when the test says so.
	r.after = func(d time.Duration, f func()) func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.timer++
		i := r.timer
		r.timers[i] = timer{d, f}
		return func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			delete(r.timers, i)
		}
	}
	return r
}

func (r *fixture) serve(lis net.Listener) {
	r.t.Helper()
	made, err := certs.Generate(time.Now())
	must.Succeed(r.t, err)
	r.roots.AppendCertsFromPEM(made.CA)
	pair, err := tls.X509KeyPair(made.Cert, made.Key)
	must.Succeed(r.t, err)
	r.addr = lis.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- r.Serve(ctx, lis, &tls.Config{Certificates: []tls.Certificate{pair}}) }()
	r.stop = sync.OnceValue(func() error {
		cancel()
		return <-served
	})
	r.t.Cleanup(func() {
		if err := r.stop(); err != nil {
			r.t.Errorf("Serve: %v", err)
		}
		if n := testutil.ToFloat64(r.metrics.sessions); n != 0 {
			r.t.Errorf("%v sessions are left after Serve", n)
		}
	})
}

func (r *fixture) count(RunID) {
	r.mu.Lock()
	r.notices++
	r.mu.Unlock()
	select {
	case r.notified <- struct{}{}:
	default:
	}
}

// notifications is how often notify was called, for any run.
func (r *fixture) notifications() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.notices
}

// fire lets the timers run off that were not stopped, but for those of the connections
// and the identities.
func (r *fixture) fire() {
	r.t.Helper()
	r.fireIf(func(d time.Duration) bool { return d != hangUpTimeout && d != checkInterval })
}

// fireOf lets those run off that were set for d.
func (r *fixture) fireOf(d time.Duration) {
	r.t.Helper()
	r.fireIf(func(after time.Duration) bool { return after == d })
}

func (r *fixture) fireIf(want func(time.Duration) bool) {
	var due []func()
	r.mu.Lock()
	for i, t := range r.timers {
		if want(t.after) {
			due = append(due, t.run)
			delete(r.timers, i)
		}
	}
	r.mu.Unlock()
	for _, f := range due {
		f()
	}
}

// until observes run a again at each notification until ok.
func (r *fixture) until(what string, ok func(exchange.Observation) bool) {
	r.t.Helper()
	for !ok(r.Observe("a")) {
		await.Receive(r.t, fmt.Sprintf("%s: %+v", what, r.Observe("a")), r.notified)
	}
}

// scriptedWorker is a worker that sends what the test says.
type scriptedWorker struct {
	t          *testing.T
	run        string
	number     int32
	stream     grpc.BidiStreamingClient[workerv1.SessionRequest, workerv1.SessionResponse]
	disconnect func()
	inbox      []*workerv1.SessionResponse
}

// dial opens a session with that token, and sends nothing yet.
func (r *fixture) dial(token string) *scriptedWorker {
	r.t.Helper()
	dialer := &net.Dialer{}
	if r.from != "" {
		dialer.LocalAddr = &net.TCPAddr{IP: net.ParseIP(r.from)}
	}
	wrap, connTo := r.wrap, r.connTo
	if connTo == nil {
		connTo = func(ctx context.Context, addr string) (net.Conn, error) { return dialer.DialContext(ctx, "tcp", addr) }
	}
	dial := func(ctx context.Context, addr string) (net.Conn, error) {
		conn, err := connTo(ctx, addr)
		if err == nil && wrap != nil {
			conn = wrap(conn)
		}
		return conn, err
	}
	conn, err := grpc.NewClient("passthrough:///"+r.addr, grpc.WithContextDialer(dial), grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: r.roots, ServerName: workerv1.ServerName})))
	must.Succeed(r.t, err)
	ctx, cancel := context.WithTimeout(context.Background(), await.Patience)
	if token != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
	}
	stream, err := workerv1.NewCoordinatorServiceClient(conn).Session(ctx)
	must.Succeed(r.t, err)
	w := &scriptedWorker{t: r.t, stream: stream, disconnect: func() { cancel(); _ = conn.Close() }}
	r.t.Cleanup(w.disconnect)
	return w
}

// withWorker is a coordinator that directs run a, whose first worker is connected.
func withWorker(t *testing.T, d exchange.Directive) (*fixture, *scriptedWorker) {
	t.Helper()
	r := newFixture(t)
	r.Direct("a", d)
	return r, r.connect("a", 0, "pod")
}

// connect opens a session and sends a hello; it returns once that was handled.
func (r *fixture) connect(run string, number int32, pod string) *scriptedWorker {
	r.t.Helper()
	w := r.dial(fmt.Sprintf("%s/%d/%s", run, number, pod))
	w.run, w.number = run, number
	w.send(helloOf(run, number))
	w.sync()
	return w
}

func helloOf(run string, number int32) *workerv1.SessionRequest {
	return &workerv1.SessionRequest{Message: &workerv1.SessionRequest_Hello{Hello: &workerv1.Hello{Run: run, Worker: number, Protocol: workerv1.ProtocolVersion}}}
}

func (w *scriptedWorker) send(m *workerv1.SessionRequest) {
	w.t.Helper()
	// An ended stream shows at the next receive.
	if err := w.stream.Send(m); err != nil && !errors.Is(err, io.EOF) {
		w.t.Fatal(err)
	}
}

func (w *scriptedWorker) ready(ready bool, reason, message string) {
	w.send(readinessOf(&workerv1.Readiness{Ready: ready, Reason: reason, Message: message}))
}

func readinessOf(r *workerv1.Readiness) *workerv1.SessionRequest {
	return &workerv1.SessionRequest{Message: &workerv1.SessionRequest_Readiness{Readiness: r}}
}

func (w *scriptedWorker) snapshot(s *workerv1.Snapshot) {
	w.send(snapshotRequest(s))
}

// sync returns once all that was sent before was handled: a session's messages
// are handled one after another.
func (w *scriptedWorker) sync() {
	w.t.Helper()
	w.probe(1)
	for {
		m, err := w.stream.Recv()
		if err != nil {
			w.t.Fatalf("session ended: %v", err)
		}
		if m.GetClockReply() != nil {
			return
		}
		w.inbox = append(w.inbox, m)
	}
}

func (w *scriptedWorker) probe(at int64) {
	w.send(&workerv1.SessionRequest{Message: &workerv1.SessionRequest_ClockProbe{ClockProbe: &workerv1.ClockProbe{SentUnixNanos: at}}})
}

// receive returns the next message, as describe has it.
func (w *scriptedWorker) receive() string {
	w.t.Helper()
	var m *workerv1.SessionResponse
	if len(w.inbox) > 0 {
		m, w.inbox = w.inbox[0], w.inbox[1:]
	} else {
		var err error
		if m, err = w.stream.Recv(); err != nil {
			return "end: " + endText(err)
		}
	}
	return describe(m)
}

// end reads to the end of the session and returns why it ended.
func (w *scriptedWorker) end() error {
	for {
		if _, err := w.stream.Recv(); err != nil {
			return err
		}
	}
}

func endText(err error) string {
	if errors.Is(err, io.EOF) {
		return "ok"
	}
	return status.Code(err).String()
}

func describe(m *workerv1.SessionResponse) string {
	switch m := m.GetMessage().(type) {
	case *workerv1.SessionResponse_Assignment:
		return fmt.Sprintf("assignment %d/%d", m.Assignment.GetWorker(), m.Assignment.GetWorkers())
	case *workerv1.SessionResponse_StartStep:
		return fmt.Sprintf("start %d at %s", m.StartStep.GetStep(), time.Unix(0, m.StartStep.GetStartUnixNanos()).UTC().Format(time.TimeOnly))
	case *workerv1.SessionResponse_StopStep:
		return fmt.Sprintf("stop %d", m.StopStep.GetStep())
	case *workerv1.SessionResponse_Acknowledge:
		return fmt.Sprintf("acknowledge before %d", m.Acknowledge.GetBefore())
	case *workerv1.SessionResponse_ReadAudits:
		return fmt.Sprintf("read audits %d", m.ReadAudits.GetRound())
	case *workerv1.SessionResponse_AddSteps:
		return fmt.Sprintf("add %d steps from %d", len(m.AddSteps.GetSteps()), m.AddSteps.GetSteps()[0].GetIndex())
	case *workerv1.SessionResponse_Redirect:
		return fmt.Sprintf("redirect to %d destinations", len(m.Redirect.GetTarget().GetAllowed()))
	case *workerv1.SessionResponse_Finish:
		return "finish"
	default:
		return fmt.Sprintf("%T", m)
	}
}

// assignments are those of a run of that many workers, of one request and the
// steps 0, 2 and 3.
func assignments(run string, workers int) []*workerv1.Assignment {
	as := make([]*workerv1.Assignment, workers)
	for i := range as {
		as[i] = &workerv1.Assignment{
			Run: run, Worker: int32(i), Workers: int32(workers),
			Requests: []*workerv1.Request{{Name: "get", Path: "/"}},
			Steps:    []*workerv1.Step{{Index: 0}, {Index: 2}, {Index: 3}},
		}
	}
	return as
}

// running directs a run of that many workers in that step.
func running(run string, workers int, step int32) exchange.Directive {
	return exchange.Directive{Assignments: assignments(run, workers), Start: &exchange.Start{Step: step, At: noon}, Acknowledged: step}
}

// measurement is one of n requests; the seed makes it different from others.
func measurement(t testing.TB, n int, seed uint64) *workerv1.StepMeasurement {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, seed))
	s := measure.NewMeasurement(1)
	r := &s.Requests[0]
	for range n {
		d := time.Duration(math.Exp(rng.NormFloat64()) * float64(20*time.Millisecond))
		r.Response.Record(d)
		r.Service.Record(d / 2)
		s.Lateness.Record(d / 1000)
	}
	r.Sent, r.Expected, r.CompletedInWindow, r.ExpectedInWindow = int64(n), int64(n), int64(n), int64(n)
	r.Outcomes[measure.Success] = int64(n)
	s.Due, s.Window = int64(n), time.Duration(seed)*time.Second
	s.FirstStart = noon.Add(time.Duration(seed) * time.Millisecond)
	s.LastStart = s.FirstStart
	m, err := wire.Encode(s)
	must.Succeed(t, err)
	return m
}

// snapshot is one of n requests.
func snapshot(t testing.TB, step int32, sequence int64, final bool, n int) *workerv1.Snapshot {
	return &workerv1.Snapshot{Step: step, Sequence: sequence, Final: final, Measurement: measurement(t, n, uint64(sequence))}
}

// sent is how many requests all workers sent in the directed step; -1: none
// reported.
func sent(o exchange.Observation) int64 {
	if o.Step == nil {
		return -1
	}
	return o.Step.Merged.Requests[0].Sent
}

func wantSent(t *testing.T, o exchange.Observation, want int64) {
	t.Helper()
	same.As(t, "sent", want, sent(o))
}

func wantReceived(t *testing.T, w *scriptedWorker, want ...string) {
	t.Helper()
	for _, line := range want {
		if got := w.receive(); got != line {
			t.Errorf("worker %d received %q, want %q", w.number, got, line)
		}
	}
}

func wantEnd(t *testing.T, err error, code codes.Code, text string) {
	t.Helper()
	if status.Code(err) != code || !strings.Contains(status.Convert(err).Message(), text) {
		t.Errorf("session ended with %v, want %v: %s", err, code, text)
	}
}

func (r *fixture) wantRejected(why rejection, want float64) {
	r.t.Helper()
	if got := testutil.ToFloat64(r.metrics.rejected.WithLabelValues(string(why))); got != want {
		r.t.Errorf("loadtest_coordinator_rejected_total{reason=%q}: got %v, want %v", why, got, want)
	}
}
