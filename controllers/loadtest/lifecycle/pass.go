package lifecycle

import (
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// inputs are all that a pass reads. No phase writes to them, nor to what they point to: a
// test compares them before and after each pass. Their methods only answer questions.
type inputs struct {
	test *v1beta1.LoadTest
	spec *v1beta1.LoadTestSpec
	read v1beta1.LoadTestStatus // as read back
	seen Observed
	now  time.Time
	// rules are what the administrator allows. held is why they do not let the run begin, or
	// go on, now; nil: they do.
	rules policy.Rules
	held  *policy.Hold
}

// pass is one pass over a run: its inputs, and what was decided so far. Its methods belong to
// every stage; the methods of a stage's type belong to that stage alone.
type pass struct {
	inputs
	out Decision
	// workers are the workers as they count in this pass: as they were seen, except that
	// some do not count before the run has begun (see selectWorkers).
	workers []exchange.Worker
	// wakeAt is the earliest instant at which a phase asks for a pass; zero: none does.
	wakeAt time.Time
}

// newPass is a pass that has decided nothing yet.
func newPass(lt *v1beta1.LoadTest, rules policy.Rules, seen Observed, now time.Time) *pass {
	in := inputs{test: lt, spec: specOf(lt, seen.Parent), read: lt.Status, seen: seen, now: now, rules: rules, held: rules.Hold(now)}
	r := &pass{inputs: in, workers: seen.Workers}
	r.out.Status = *lt.Status.DeepCopy()
	return r
}

// phase is a part of a pass over a run in stage S. It says whether the phases after it are
// carried out, too. A phase that ends or holds the run says no.
type phase[S any] func(S) (goesOn bool)

// inOrder carries phases out, one after another.
func inOrder[S any](stage S, phases []phase[S]) {
	for _, carryOut := range phases {
		if !carryOut(stage) {
			return
		}
	}
}

// lead is the time between the choice of a start instant and the instant: three times the
// longest recent delay until a status was read back, so that many runs at once begin their
// steps as punctually as one.
func (r *inputs) lead() time.Duration { return min(max(minLead, 3*r.seen.ReadBack), maxLead) }

// hasStarted says whether a step has been given a start instant.
func (r *inputs) hasStarted() bool {
	return len(r.read.Steps) > 0 && r.read.Steps[0].State != v1beta1.StepPending
}

// wake asks for a pass at t, which may be any of several known instants; zero: there is none.
func (r *pass) wake(t time.Time) {
	if !t.IsZero() && (r.wakeAt.IsZero() || t.Before(r.wakeAt)) {
		r.wakeAt = t
	}
}

// untilWake is the time to the next known instant. It is zero only if there is none. A run
// that ends in this pass waits for nothing but the end of its workers.
func (r *pass) untilWake() time.Duration {
	at := r.wakeAt
	if r.out.Status.Verdict != "" && !isFinished(r.read.Conditions) {
		at = r.now.Add(cleanupGrace)
	}
	if at.IsZero() {
		return 0
	}
	return max(at.Sub(r.now), time.Millisecond)
}

// event and warn say something in an event, once the status is written. The API server refuses a longer message.
func (r *pass) event(reason, message string) { r.say(Event{Reason: reason, Message: message}) }

func (r *pass) warn(reason, message string) {
	r.say(Event{Warning: true, Reason: reason, Message: message})
}

func (r *pass) say(e Event) {
	e.Message = text.Truncate(e.Message, maxMessage)
	r.out.Events = append(r.out.Events, e)
}
