package coordinator

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"google.golang.org/grpc/codes"
	clocktesting "k8s.io/utils/clock/testing"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func TestUnprovenSessionIsRefused(t *testing.T) {
	anotherProtocol := helloOf("a", 0)
	anotherProtocol.GetHello().Protocol = workerv1.ProtocolVersion - 2
	for name, test := range map[string]struct {
		token string
		first *workerv1.SessionRequest
		code  codes.Code
		text  string
		why   rejection
	}{
		"no token":         {"", helloOf("a", 0), codes.Unauthenticated, `want one "Bearer <token>"`, rejectUnauthenticated},
		"a bad token":      {"bad", helloOf("a", 0), codes.Unauthenticated, "verify token", rejectUnauthenticated},
		"not verified":     {"down", helloOf("a", 0), codes.Unavailable, "the API server is away", rejectUnverified},
		"another run":      {"a/0/pod", helloOf("b", 0), codes.PermissionDenied, `hello.run is "b", but the token belongs to run "a"`, rejectIdentity},
		"another worker":   {"a/0/pod", helloOf("a", 1), codes.PermissionDenied, "hello.worker is 1, but the token belongs to worker 0", rejectIdentity},
		"too many workers": {"a/2/pod", helloOf("a", 2), codes.PermissionDenied, "worker number 2 is too high for a run of 2 workers", rejectIdentity},
		"below zero":       {"a/-1/pod", helloOf("a", -1), codes.PermissionDenied, "worker number -1 is too high for a run of 2 workers", rejectIdentity},
		"another protocol": {"a/0/pod", anotherProtocol, codes.FailedPrecondition, fmt.Sprintf("the operator's is %d: use the worker image of the operator's release", workerv1.ProtocolVersion), rejectHello},
		"no hello":         {"a/0/pod", &workerv1.SessionRequest{}, codes.InvalidArgument, "the first message of a session is hello", rejectHello},
	} {
		t.Run(name, func(t *testing.T) {
			r := newFixture(t)
			r.Direct("a", exchange.Directive{Assignments: assignments("a", 2)})
			w := r.dial(test.token)
			w.send(test.first)
			wantEnd(t, w.end(), test.code, test.text)
			r.wantRejected(test.why, 1)
			if r.notifications() != 0 || r.Observe("a").Workers[0].PodUID != "" {
				t.Error("a refused session left a trace")
			}
		})
	}
}

// In the middle of an upgrade, workers are of the version before or after.
func TestWorkersOfAdjacentVersionsAreTakenIn(t *testing.T) {
	for version, taken := range map[int32]bool{
		0: false, workerv1.ProtocolVersion - 2: false, workerv1.ProtocolVersion - 1: true, workerv1.ProtocolVersion + 1: true, workerv1.ProtocolVersion + 2: false,
	} {
		r, hello := newFixture(t), helloOf("a", 0)
		hello.GetHello().Protocol = version
		r.Direct("a", exchange.Directive{Assignments: assignments("a", 2)})
		w := r.dial("a/0/pod")
		w.send(hello)
		if !taken {
			wantEnd(t, w.end(), codes.FailedPrecondition, "use the worker image of the operator's release")
			continue
		}
		if got := w.receive(); !strings.HasPrefix(got, "assignment") {
			t.Errorf("a worker of version %d gets %s, want its assignment", version, got)
		}
	}
}

func TestInvalidMessageEndsTheSession(t *testing.T) {
	for name, test := range map[string]struct {
		message *workerv1.SessionRequest
		text    string
	}{
		"hello twice":           {helloOf("a", 0), "hello was sent twice"},
		"of no kind":            {&workerv1.SessionRequest{}, "a message of unknown kind"},
		"a reason that is none": {readinessOf(&workerv1.Readiness{Reason: "not a reason"}), "readiness.reason: want a condition reason"},
		"a digest that is none": {readinessOf(&workerv1.Readiness{Ready: true, Descriptors: "sha256:0"}), "readiness.descriptors: want sha256: and 64 digits"},
		"one of the control":    {readinessOf(&workerv1.Readiness{Ready: true, ControlDescriptors: "secret"}), "readiness.descriptors: want sha256: and 64 digits"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newFixture(t)
			w := r.connect("a", 0, "pod")
			w.send(test.message)
			wantEnd(t, w.end(), codes.InvalidArgument, test.text)
			r.wantRejected(rejectInvalid, 1)
		})
	}
}

func TestHelloMustComeInTime(t *testing.T) {
	simulate(t, func(t *testing.T, r *fixture) {
		w := r.dial("a/0/pod")
		synctest.Wait()
		r.fireOf(helloTimeout)
		wantEnd(t, w.end(), codes.DeadlineExceeded, "no hello")
	})
}

