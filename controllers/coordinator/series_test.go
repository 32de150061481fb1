package coordinator

import (
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/measure/wire"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// withSeries is a final snapshot of requests that were sent and timed out in second 1.
func withSeries(t testing.TB, a *workerv1.Assignment, step int32, requests int64) *workerv1.Snapshot {
	t.Helper()
	m := measure.NewMeasurement(1)
	r := &m.Requests[0]
	m.Due, r.Sent, r.Outcomes[measure.Timeout] = requests, requests, requests
	r.Response.RecordN(time.Second, requests)
	r.Service.RecordN(time.Second, requests)
	encoded, err := wire.Encode(m)
	must.Succeed(t, err)
	all := measure.NewSeries(windowOf(a, step))
	p := &all.Points[1]
	p.Due, p.Sent, p.Outcomes[measure.Timeout], p.Longest = requests, requests, requests, time.Second
	p.Times[measure.TimeSlot(time.Second)] = requests
	encoded.Series = wire.EncodeSeries(all)
	return &workerv1.Snapshot{Step: step, Sequence: 99, Final: true, Measurement: encoded}
}

// minutes directs run a, whose steps last for a minute.
func minutes(workers int, step int32) exchange.Directive {
	d := running("a", workers, step)
	for _, a := range d.Assignments {
		for _, s := range a.Steps {
			s.Load = &workerv1.Step_ClosedUsers{ClosedUsers: &workerv1.ClosedUsers{DurationNanos: int64(time.Minute)}}
		}
	}
	return d
}

func wantSeries(t *testing.T, what string, o exchange.Observation, workers int, due int64) {
	t.Helper()
	if o.Step == nil {
		t.Fatalf("%s: nothing is known", what)
	}
	if n := o.Step.Series.Workers(); n != workers {
		t.Fatalf("%s: the series of %d workers, want %d", what, n, workers)
	}
	if workers == 0 {
		return
	}
	if all := o.Step.Series.Series(); len(all.Points) != 61 || all.Points[1].Due != due {
		t.Errorf("%s: %d points, %d due in the second of them; want 61 and %d", what, len(all.Points), all.Points[1].Due, due)
	}
}

// Series are added up once, however often they come, and begin anew with each step; an
// operator that takes over comes to the same.
func TestSeriesOfAStep(t *testing.T) {
	d := minutes(3, 0)
	c, sessions := directed(t, d)
	send := func(n int, s *workerv1.Snapshot) {
		t.Helper()
		must.Succeed(t, c.snapshot(sessions[n], s))
	}
	send(0, snapshot(t, 0, 1, false, 10))
	wantSeries(t, "while all run", c.Observe("a"), 0, 0)
	send(0, withSeries(t, d.Assignments[0], 0, 100))
	send(0, withSeries(t, d.Assignments[0], 0, 100)) // again
	first := c.Observe("a")
	wantSeries(t, "when one is done", first, 1, 100)
	send(1, withSeries(t, d.Assignments[1], 0, 40))
	send(2, snapshot(t, 0, 1, true, 5)) // from a worker whose version has no series
	wantSeries(t, "when all are done", c.Observe("a"), 2, 140)
	wantSeries(t, "what was observed before", first, 1, 100)

	between := minutes(3, 0)
	between.Acknowledged = 1
	c.Direct("a", between)
	if o := c.Observe("a"); o.Step != nil || c.kept != 0 {
		t.Errorf("between two steps: %+v, %d bytes are kept", o.Step, c.kept)
	}
	c.Direct("a", minutes(3, 2))
	send(1, withSeries(t, d.Assignments[1], 2, 7))
	send(0, withSeries(t, d.Assignments[0], 0, 100)) // of the step before
	wantSeries(t, "in the next step", c.Observe("a"), 1, 7)
}

// directed is a coordinator that directs run a, and a session of each of its workers.
func directed(t *testing.T, d exchange.Directive) (*Coordinator, []*session) {
	t.Helper()
	c, _, _ := newIdleCoordinator()
	c.Direct("a", d)
	var all []*session
	for n := range d.Assignments {
		all = append(all, attached(t, c, "a", int32(n)))
	}
	return c, all
}

func TestSeriesThatDoNotFitTheStepAreRefused(t *testing.T) {
	for want, change := range map[string]func(*workerv1.Snapshot){
		"series: before the step has ended":                func(s *workerv1.Snapshot) { s.Final = false },
		"series: 60 points and 61 longest_nanos":           func(s *workerv1.Snapshot) { s.Measurement.Series.Points = s.Measurement.Series.Points[1:] },
		"series: the points add up to due, sent, expected": func(s *workerv1.Snapshot) { s.Measurement.Due, s.Measurement.Unsent = 11, 1 },
	} {
		t.Run(want, func(t *testing.T) {
			r := newFixture(t)
			d := minutes(1, 0)
			r.Direct("a", d)
			w := r.connect("a", 0, "pod")
			s := withSeries(t, d.Assignments[0], 0, 10)
			change(s)
			w.snapshot(s)
			wantEnd(t, w.end(), codes.InvalidArgument, want)
		})
	}
}

// However many workers hand over series, the run keeps one.
func TestSeriesOfARunAreBounded(t *testing.T) {
	const workers = 1000
	d := minutes(workers, 0)
	c, sessions := directed(t, d)
	each := withSeries(t, d.Assignments[0], 0, 10)
	for _, s := range sessions {
		must.Succeed(t, c.snapshot(s, each))
	}
	wantSeries(t, "of a thousand workers", c.Observe("a"), workers, 10*workers)
	var finals int
	c.locked(func() { finals = c.runs["a"].finals.bytes() })
	if finals > 10_000 {
		t.Errorf("%d bytes are kept of them", finals)
	}
}

// A panic in a sum leaves no series that lacks a part.
func TestSeriesThatLackAPartAreNone(t *testing.T) {
	d := minutes(1, 0)
	c, sessions := directed(t, d)
	must.Succeed(t, c.snapshot(sessions[0], withSeries(t, d.Assignments[0], 0, 10)))
	wantSeries(t, "before", c.Observe("a"), 1, 10)
	short, err := wire.ReadSeries(withSeries(t, running("a", 1, 0).Assignments[0], 0, 10).Measurement, 0)
	must.Succeed(t, err)
	c.locked(func() {
		r := c.runs["a"]
		r.pendingFinals = append(r.pendingFinals, &final{series: short})
		r.version++
	})
	if o := c.Observe("a"); o.Step.Merged == nil || o.Step.Series.Workers() != 0 {
		t.Errorf("observed %+v, with the series of %d workers", o.Step, o.Step.Series.Workers())
	}
}
