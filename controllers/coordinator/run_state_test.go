package coordinator

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"google.golang.org/grpc/codes"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestRunFromAssignmentToFinish(t *testing.T) {
	r := newFixture(t)
	r.Direct("a", exchange.Directive{Assignments: assignments("a", 2)})
	same.As(t, "before any worker connected", exchange.Observation{Started: exchange.NoStep, Since: noon, Workers: make([]exchange.Worker, 2)}, r.Observe("a"))

	w0, w1 := r.connect("a", 0, "pod-0"), r.connect("a", 1, "pod-1")
	wantReceived(t, w0, "assignment 0/2")
	wantReceived(t, w1, "assignment 1/2")
	w0.ready(false, "TargetUnreachable", "dial\x1b[31m refused")
	w1.send(readinessOf(&workerv1.Readiness{Ready: true, PreflightAnswers: 2}))
	w0.sync()
	w1.sync()
	want := exchange.Observation{Started: exchange.NoStep, Since: noon, Workers: []exchange.Worker{
		{Connected: true, Reason: "TargetUnreachable", Message: "dial[31m refused", PodUID: "uid of pod-0", Node: "node of pod-0", LastSeen: noon},
		{Connected: true, Ready: true, Answers: 2, PodUID: "uid of pod-1", Node: "node of pod-1", LastSeen: noon},
	}}
	same.As(t, "before the gate", want, r.Observe("a"))
	w0.ready(true, "", "")
	w0.sync()

	r.Direct("a", running("a", 2, 0))
	wantReceived(t, w0, "start 0 at 12:00:00")
	wantReceived(t, w1, "start 0 at 12:00:00")
	w0.snapshot(snapshot(t, 0, 1, false, 10))
	w0.sync()
	o := r.Observe("a")
	wantSent(t, o, 10)
	if o.Step.Reporting != 1 || o.Step.Final != 0 || !o.Workers[0].Reported || o.Workers[1].Reported {
		t.Errorf("one of two reported: %+v", o)
	}

	r.clock.Step(time.Second)
	w0.snapshot(snapshot(t, 0, 2, true, 20))
	w1.snapshot(snapshot(t, 0, 7, true, 5))
	w0.sync()
	w1.sync()
	o = r.Observe("a")
	wantSent(t, o, 25)
	if o.Step.Reporting != 2 || o.Step.Final != 2 || !o.Step.Until.Equal(noon.Add(time.Second)) || !o.Workers[0].Final || !o.Workers[1].Final {
		t.Errorf("both are done: %+v", o)
	}
	if o.Step.MeanWindow != 4500*time.Millisecond { // of 2 and 7 s
		t.Errorf("mean window: got %v, want 4.5s", o.Step.MeanWindow)
	}
	if got := o.Step.Merged.LastStart.Sub(o.Step.Merged.FirstStart); got != 5*time.Millisecond {
		t.Errorf("start skew: got %v, want 5ms", got)
	}

	d := running("a", 2, 0)
	d.Acknowledged = 1
	r.Direct("a", d)
	wantReceived(t, w0, "acknowledge before 1")
	wantReceived(t, w1, "acknowledge before 1")
	if o := r.Observe("a"); o.Step != nil || o.Workers[0].Final {
		t.Errorf("an acknowledged step is still observed: %+v", o)
	}
	r.Direct("a", running("a", 2, 2))
	wantReceived(t, w0, "acknowledge before 2", "start 2 at 12:00:00")
	wantReceived(t, w1, "acknowledge before 2", "start 2 at 12:00:00")
	d = running("a", 2, 2)
	d.Stop = true
	r.Direct("a", d)
	r.Direct("a", d)
	wantReceived(t, w0, "stop 2")
	wantReceived(t, w1, "stop 2")
	d.Finish, d.Acknowledged = true, 3
	r.Direct("a", d)
	wantReceived(t, w0, "acknowledge before 3", "finish", "end: ok")
	wantReceived(t, w1, "acknowledge before 3", "finish", "end: ok")
	r.until("all workers gone", func(o exchange.Observation) bool { return !o.Workers[0].Connected && !o.Workers[1].Connected })
	if got := testutil.ToFloat64(r.metrics.snapshots); got != 3 {
		t.Errorf("loadtest_coordinator_snapshots_total: got %v, want 3", got)
	}
}

