package exchange

import (
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

// NoStep is the index of no step.
const NoStep = -1

// Directive is what the workers of a run are to do now: a state, not a change;
// directing the same twice changes nothing.
type Directive struct {
	// Assignments has one for each worker, by number. They must not be modified
	// afterwards. They differ between two directives of a run only if the run was
	// suspended before its first step and resumed with another spec, or if a search
	// appended steps.
	Assignments []*workerv1.Assignment
	// Start is the step that is to run, or runs: nil before the first.
	Start *Start
	// Stop cuts the step of Start now.
	Stop bool
	// Acknowledged says that steps with an index below it stand in the status.
	Acknowledged int32
	// Finish says that the run is over: workers may go.
	Finish bool
	// Read is the reading of the numbers of the audits that is wanted; nil: none.
	Read *Read
}

// Read has one worker read the numbers of all audits, again and again.
type Read struct {
	Round, Worker int32
}

// AuditRound is which round the worker is to read; 0: none.
func (d *Directive) AuditRound(worker int32) int32 {
	if d.Read == nil || d.Read.Worker != worker {
		return 0
	}
	return d.Read.Round
}

// Start is a step and the instant at which all workers begin it.
type Start struct {
	Step int32
	At   time.Time
}

// ActiveStep is the step that was started and is not acknowledged yet, or NoStep.
func (d *Directive) ActiveStep() int32 {
	if d.Start == nil || d.Start.Step < d.Acknowledged {
		return NoStep
	}
	return d.Start.Step
}

// HasReached says whether a snapshot of the step can be judged: whether the step was
// acknowledged, started, or can never be.
func (d *Directive) HasReached(step int32) bool {
	return step < d.Acknowledged || d.Finish || d.Start != nil && step <= d.Start.Step
}

// Includes says whether the step is in the worker's assignment, or may yet be added to it.
func (d *Directive) Includes(worker, step int32) bool {
	if int(worker) >= len(d.Assignments) {
		return false
	}
	a := d.Assignments[worker]
	for _, s := range a.GetSteps() {
		if s.GetIndex() == step {
			return true
		}
	}
	return a.GetLargest() != nil && len(a.GetSteps()) > 0 && step > a.GetSteps()[len(a.GetSteps())-1].GetIndex()
}

// StepsAfter are the steps of the worker's assignment after the first n of them.
func (d *Directive) StepsAfter(worker int32, n int) []*workerv1.Step {
	if int(worker) >= len(d.Assignments) {
		return nil
	}
	steps := d.Assignments[worker].GetSteps()
	return steps[min(n, len(steps)):]
}
