package lifecycle

import (
	"fmt"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/question"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

// Decision is what the reconciler does next, and what it says.
type Decision struct {
	// Status is the whole next status.
	Status v1beta1.LoadTestStatus
	// Job says what to do with the run's Job.
	Job JobAction
	// CreateLoads are LoadTests of loads that are to be created.
	CreateLoads []*v1beta1.LoadTest
	// Store comes before the write of the status; nil: nothing is stored.
	Store *Store
	// Look comes once the workers are directed; nil: no target is read.
	Look *Look
	// Sample asks for a reading of what the pods behind the target of a step use, if one is due;
	// nil: none is wanted.
	Sample *Sample
	// Ask comes once the workers are directed, and a pass follows its answers; nil: nothing is asked.
	Ask *question.Asked
	// Directive is what the workers do, by the status as it was read.
	Directive exchange.Directive
	// Undirected says that this pass directs no workers: the run is to be stopped, and this
	// process has not directed it before.
	Undirected bool
	// Forget says that no worker is left to direct.
	Forget bool
	// Delete says that the LoadTest's time to live is over, Unkept that its results go with
	// it, though they should have been kept.
	Delete, Unkept bool
	// Keep begins once the status is written.
	Keep Keep
	// Seconds is what the next pass of this process must see again.
	Seconds verdict.Seconds
	// Events are emitted once the status is written.
	Events []Event
	// RequeueAfter is the time to the next known instant; 0: there is none.
	RequeueAfter time.Duration
}

// JobAction says what to do with the run's Job.
type JobAction int

const (
	// JobKeep leaves it as it is.
	JobKeep JobAction = iota
	// JobCreate creates it.
	JobCreate
	// JobDelete deletes it with its pods.
	JobDelete
)

// Event says what has changed, for people who watch.
type Event struct {
	Warning         bool
	Reason, Message string
}

const (
	// minLead is the least time between the choice of a start instant and the instant:
	// the status write, the watch that reads it back and the message to the last worker
	// must fit. They take about 50 ms; ten times as much allows for a busy API server, and
	// delays the first request of every run.
	minLead = 500 * time.Millisecond
	// maxLead bounds the same time for an API server that is busier.
	maxLead = 5 * time.Second
	// cutGrace bounds the wait for the last reports of a cut step.
	cutGrace = 15 * time.Second
	// foundWithin bounds the time in which workers find another process that directs their
	// run, and send what they hold: they notice within 15 s that the process before it is
	// gone, an attempt to connect takes up to 5 s, and the wait between two attempts 1 s.
	// The rest allows for a busy cluster.
	foundWithin = 30 * time.Second
	// silentAfter is the time without a session after which the status calls a worker
	// silent: a worker that reconnects, as after a restart of the operator, does so within
	// a second or two.
	silentAfter = 5 * time.Second
	// cleanupGrace is the time in which workers end by themselves when the run is over,
	// before their Job is deleted.
	cleanupGrace = 30 * time.Second
	// podsKept is the time after the run for which pods that have ended are kept, for their
	// logs. The operator has each pod in memory.
	podsKept = time.Hour
)

// Decide says what a run does next. rules are what the administrator allows. Of a finished
// run only the time to live must be present of the spec, and its steps need not be: its
// result no longer changes.
func Decide(lt *v1beta1.LoadTest, rules policy.Rules, seen Observed, now time.Time) Decision {
	return newPass(lt, rules, seen, now).decide()
}

// decide carries out the phases of the run's stage, and then the phases of every pass.
func (r *pass) decide() Decision {
	r.out.Status.ObservedGeneration = r.test.Generation
	r.out.Directive = r.directive()
	problem := r.inconsistency()
	switch {
	case isFinished(r.read.Conditions):
		inOrder(&finished{r}, finishedPhases)
	case problem != "":
		r.failInconsistent(problem)
	case r.read.StartTime == nil:
		inOrder(&accepting{pass: r}, acceptingPhases)
	case len(r.spec.Loads) > 0:
		inOrder(&sideBySide{r}, sideBySidePhases)
	case !r.hasStarted():
		inOrder(&starting{pass: r}, startingPhases)
	default:
		inOrder(&running{r}, runningPhases)
	}
	inOrder(r, closingPhases)
	return r.out
}

// closingPhases are the end of every pass, whatever the stage decided.
var closingPhases = []phase[*pass]{
	(*pass).verifyTarget,
	(*pass).conclude,
	(*pass).summarize,
	(*pass).paceWrites,
	(*pass).requeue,
}

// failInconsistent ends a run whose status no operator would have written: nothing that it
// says can be directed.
func (r *pass) failInconsistent(problem string) {
	r.out.Forget = true
	r.fail(v1beta1.VerdictError, v1beta1.ReasonInvalidStatus, fmt.Sprintf("The run cannot continue from this status: status.%s. Create the LoadTest again.", problem))
}

// requeue asks for the next pass. It reads what all phases before it ask for.
func (r *pass) requeue() (goesOn bool) {
	r.out.RequeueAfter = r.untilWake()
	return true
}

// directive follows only from the status as it was read back.
func (r *inputs) directive() exchange.Directive {
	if isFinished(r.read.Conditions) {
		return exchange.Directive{Finish: true, Acknowledged: plan.MaxSteps} // all that there were
	}
	var d exchange.Directive
	for i, s := range r.read.Steps {
		switch s.State {
		case v1beta1.StepComplete, v1beta1.StepCut, v1beta1.StepSkipped:
			d.Acknowledged = int32(i) + 1
		case v1beta1.StepRunning:
			if !s.Load.IsPause() && s.StartTime != nil {
				d.Start = &exchange.Start{Step: int32(i), At: s.StartTime.Time}
				d.Stop = r.read.Internal.StopTime != nil
			}
		}
	}
	return d
}
