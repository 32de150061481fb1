package coordinator

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	clocktesting "k8s.io/utils/clock/testing"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// newIdleCoordinator is a coordinator that does not serve, its clock, and how often
// it notified of a change. Its timers never fire: those of the machine would notify
// while a test that takes long counts.
func newIdleCoordinator() (*Coordinator, *clocktesting.FakeClock, func() int) {
	clk, n := clocktesting.NewFakeClock(noon), &atomic.Int64{}
	c := New(tokens{&sync.Map{}}, clk, func(RunID) { n.Add(1) }, prometheus.NewRegistry())
	c.after = func(time.Duration, func()) func() { return func() {} }
	return c, clk, func() int { return int(n.Load()) }
}

// sessionOf is a session without a stream.
func sessionOf(run RunID, number int32) *session {
	return &session{identity: Identity{Run: run, Worker: number, Namespace: "team-a", Pod: "pod", PodUID: "uid of pod"}, wake: make(chan struct{}, 1), over: make(chan struct{}), sent: nothingSent}
}

func TestWorkerOutsideTheRunIsSentNothing(t *testing.T) {
	d := exchange.Directive{Assignments: assignments("a", 2)}
	state := nothingSent
	if messages := state.update(&d, 2); len(messages) != 0 {
		t.Errorf("worker 2 of 2 is sent %v", messages)
	}
}

// A coordinator that stops accepts no session, and a session that is over stays so.
func TestSessionAfterTheEndIsRefused(t *testing.T) {
	c, _, _ := newIdleCoordinator()
	over := sessionOf("a", 0)
	c.detach(over)
	if err := c.attach(over); !errors.Is(err, errStopping) {
		t.Errorf("a session that is over: %v", err)
	}
	c.stop()
	if err := c.attach(sessionOf("a", 0)); !errors.Is(err, errStopping) {
		t.Errorf("a session after the stop: %v", err)
	}
	if n := testutil.ToFloat64(c.metrics.sessions); n != 0 || len(c.runs) != 0 {
		t.Errorf("%v sessions of %d runs are left", n, len(c.runs))
	}
}

// A run without a directive stays for its last worker.
func TestUndirectedRunStaysWhileAWorkerIsConnected(t *testing.T) {
	c, _, _ := newIdleCoordinator()
	first, fifth := sessionOf("a", 0), sessionOf("a", 5)
	must.Succeed(t, errors.Join(c.attach(first), c.attach(fifth)))
	c.detach(fifth)
	if len(c.runs) != 1 {
		t.Fatal("the run is gone with the first of its workers")
	}
	c.Direct("a", running("a", 2, 0)) // which has no worker 5, connected or not
	if o := c.Observe("a"); len(o.Workers) != 2 || !o.Workers[0].Connected || first.reasonOfEnd() != nil {
		t.Errorf("observed %+v, want worker 0 of two connected", o)
	}
	second := sessionOf("b", 2)
	must.Succeed(t, c.attach(second))
	if c.waiting("team-a") != 1 {
		t.Errorf("%d runs wait, want the one that is not directed", c.waiting("team-a"))
	}
	c.Direct("b", running("b", 2, 0))
	if second.reasonOfEnd() == nil {
		t.Error("worker 2 of 2 stays")
	}
}

// A session that was replaced may take seconds to return, since its worker does not read. The run is
// another one by then, and is left as it is.
func TestSessionThatReturnsLateLeavesALaterRunAlone(t *testing.T) {
	for _, directs := range []bool{false, true} {
		c, _, _ := newIdleCoordinator()
		old, young, next := sessionOf("a", 0), sessionOf("a", 0), sessionOf("a", 0)
		must.Succeed(t, errors.Join(c.attach(old), c.attach(young)))
		c.detach(young) // the last that is connected: a run without a directive goes
		must.Succeed(t, c.attach(next))
		if directs {
			c.Direct("a", running("a", 1, 0))
		}
		c.detach(old)
		if !directs {
			c.Direct("a", running("a", 1, 0))
		}
		if o := c.Observe("a"); len(o.Workers) != 1 || !o.Workers[0].Connected {
			t.Errorf("directed before: %t; observed %+v, want the worker connected", directs, o.Workers)
		}
	}
}