func TestReconnectCountsSnapshotsOnce(t *testing.T) {
	r, w := withWorker(t, running("a", 1, 0))
	w.ready(true, "", "")
	w.snapshot(snapshot(t, 0, 3, false, 10))
	w.sync()
	w.disconnect()
	r.until("disconnected", func(o exchange.Observation) bool { return !o.Workers[0].Connected })
	wantSent(t, r.Observe("a"), 10)

	w = r.connect("a", 0, "pod")
	wantReceived(t, w, "assignment 0/1", "start 0 at 12:00:00")
	if !r.Observe("a").Workers[0].Ready {
		t.Error("a pod that reconnects is no longer ready")
	}
	for _, s := range []*workerv1.Snapshot{
		snapshot(t, 0, 3, false, 10), // again
		snapshot(t, 0, 4, true, 15),
		snapshot(t, 0, 2, false, 5), // older
		snapshot(t, 0, 5, true, 99), // after the final one
	} {
		w.snapshot(s)
	}
	w.sync()
	wantSent(t, r.Observe("a"), 15)
	r.wantRejected(rejectStale, 3)
}

// A restarted operator has the directive from the status, and the snapshots
// from the workers, which may be back before the directive is.
func TestRestartKeepsTheTotals(t *testing.T) {
	snapshots := []*workerv1.Snapshot{snapshot(t, 2, 4, true, 1000), snapshot(t, 2, 9, true, 500), snapshot(t, 2, 1, false, 70)}
	var totals [2]measure.Measurement
	for life := range totals {
		r := newFixture(t)
		restarted := life == 1
		if !restarted {
			r.Direct("a", running("a", 3, 2))
		}
		var workers []*scriptedWorker
		for i, s := range snapshots {
			w := r.connect("a", int32(i), "pod")
			w.snapshot(s)
			workers = append(workers, w)
		}
		if restarted {
			if o := r.Observe("a"); len(o.Workers) != 0 || o.Step != nil {
				t.Errorf("observed before it was directed: %+v", o)
			}
			if r.notifications() < 1 {
				t.Error("no notification that workers wait for a directive")
			}
			r.Direct("a", running("a", 3, 2))
		}
		for _, w := range workers {
			w.sync()
		}
		o := r.Observe("a")
		wantSent(t, o, 1570)
		totals[life] = *o.Step.Merged
	}
	same.As(t, "before and after the restart", comparable(t, totals[0]), comparable(t, totals[1]))
}

// comparable replaces the histograms of a step by what they encode to.
func comparable(t *testing.T, s measure.Measurement) map[string]any {
	t.Helper()
	encode := func(h *measure.Histogram) string {
		encoded, err := h.Encode()
		must.Succeed(t, err)
		return encoded
	}
	request := s.Requests[0]
	histograms := []string{encode(request.Response), encode(request.Service), encode(s.Lateness), encode(s.ReadLateness)}
	request.Response, request.Service = nil, nil
	s.Lateness, s.ReadLateness, s.Requests = nil, nil, nil
	return map[string]any{"step": s, "request": request, "histograms": histograms}
}

func TestNewerSessionReplacesAnOlder(t *testing.T) {
	r, old := withWorker(t, running("a", 1, 0))
	old.snapshot(snapshot(t, 0, 1, false, 10))
	old.sync()
	young := r.connect("a", 0, "pod")
	wantEnd(t, old.end(), codes.Aborted, "a newer session of this worker took over")
	old.snapshot(snapshot(t, 0, 9, true, 99))
	young.snapshot(snapshot(t, 0, 2, false, 20))
	young.sync()
	o := r.Observe("a")
	wantSent(t, o, 20)
	if !o.Workers[0].Connected {
		t.Error("the end of the older session disconnected the worker")
	}
}