func TestClockReply(t *testing.T) {
	r := newFixture(t)
	w := r.connect("a", 0, "pod")
	r.clock.SetTime(noon.Add(7 * time.Nanosecond))
	w.probe(42)
	m, err := w.stream.Recv()
	must.Succeed(t, err)
	if got := m.GetClockReply(); got.GetProbeSentUnixNanos() != 42 || got.GetNowUnixNanos() != noon.UnixNano()+7 || !got.GetPacked() {
		t.Errorf("clock reply: %v", got)
	}
}

// A worker that reads nothing holds up neither Direct nor the others.
func TestSlowWorkerDelaysNoOther(t *testing.T) {
	simulate(t, func(t *testing.T, r *fixture) {
		slow, quick := r.connect("a", 0, "pod"), r.connect("a", 1, "pod")
		d := running("a", 2, 0)
		for _, a := range d.Assignments {
			// More than a stream's window, so that sending it waits for the reader.
			a.Requests[0].Body = bytes.Repeat([]byte("x"), 1<<20)
		}
		r.Direct("a", d)
		wantReceived(t, quick, "assignment 1/2", "acknowledge before 0", "start 0 at 12:00:00")
		synctest.Wait() // the sender of the slow one has taken up the start
		for second := range 100 {
			d.Start = &exchange.Start{At: noon.Add(time.Duration(second) * time.Second)}
			r.Direct("a", d)
		}
		d.Stop = true
		r.Direct("a", d)
		for received := ""; received != "stop 0"; {
			received = quick.receive()
			if received == "end: ok" {
				t.Fatal("the quick worker's session ended")
			}
		}
		// Once it reads it receives the latest directive, not those before it.
		wantReceived(t, slow, "assignment 0/2", "acknowledge before 0", "start 0 at 12:00:00", "start 0 at 12:01:39", "stop 0")
	})
}

func TestForgetFinishesTheWorkers(t *testing.T) {
	r := newFixture(t)
	r.Direct("directed", running("directed", 1, 0))
	directed, waiting := r.connect("directed", 0, "pod"), r.connect("waiting", 0, "pod")
	// One whose snapshot still waits for a directive goes as well.
	waiting.snapshot(snapshot(t, 0, 1, true, 1))
	wantReceived(t, directed, "assignment 0/1", "start 0 at 12:00:00") // of a run that is forgotten none is sent
	r.Forget("directed")
	r.Forget("waiting")
	r.Forget("unknown")
	wantReceived(t, directed, "finish", "end: ok")
	wantReceived(t, waiting, "finish", "end: ok")
	if len(r.runs) != 0 {
		t.Errorf("%d runs are remembered", len(r.runs))
	}
	if o := r.Observe("directed"); len(o.Workers) != 0 {
		t.Errorf("a forgotten run is observed: %+v", o)
	}
}

func TestUndirectedRunEndsWithItsLastWorker(t *testing.T) {
	r := newFixture(t)
	w := r.connect("a", 0, "pod")
	if got := testutil.ToFloat64(r.metrics.sessions); got != 1 {
		t.Errorf("loadtest_coordinator_sessions: got %v, want 1", got)
	}
	w.disconnect()
	await.True(t, "the run is forgotten", func() bool { return r.remembered() == 0 })
}

func (r *fixture) remembered() int {
	r.Coordinator.mu.Lock()
	defer r.Coordinator.mu.Unlock()
	return len(r.runs)
}

func TestUndirectedRunsAreBounded(t *testing.T) {
	r := newFixture(t)
	r.Coordinator.mu.Lock()
	for i := range maxWaiting {
		id := RunID(fmt.Sprint("waiting-", i))
		r.runs[id] = newRunState(id)
		r.runs[id].namespace = "team-a"
	}
	r.Coordinator.mu.Unlock()
	r.Direct("a", running("a", 1, 0))
	r.connect("a", 0, "pod") // a directed run is served
	w := r.dial("b/0/pod")
	w.send(helloOf("b", 0))
	wantEnd(t, w.end(), codes.ResourceExhausted, "100 runs of namespace team-a wait")
	r.wantRejected(rejectFull, 1)
	other := sessionOf("b", 0)
	other.identity.Namespace = "team-b"
	if err := r.attach(other); err != nil {
		t.Errorf("a run of another namespace: %v", err)
	}
	r.detach(other)
}

func TestDirectEndsSurplusSessions(t *testing.T) {
	r := newFixture(t)
	w := r.connect("a", 5, "pod")
	r.Direct("a", running("a", 2, 0))
	wantEnd(t, w.end(), codes.PermissionDenied, "worker number 5 is too high for a run of 2 workers")
}

func TestServeEndsSessionsAndReturns(t *testing.T) {
	r, directed := withWorker(t, running("a", 1, 0))
	waiting := r.connect("b", 0, "pod")
	waiting.snapshot(snapshot(t, 0, 1, true, 1))
	if err := r.stop(); err != nil {
		t.Errorf("Serve: %v", err)
	}
	wantEnd(t, directed.end(), codes.Unavailable, "")
	wantEnd(t, waiting.end(), codes.Unavailable, "")
}