func TestMessagesOfAReplacedSessionAreIgnored(t *testing.T) {
	c, clk, notices := newIdleCoordinator()
	c.Direct("a", running("a", 1, 0))
	old, young := sessionOf("a", 0), sessionOf("a", 0)
	must.Succeed(t, errors.Join(c.attach(old), c.attach(young)))
	before := notices()
	clk.Step(time.Second)
	c.seen(old)
	must.Succeed(t, c.readiness(old, &workerv1.Readiness{Ready: true}))
	if err := c.snapshot(old, snapshot(t, 0, 1, true, 10)); !errors.Is(err, errReplaced) {
		t.Errorf("its snapshot: %v, want that it was replaced", err)
	}
	if w := c.Observe("a").Workers[0]; w.Ready || w.Reported || !w.LastSeen.Equal(noon) || notices() != before {
		t.Errorf("the worker is %+v, notified %d times; want as it was", w, notices()-before)
	}
	c.seen(young)
	must.Succeed(t, c.readiness(young, &workerv1.Readiness{Ready: true, Reason: "Stale", Message: "is gone"}))
	want := exchange.Worker{Connected: true, Ready: true, PodUID: "uid of pod", LastSeen: noon.Add(time.Second)}
	same.As(t, "the worker, by its younger session", want, c.Observe("a").Workers[0])
}

// A step that a worker ended by itself is known by its final snapshot.
func TestCutOfAWorkerIsObserved(t *testing.T) {
	c, sessions := directed(t, running("a", 1, 0))
	for sequence, final := range []bool{false, true} {
		m := snapshot(t, 0, int64(sequence)+1, final, 10)
		m.Cut = true
		must.Succeed(t, c.snapshot(sessions[0], m))
		o := c.Observe("a")
		if w := o.Workers[0]; w.Cut != final || w.Final != final || w.Sent != sent(o) || w.Sent == 0 || w.Due != o.Step.Merged.Due {
			t.Errorf("snapshot %d: cut %t, final %t, %d sent; want both %t, and %d sent", sequence, w.Cut, w.Final, w.Sent, final, sent(o))
		}
	}
}

func TestShortestWindowIsThatOfOneWorker(t *testing.T) {
	c, sessions := directed(t, running("a", 3, 0))
	for number, window := range []time.Duration{3 * time.Second, time.Second, 2 * time.Second} {
		m := snapshot(t, 0, 1, true, 10)
		m.Measurement.WindowNanos = int64(window)
		must.Succeed(t, c.snapshot(sessions[number], m))
	}
	if step := c.Observe("a").Step; step.ShortestWindow != time.Second || step.MeanWindow != 2*time.Second {
		t.Errorf("the shortest window is %v and their mean %v, want 1s and 2s", step.ShortestWindow, step.MeanWindow)
	}
}

// Reports are held until they are acknowledged, and merged once.
func TestSnapshotsAreMergedOnce(t *testing.T) {
	c, clk, _ := newIdleCoordinator()
	c.Direct("a", running("a", 2, 0))
	sessions := []*session{sessionOf("a", 0), sessionOf("a", 1)}
	for _, number := range []int{1, 0} { // the newest is not of the last
		must.Succeed(t, errors.Join(c.attach(sessions[number]), c.snapshot(sessions[number], snapshot(t, 0, 1, true, 10))))
		clk.Step(time.Second)
	}
	first := c.Observe("a")
	c.Direct("a", running("a", 2, 0))
	again := c.Observe("a")
	if first.Step == nil || first.Step != again.Step || !first.Step.Until.Equal(noon.Add(time.Second)) {
		t.Errorf("observed %+v, then %+v; want the same, until a second past noon", first.Step, again.Step)
	}
	next := running("a", 2, 2)
	c.Direct("a", next)
	must.Succeed(t, c.snapshot(sessions[0], snapshot(t, 2, 2, true, 5)))
	c.Direct("a", next)
	if held := c.runs["a"].worker(0).snapshots; len(held) != 1 || held[2].reading == nil {
		t.Errorf("%d reports are held, want the one that is not acknowledged", len(held))
	}
}

// A stream must not be used once its handler has returned.
func TestClosedSessionSendsNothing(t *testing.T) {
	s := sessionOf("a", 0)
	s.close()
	if err := s.send(func() *workerv1.SessionResponse { return finish() }); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v, want that it is closed", err)
	}
}

func TestRegularEndOfStreamIsNoError(t *testing.T) {
	if err := endOfStream(io.EOF); err != nil {
		t.Errorf("an end as it should be: %v", err)
	}
	if err := endOfStream(io.ErrUnexpectedEOF); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("an end in the middle: %v", err)
	}
}

