package coordinator

import (
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

// RunID is the UID of a LoadTest.
type RunID string

// Directive is what the run wants of its workers now: a state, not a change;
// directing the same twice changes nothing.
type Directive struct {
	// Assignments has one for each worker, by number. They must not be modified
	// afterwards, and never differ between two directives of a run.
	Assignments []*workerv1.Assignment
	// Start is the step that is to run, or runs: nil before the first.
	Start *Start
	// Stop cuts the step of Start now.
	Stop bool
	// Acknowledged says that steps with an index below it stand in the status.
	Acknowledged int32
	// Finish says that the run is over: workers may go.
	Finish bool
}

// Start is a step and the instant at which all workers begin it.
type Start struct {
	Step int32
	At   time.Time
}

// covers says whether a snapshot of the step can be judged: whether it was
// acknowledged, started, or can never be.
func (d *Directive) covers(step int32) bool {
	return step < d.Acknowledged || d.Finish || d.Start != nil && step <= d.Start.Step
}

// open says whether the directed step is not acknowledged yet.
func (d *Directive) open() bool {
	return d.Start != nil && d.Start.Step >= d.Acknowledged
}

// openStep is the directed step, or none when it is acknowledged.
func (d *Directive) openStep() int32 {
	if !d.open() {
		return noStep
	}
	return d.Start.Step
}

const noStep = -1

// plans says whether the step is in the worker's plan.
func (d *Directive) plans(worker, step int32) bool {
	if int(worker) >= len(d.Assignments) {
		return false
	}
	for _, s := range d.Assignments[worker].GetSteps() {
		if s.GetIndex() == step {
			return true
		}
	}
	return false
}