func TestServeRefusesToRunWithoutTLS(t *testing.T) {
	c := New(tokens{&sync.Map{}}, clocktesting.NewFakeClock(noon), func(RunID) {}, prometheus.NewRegistry())
	if err := c.Serve(context.Background(), nil, nil); err == nil {
		t.Error("served without TLS")
	}
}

func TestServeSpeaksTLS13Only(t *testing.T) {
	r := newFixture(t)
	conn, err := net.Dial("tcp", r.addr)
	must.Succeed(t, err)
	defer conn.Close()
	err = tls.Client(conn, &tls.Config{RootCAs: r.roots, ServerName: workerv1.ServerName, MaxVersion: tls.VersionTLS12}).Handshake()
	if err == nil {
		t.Error("TLS 1.2 was accepted")
	}
}

func TestServeReturnsTheErrorOfTheListener(t *testing.T) {
	c := New(tokens{&sync.Map{}}, clocktesting.NewFakeClock(noon), func(RunID) {}, prometheus.NewRegistry())
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	must.Succeed(t, lis.Close())
	if err := c.Serve(t.Context(), lis, &tls.Config{}); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v, want that the listener is closed", err)
	}
}

// A rate is computed from the first increment on only if the counter was 0 before.
func TestEveryReasonHasACounterFromTheStart(t *testing.T) {
	registry := prometheus.NewRegistry()
	New(tokens{&sync.Map{}}, clocktesting.NewFakeClock(noon), func(RunID) {}, registry)
	for name, want := range map[string]int{
		"loadtest_coordinator_sessions": 1, "loadtest_coordinator_snapshots_total": 1, "loadtest_coordinator_paced_total": 1, "loadtest_coordinator_rejected_total": len(rejections),
	} {
		if n, err := testutil.GatherAndCount(registry, name); err != nil || n != want {
			t.Errorf("%s: %d series, %v, want %d", name, n, err, want)
		}
	}
}

func TestServeReturnsWhenItsContextHasEnded(t *testing.T) {
	c := New(tokens{&sync.Map{}}, clocktesting.NewFakeClock(noon), func(RunID) {}, prometheus.NewRegistry())
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	config := &tls.Config{}
	if err := c.Serve(ctx, lis, config); err != nil {
		t.Errorf("Serve: %v", err)
	}
	if config.MinVersion != 0 {
		t.Error("Serve changed its caller's configuration")
	}
	if _, err := lis.Accept(); err == nil {
		t.Error("the listener is still open")
	}
}

// A pod that was replaced runs on for a while. Its sessions would take turns with
// those of the pod in its place.
func TestReplacedPodCannotComeBack(t *testing.T) {
	r := newFixture(t)
	r.Direct("a", running("a", 1, 0))
	r.connect("a", 0, "second@2")
	old := r.dial("a/0/first@1")
	old.send(helloOf("a", 0))
	wantEnd(t, old.end(), codes.PermissionDenied, "pod first@1 was replaced by second@2")
	r.wantRejected(rejectIdentity, 1)
	if w := r.Observe("a").Workers[0]; !w.Connected || w.PodUID != "uid of second@2" {
		t.Errorf("the worker is %+v, want the second pod connected", w)
	}
	r.connect("a", 0, "third@3")
	if w := r.Observe("a").Workers[0]; !w.Connected || w.PodUID != "uid of third@3" {
		t.Errorf("the worker is %+v, want the third pod connected", w)
	}
}

// Two pods can have one name, one after the other. What the second reports of a step is not added to
// what the first did.
func TestSnapshotsOfAnotherPodAreRejected(t *testing.T) {
	c, _, _ := newIdleCoordinator()
	c.Direct("a", running("a", 1, 0))
	first, second := sessionOf("a", 0), sessionOf("a", 0)
	second.identity.PodUID = "another"
	must.Succeed(t, errors.Join(c.attach(first), c.readiness(first, &workerv1.Readiness{Ready: true}), c.snapshot(first, snapshot(t, 0, 1, false, 10)), c.attach(second)))
	must.Succeed(t, c.snapshot(second, snapshot(t, 0, 2, true, 99)))
	o := c.Observe("a")
	wantSent(t, o, 10)
	if w := o.Workers[0]; w.Ready || w.Final || w.PodUID != "another" {
		t.Errorf("the second pod is %+v, want that it is not ready and has reported nothing", w)
	}
	if n := testutil.ToFloat64(c.metrics.rejected.WithLabelValues(string(rejectOtherPod))); n != 1 {
		t.Errorf("%v snapshots are rejected as of another pod, want one", n)
	}
}