// What happened before this process directed a run is not known from sessions.
func TestObservationSaysSinceWhenTheRunIsDirected(t *testing.T) {
	for name, tc := range map[string]struct {
		d    exchange.Directive
		from int32
	}{
		"before the first step":      {exchange.Directive{Assignments: assignments("a", 1)}, 0},
		"in a step":                  {running("a", 1, 2), 3},
		"in the pause after a step":  {exchange.Directive{Assignments: assignments("a", 1), Start: &exchange.Start{Step: 0}, Acknowledged: 1}, 1},
		"before it acknowledged one": {exchange.Directive{Assignments: assignments("a", 1), Start: &exchange.Start{Step: 2}, Acknowledged: 1}, 3},
	} {
		c, clk, _ := newIdleCoordinator()
		must.Succeed(t, c.attach(sessionOf("a", 0)))
		if o := c.Observe("a"); !o.Since.IsZero() {
			t.Errorf("%s: directed since %v before it was", name, o.Since)
		}
		c.Direct("a", tc.d)
		clk.Step(time.Minute)
		c.Direct("a", running("a", 1, 3))
		if o := c.Observe("a"); !o.Since.Equal(noon) || o.From != tc.from {
			t.Errorf("%s: directed since %v from step %d, want since %v from step %d", name, o.Since, o.From, noon, tc.from)
		}
	}
}

// A pass that observed a run before its workers said that they are ready, and directs
// it after, must be followed by another.
func TestFirstDirectiveNotifiesOfWorkersThatWaited(t *testing.T) {
	c, _, notices := newIdleCoordinator()
	c.Direct("without workers", running("a", 1, 0))
	s := sessionOf("a", 0)
	must.Succeed(t, errors.Join(c.attach(s), c.readiness(s, &workerv1.Readiness{Ready: true})))
	before := notices()
	c.Direct("a", running("a", 1, 0))
	if got := notices() - before; got != 1 {
		t.Errorf("the first directive notified %d times, want once", got)
	}
	c.Direct("a", running("a", 1, 0))
	if got := notices() - before; got != 1 {
		t.Errorf("a later directive notified")
	}
}

// A worker of another version may send what the operator does not accept, and connects again and again.
// It is absent until a snapshot of that step is accepted, the step is over, or another pod has its number.
func TestWorkerIsAbsentWhileItsSnapshotsAreNotAccepted(t *testing.T) {
	c, clk, _ := newIdleCoordinator()
	c.Direct("a", running("a", 1, 3))
	connected := func(pod string) *session {
		s := sessionOf("a", 0)
		s.identity.PodUID += pod
		must.Succeed(t, c.attach(s))
		c.seen(s)
		return s
	}
	want := func(when string, accepted bool, refusal string, lastSeen time.Time) {
		t.Helper()
		if w := c.Observe("a").Workers[0]; w.Connected != accepted || w.Refusal != refusal || !w.LastSeen.Equal(lastSeen) {
			t.Errorf("%s: connected %v, refusal %q, last seen %v; want %v, %q, %v", when, w.Connected, w.Refusal, w.LastSeen, accepted, refusal, lastSeen)
		}
	}
	const why = "requests: 0, the plan has 1"
	refused := func(s *session) {
		t.Helper()
		bad := snapshot(t, 3, 9, false, 10)
		bad.Measurement.Requests = nil
		if err := c.snapshot(s, bad); err == nil {
			t.Error("it was accepted")
		}
	}
	refused(connected(""))
	clk.Step(time.Second)
	s := connected("")
	worse := snapshot(t, 3, 9, false, 10)
	worse.Measurement = nil
	if err := c.snapshot(s, worse); err == nil {
		t.Error("no measurement was accepted")
	}
	must.Succeed(t, c.snapshot(s, snapshot(t, 2, 9, true, 10)))
	c.seen(s)
	want("it connected again, with one of a step before", false, why, noon)
	must.Succeed(t, c.snapshot(s, snapshot(t, 3, 2, false, 10)))
	c.seen(s)
	want("one was accepted", true, "", noon.Add(time.Second))
	refused(s)
	clk.Step(time.Second)
	s = connected(" of another")
	want("another pod connected", true, "", noon.Add(2*time.Second))
	refused(s)
	c.Direct("a", running("a", 1, 4))
	clk.Step(time.Second)
	c.seen(s)
	want("the step was over", true, "", noon.Add(3*time.Second))
}