func TestInvalidSnapshotEndsTheSession(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*workerv1.Snapshot)
		want   string
	}{
		"not in the plan":      {func(s *workerv1.Snapshot) { s.Step = 1 }, "step 1 is not in the plan"},
		"a step before all":    {func(s *workerv1.Snapshot) { s.Step = -1 }, "step -1 is not in the plan"},
		"no measurement":       {func(s *workerv1.Snapshot) { s.Measurement = nil }, "measurement: missing"},
		"another plan":         {func(s *workerv1.Snapshot) { s.Measurement.Requests = nil }, "requests: 0, the plan has 1"},
		"sent does not add":    {func(s *workerv1.Snapshot) { s.Measurement.Requests[0].Sent++ }, "requests[0].outcomes: their sum is 99, sent is 100"},
		"a negative count":     {func(s *workerv1.Snapshot) { s.Measurement.Unsent = -1 }, "unsent: -1 is less than 0"},
		"a broken histogram":   {func(s *workerv1.Snapshot) { s.Measurement.Lateness.Counts = []byte{0x80} }, "lateness: counts: truncated"},
		"more clamped than is": {func(s *workerv1.Snapshot) { s.Measurement.Lateness.Clamped = 100 }, "lateness: clamped: 100 is more than count, 99"},
	} {
		t.Run(name, func(t *testing.T) {
			r, w := withWorker(t, running("a", 1, 3))
			w.snapshot(snapshot(t, 3, 1, false, 10))
			hostile := snapshot(t, 3, 2, true, 99)
			test.change(hostile)
			w.snapshot(hostile)
			wantEnd(t, w.end(), codes.InvalidArgument, test.want)
			wantSent(t, r.Observe("a"), 10)
			r.wantRejected(rejectInvalid, 1)
		})
	}
}

func TestSnapshotOfAnAcknowledgedStepIsIgnored(t *testing.T) {
	r, w := withWorker(t, running("a", 1, 2))
	w.snapshot(snapshot(t, 0, 9, true, 10))
	w.sync()
	wantSent(t, r.Observe("a"), -1)
	r.wantRejected(rejectStale, 1)
}

// A snapshot that is ahead of the directive holds up its own session only.
func TestSnapshotAheadOfTheDirectiveWaits(t *testing.T) {
	r := newFixture(t)
	r.Direct("a", running("a", 2, 0))
	ahead, other := r.connect("a", 0, "pod"), r.connect("a", 1, "pod")
	ahead.snapshot(snapshot(t, 2, 1, true, 10))
	other.snapshot(snapshot(t, 0, 1, true, 5))
	other.sync()
	wantSent(t, r.Observe("a"), 5)
	r.Direct("a", running("a", 2, 2))
	ahead.sync()
	wantSent(t, r.Observe("a"), 10)
}

// Another process directed the worker to begin a step; this one has not, and waits with
// what the worker measured.
func TestStepBegunByAnotherProcessIsObserved(t *testing.T) {
	r, w := withWorker(t, exchange.Directive{Assignments: assignments("a", 1), Acknowledged: 2})
	wantReceived(t, w, "assignment 0/1", "acknowledge before 2")
	w.snapshot(snapshot(t, 2, 4, false, 10))
	w.ready(true, "", "")
	r.until("the worker has begun the step, and is not known to be ready", func(o exchange.Observation) bool {
		return o.Workers[0].Begun == 3 && !o.Workers[0].Ready && o.Step == nil && o.From == 2
	})
	r.Direct("a", running("a", 1, 2))
	r.until("what it measured is here", func(o exchange.Observation) bool { return sent(o) == 10 && o.Workers[0].Ready })
	if from := r.Observe("a").From; from != 3 {
		t.Errorf("this process began the steps from %d on, want from 3 on: its instant is of another clock", from)
	}
}

// A step that is not in the plan was begun by none, whatever a worker says.
func TestStepOutsideThePlanIsNotBegun(t *testing.T) {
	r, w := withWorker(t, exchange.Directive{Assignments: assignments("a", 1)})
	wantReceived(t, w, "assignment 0/1")
	w.snapshot(snapshot(t, 1, 1, false, 10))
	wantEnd(t, w.end(), codes.InvalidArgument, "step 1 is not in the plan")
	if got := r.Observe("a").Workers[0].Begun; got != 0 {
		t.Errorf("the worker has begun %d steps, want none", got)
	}
}
