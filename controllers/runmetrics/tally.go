package runmetrics

import (
	"cmp"
	"slices"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
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
	// latest is the most recent step, pauses left out.
	latest v1alpha1.StepStatus
	step
	// finished says that the run has: nothing is added to it.
	finished bool
}

// step is where a run is in its plan, pauses left out.
type step struct {
	number, all int
}

// follow takes over what the status has, and the measurement of the step that runs, if
// there is one.
func (t *tally) follow(s *v1alpha1.LoadTestStatus, live *exchange.Report) {
	if t.finished {
		return
	}
	for t.ended < len(s.Steps) && isOver(&s.Steps[t.ended]) {
		t.raise(s.Steps[t.ended].Result, live)
		t.base.add(&t.last)
		t.last = load{}
		t.ended++
	}
	if t.ended < len(s.Steps) {
		t.raise(s.Steps[t.ended].Result, live)
	}
	t.locate(s.Steps)
	t.finished = s.Verdict != ""
}

// raise takes over what is known of the step that has not been added up yet.
func (t *tally) raise(r *v1alpha1.StepResult, live *exchange.Report) {
	t.last.raise(recorded(r))
	if live != nil && live.Merged != nil && int(live.Step) == t.ended {
		t.last.raise(measured(live.Merged))
	}
}

// load is what the run has sent and measured so far.
func (t *tally) load() *load {
	sum := t.base
	sum.add(&t.last)
	return &sum
}

// locate finds the latest step.
func (t *tally) locate(steps []v1alpha1.StepStatus) {
	t.step = step{}
	for i := range steps {
		s := &steps[i]
		if s.Load.IsPause() {
			continue
		}
		t.all++
		if s.State == v1alpha1.StepRunning || s.State == v1alpha1.StepComplete || s.State == v1alpha1.StepCut {
			t.number, t.latest = t.all, summaryOf(s)
		}
	}
}

// summaryOf is a step without what is large.
func summaryOf(s *v1alpha1.StepStatus) v1alpha1.StepStatus {
	kept := v1alpha1.StepStatus{State: s.State, Load: s.Load}
	if r := s.Result; r != nil {
		kept.Result = &v1alpha1.StepResult{Goodput: r.Goodput, Throughput: r.Throughput, ResponseTime: r.ResponseTime, Generator: r.Generator, Requests: mostFailed(r.Requests)}
	}
	return kept
}

// maxRequests is how many requests of a LoadTest have series: with more, they would be most
// series of all.
const maxRequests = 10

// mostFailed are the requests of which the most failed, and of as many failures the most were
// sent, each name once: names that are not given may be equal.
func mostFailed(list []v1alpha1.RequestResult) []v1alpha1.RequestResult {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b v1alpha1.RequestResult) int {
		return cmp.Or(cmp.Compare(b.Failed, a.Failed), cmp.Compare(b.Sent, a.Sent))
	})
	var kept []v1alpha1.RequestResult
	for i := range list {
		r := &list[i]
		if len(kept) == maxRequests {
			break
		}
		if slices.ContainsFunc(kept, func(k v1alpha1.RequestResult) bool { return k.Name == r.Name }) {
			continue
		}
		of := v1alpha1.RequestResult{Name: r.Name}
		of.Expected, of.Failed, of.ResponseTime = r.Expected, r.Failed, r.ResponseTime
		kept = append(kept, of)
	}
	return kept
}

// isOver says whether nothing is added to a step any more.
func isOver(s *v1alpha1.StepStatus) bool {
	return s.State == v1alpha1.StepComplete || s.State == v1alpha1.StepCut || s.State == v1alpha1.StepSkipped
}
