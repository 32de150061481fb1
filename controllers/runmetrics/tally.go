package runmetrics

import (
	"slices"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
)

// tally is what is known of the load of a run.
type tally struct {
	// ended is how many steps, from the first on, have ended and are in base.
	ended int
	base  load
	// last is the load of the step that follows them as it was known last. What is known
	// later is no less: a status may have less than was measured, such as no histogram.
	last load
	// requests are the loads of the requests, in the same steps.
	requests parts
	// latest is the most recent step, pauses left out.
	latest v1beta1.StepStatus
	step
	// begun says that a step has.
	begun bool
	// finished says that the run has: nothing is added to it.
	finished bool
}

// step is where a run is in its plan, pauses left out.
type step struct {
	number, all int
}

// follow takes over what the status has, and the measurement of the step that runs, if
// there is one.
func (t *tally) follow(s *v1beta1.LoadTestStatus, live *exchange.Report) {
	if t.finished {
		return
	}
	if !t.begun {
		t.requests = parts{} // it may have been planned anew
		t.begun = slices.ContainsFunc(s.Steps, hasBegun)
	}
	t.requests.name(s.Requests)
	for t.ended < len(s.Steps) && isOver(&s.Steps[t.ended]) {
		t.raise(s, live)
		t.base.add(&t.last)
		t.last = load{}
		t.requests.end(s.Steps[t.ended].Result)
		t.ended++
	}
	if t.ended < len(s.Steps) {
		t.raise(s, live)
	}
	t.locate(s.Steps)
	t.finished = s.Verdict != ""
}

// raise takes over what is known of the step that has not been added up yet.
func (t *tally) raise(s *v1beta1.LoadTestStatus, live *exchange.Report) {
	r := s.Steps[t.ended].Result
	t.last.raise(recorded(r))
	t.requests.record(r)
	if live != nil && live.Merged != nil && int(live.Step) == t.ended {
		t.last.raise(measured(live.Merged))
		t.requests.measure(live.Merged, s.Requests)
	}
}

// load is what the run has sent and measured so far.
func (t *tally) load() *load {
	sum := t.base
	sum.add(&t.last)
	return &sum
}

// locate finds the latest step.
func (t *tally) locate(steps []v1beta1.StepStatus) {
	t.step = step{}
	for i := range steps {
		s := &steps[i]
		if s.Load.IsPause() {
			continue
		}
		t.all++
		if s.State == v1beta1.StepRunning || s.State == v1beta1.StepComplete || s.State == v1beta1.StepCut {
			t.number, t.latest = t.all, summaryOf(s)
		}
	}
}

// summaryOf is a step without what is large.
func summaryOf(s *v1beta1.StepStatus) v1beta1.StepStatus {
	kept := v1beta1.StepStatus{State: s.State, Load: s.Load}
	if r := s.Result; r != nil {
		kept.Result = &v1beta1.StepResult{Goodput: r.Goodput, Throughput: r.Throughput, ResponseTime: r.ResponseTime, Streams: r.Streams, Generator: r.Generator}
	}
	return kept
}

func hasBegun(s v1beta1.StepStatus) bool { return s.State != "" && s.State != v1beta1.StepPending }

// isOver says whether nothing is added to a step any more.
func isOver(s *v1beta1.StepStatus) bool {
	return s.State == v1beta1.StepComplete || s.State == v1beta1.StepCut || s.State == v1beta1.StepSkipped
}
