package lifecycle

import (
	"fmt"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

// Decision is what is to be done, and what is to be said.
type Decision struct {
	// Status is the whole next status.
	Status v1alpha1.LoadTestStatus
	// Job says what to do with the run's Job.
	Job JobAction
	// Store is to be done before the status is written; nil: nothing is.
	Store *Store
	// Look is to be read once the workers are directed; nil: nothing is.
	Look *Look
	// Directive is what the workers are to do, from the status as it was read.
	Directive exchange.Directive
	// Undirected says that the workers are not to be directed in this pass: the run is to
	// be stopped, and no process has directed it since this one began.
	Undirected bool
	// Forget says that no worker is left to be directed.
	Forget bool
	// Delete says that the LoadTest's time to live is over, Unkept that its results go with
	// it, though they were to be kept.
	Delete, Unkept bool
	// Keep is to be begun once the status is written.
	Keep Keep
	// Seconds is what the next pass of this process is to see again.
	Seconds verdict.Seconds
	// Events are to be emitted once the status is written.
	Events []Event
	// RequeueAfter is the time to the next known instant; 0: none.
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
	// must fit. They take about 50 ms; ten times that is for a busy API server, and is
	// what apply-to-first-request pays.
	minLead = 500 * time.Millisecond
	// maxLead bounds what an API server that is busier than that may take.
	maxLead = 5 * time.Second
	// cutGrace is how long the last reports of a cut step are waited for.
	cutGrace = 15 * time.Second
	// foundWithin is how long workers may take to find the process that directs their
	// run from now on, and to send what they hold: they notice within 15 s that the
	// process before it is gone, an attempt to connect takes up to 5 s, and the wait
	// between two attempts 1 s. The rest is for a busy cluster.
	foundWithin = 30 * time.Second
	// silentAfter is how long a worker has no session before the status says that it
	// is silent: one that reconnects, as after a restart of the operator, does so
	// within a second or two.
	silentAfter = 5 * time.Second
	// cleanupGrace is how long workers may take to end by themselves when the run
	// is over, before their Job is deleted.
	cleanupGrace = 30 * time.Second
	// podsKept is how long pods that have ended are kept after the run, for their
	// logs. The operator has each pod in memory.
	podsKept = time.Hour
)

// inputs are all that a pass reads. Nothing writes to them, nor to what they point to: a
// test compares them before and after each pass.
type inputs struct {
	test *v1alpha1.LoadTest
	spec *v1alpha1.LoadTestSpec
	read v1alpha1.LoadTestStatus // as read back
	seen Observed
	now  time.Time
	// rules are what the administrator allows, and held is why no run may begin, or go on, by
	// them now; nil: it may.
	rules policy.Rules
	held  *policy.Hold
}

// run is one pass: its inputs, and the decision under construction.
type run struct {
	inputs
	out Decision
	// workers are those that were seen, as they count: see eligibleWorkers.
	workers []exchange.Worker
	// wakeAt is the first instant of those at which a phase asks for a pass; zero: none does.
	wakeAt time.Time
}

// newRun is a pass of which nothing is decided but what the workers do meanwhile.
func newRun(lt *v1alpha1.LoadTest, rules policy.Rules, seen Observed, now time.Time) *run {
	in := inputs{test: lt, spec: &lt.Spec, read: lt.Status, seen: seen, now: now, rules: rules, held: rules.Hold(now)}
	r := &run{inputs: in, workers: seen.Workers}
	r.out.Status = *lt.Status.DeepCopy()
	return r
}

// Decide says what a run does next. rules are what the administrator allows. A finished
// run may lack its steps and its spec but for the time to live: what it came to does not
// change any more.
func Decide(lt *v1alpha1.LoadTest, rules policy.Rules, seen Observed, now time.Time) Decision {
	return newRun(lt, rules, seen, now).decide()
}

func (r *run) decide() Decision {
	r.out.Status.ObservedGeneration = r.test.Generation
	r.out.Directive = r.directive()

	problem := r.inconsistency()
	switch {
	case finished(r.read.Conditions):
		r.reconcileFinished()
	case problem != "":
		r.out.Forget = true // nothing that it says can be directed
		r.fail(v1alpha1.VerdictError, v1alpha1.ReasonInvalidStatus, fmt.Sprintf("The status cannot be continued: status.%s. Create the LoadTest anew.", problem))
	case r.read.StartTime == nil:
		r.accept()
	case !r.hasStarted():
		r.beforeQuiet()
		r.starting()
	default:
		r.beforeQuiet()
		r.running()
	}
	r.verifyTarget()
	r.conclude()
	r.summarize()
	r.pace()
	r.out.RequeueAfter = r.untilWake()
	return r.out
}

// directive follows from the status as it was read back alone.
func (r *run) directive() exchange.Directive {
	d := exchange.Directive{Finish: finished(r.read.Conditions)}
	if d.Finish && len(r.read.Steps) == 0 {
		d.Acknowledged = plan.MaxSteps // all that there were
	}
	for i, s := range r.read.Steps {
		switch s.State {
		case v1alpha1.StepComplete, v1alpha1.StepCut, v1alpha1.StepSkipped:
			d.Acknowledged = int32(i) + 1
		case v1alpha1.StepRunning:
			if !s.Load.IsPause() && s.StartTime != nil {
				d.Start = &exchange.Start{Step: int32(i), At: s.StartTime.Time}
				d.Stop = r.read.StopTime != nil
			}
		}
	}
	return d
}

// lead is the time between the choice of a start instant and the instant: three times the
// longest that it took of late until a status was read back, so that many runs at once
// begin their steps as punctually as one.
func (r *run) lead() time.Duration { return min(max(minLead, 3*r.seen.ReadBack), maxLead) }

// hasStarted says whether a step has been given a start instant.
func (in *inputs) hasStarted() bool {
	return len(in.read.Steps) > 0 && in.read.Steps[0].State != v1alpha1.StepPending
}

// wake asks for a pass at t, which may be any of several known instants.
func (r *run) wake(t time.Time) {
	if r.wakeAt.IsZero() || t.Before(r.wakeAt) {
		r.wakeAt = t
	}
}

// untilWake is the time to the next known instant. It is zero only if there is none. A run
// that ends in this pass waits for nothing but the end of its workers.
func (r *run) untilWake() time.Duration {
	at := r.wakeAt
	if r.out.Status.Verdict != "" && !finished(r.read.Conditions) {
		at = r.now.Add(cleanupGrace)
	}
	if at.IsZero() {
		return 0
	}
	return max(at.Sub(r.now), time.Millisecond)
}

func (r *run) event(reason, message string) {
	r.out.Events = append(r.out.Events, Event{Reason: reason, Message: message})
}

func (r *run) warn(reason, message string) {
	r.out.Events = append(r.out.Events, Event{Warning: true, Reason: reason, Message: message})
}
