package lifecycle

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/instant"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// auditRounds are the rounds in which a worker reads numbers, so that a number read before
// the steps is not taken for one read after them.
var auditRounds = map[v1beta1.AuditPoint]int32{v1beta1.AuditBefore: 1, v1beta1.AuditAfter: 2}

// makeAudits reads the numbers of the audits at a point of the run. It is done once each
// number was read, or is given up. Until then a worker reads, once the status says so.
// reason says why the steps ended.
func (r *pass) makeAudits(point v1beta1.AuditPoint, reason string) (done bool) {
	s := &r.out.Status
	switch {
	case !slices.ContainsFunc(s.Audits, isPending):
	case r.read.Internal.Auditing == nil: // another point of the run would be inconsistent
		s.Internal.Auditing = &v1beta1.Auditing{Point: point, Since: metav1.NewMicroTime(r.now), Reason: reason}
		r.auditsPending(point)
		return false
	case !r.readNumbers(point):
		r.auditsPending(point)
		return false
	}
	s.Internal.Auditing = nil
	r.auditsCondition()
	return true
}

func isPending(a v1beta1.AuditStatus) bool { return a.State == v1beta1.AuditPending }

// finishAudits goes on with a run whose steps have ended and whose numbers are being read.
// The loss of a worker no longer matters to the result, and is not counted.
func (r *running) finishAudits() (goesOn bool) {
	if r.read.Internal.Auditing == nil {
		return true
	}
	r.stopIfHeld()
	r.stopIfAsked()
	if r.out.Status.Internal.StopTime != nil && r.abortedBy() == nil {
		r.finishCut()
		return false
	}
	if r.held.Ends() {
		r.giveUpAudits() // of a run that a threshold aborted
	}
	r.finish(len(r.out.Status.Steps), r.read.Internal.Auditing.Reason)
	return false
}

// readNumbers takes the numbers once each can be taken or is given up: all at the same
// time, since what changes one may yet change another.
func (r *pass) readNumbers(point v1beta1.AuditPoint) bool {
	audits := r.out.Status.Audits
	readings, left := r.directReader(point), r.isReaderLeft()
	for n := range audits {
		limit := instant.Later(r.read.Internal.Auditing.Since.Time, r.since()).Add(audits[n].MaxWait.Duration)
		if isPending(audits[n]) && !isSettled(&audits[n], readings, n) && r.now.Before(limit) && left {
			r.wake(limit)
			return false
		}
	}
	specs := r.spec.StoredAudits()
	for n := range audits {
		if isPending(audits[n]) {
			audits[n] = take(audits[n], specs[n].Stored.Value, point, readings, n, left)
		}
	}
	return true
}

// isReaderLeft says whether a worker is left that could read the numbers, now or later.
func (r *pass) isReaderLeft() bool {
	return slices.ContainsFunc(r.workers, func(w exchange.Worker) bool { return !r.isLost(w) })
}

// reader is the worker that reads the numbers: the first that can. ok is false if no
// worker can for the moment.
func (r *pass) reader() (number int32, ok bool) {
	i := slices.IndexFunc(r.workers, func(w exchange.Worker) bool { return w.Connected && !w.PodEnding && !r.isLost(w) })
	return int32(i), i >= 0
}

// directReader directs the reader to read, and returns what it has read so far.
func (r *pass) directReader(point v1beta1.AuditPoint) []exchange.Reading {
	number, ok := r.reader()
	if !ok {
		return nil
	}
	r.out.Directive.Read = &exchange.Read{Round: auditRounds[point], Worker: number}
	return r.workers[number].Readings
}

// isSettled says whether a number stands still and, after the steps, has all in it that
// was acknowledged: a queue that stands still may move again.
func isSettled(a *v1beta1.AuditStatus, readings []exchange.Reading, n int) bool {
	if n >= len(readings) || !isStable(a, readings[n]) {
		return false
	}
	return a.Before == nil || readings[n].Value-*a.Before >= a.Acknowledged
}

func isStable(a *v1beta1.AuditStatus, reading exchange.Reading) bool {
	return reading.Read && reading.Unchanged >= a.StableFor.Duration
}

// take takes the number of audit n, or says why it cannot be taken.
func take(a v1beta1.AuditStatus, value v1beta1.JSONPath, point v1beta1.AuditPoint, readings []exchange.Reading, n int, readerLeft bool) v1beta1.AuditStatus {
	switch {
	case !readerLeft: // then there are no readings
		return verdict.Unread(value, a, point, "no worker is left to read it")
	case n >= len(readings):
		return verdict.Unread(value, a, point, fmt.Sprintf("no worker read it within %s", text.Short(a.MaxWait.Duration)))
	case !readings[n].Read:
		return verdict.Unread(value, a, point, readings[n].Problem)
	case !isStable(&a, readings[n]):
		return verdict.Unread(value, a, point, fmt.Sprintf("it did not stay the same for %s within %s; its last value was %d", text.Short(a.StableFor.Duration), text.Short(a.MaxWait.Duration), readings[n].Value))
	case point == v1beta1.AuditBefore:
		a.Before = &readings[n].Value
		return a
	}
	a.After = &readings[n].Value
	return verdict.Audit(value, a)
}

// countStored adds to the audits by how much the step, which has ended, changes their numbers.
func (r *loading) countStored() {
	bound, _, known := r.sentAtMost()
	var merged *measure.Measurement
	if r.report != nil {
		merged = r.report.Merged
	}
	missing := int64(-1)
	if known {
		if missing = bound; merged != nil {
			for q := range merged.Requests {
				missing -= merged.Requests[q].Sent
			}
		}
		missing = max(0, missing)
	}
	for n, spec := range r.spec.StoredAudits() {
		if n < len(r.out.Status.Audits) {
			results.CountStored(&r.out.Status.Audits[n], plan.AuditedItems(r.spec, spec.Stored), merged, missing)
		}
	}
}

// giveUpAudits ends the audits of a run that does not go to its end.
func (r *pass) giveUpAudits() {
	s := &r.out.Status
	s.Internal.Auditing = nil
	for n, spec := range r.spec.StoredAudits() {
		if n < len(s.Audits) && isPending(s.Audits[n]) {
			s.Audits[n] = verdict.Unread(spec.Stored.Value, s.Audits[n], v1beta1.AuditAfter, "the run ended before")
		}
	}
	if len(s.Audits) > 0 {
		r.set(v1beta1.ConditionAuditsPassed, metav1.ConditionUnknown, v1beta1.ReasonNotFinished, "The run ended before the audits could be performed.")
	}
}

// auditsPending says what the audits wait for.
func (r *pass) auditsPending(point v1beta1.AuditPoint) {
	if len(r.out.Status.Audits) == 0 {
		return
	}
	message := "A worker reads the numbers of the audits before the first step and after the last."
	if number, ok := r.reader(); point != "" && ok {
		message = fmt.Sprintf("Worker %d reads the numbers of the audits %s.", number, verdict.When(point))
	}
	r.set(v1beta1.ConditionAuditsPassed, metav1.ConditionUnknown, v1beta1.ReasonAuditsPending, message)
}

// auditsCondition says how the audits went so far.
func (r *pass) auditsCondition() {
	audits := r.out.Status.Audits
	first := func(state v1beta1.AuditState) int {
		return slices.IndexFunc(audits, func(a v1beta1.AuditStatus) bool { return a.State == state })
	}
	failed, undecided := first(v1beta1.AuditFailed), first(v1beta1.AuditInconclusive)
	switch {
	case len(audits) == 0:
	case failed >= 0:
		r.set(v1beta1.ConditionAuditsPassed, metav1.ConditionFalse, v1beta1.ReasonAuditFailed, audits[failed].Message)
	case undecided >= 0:
		r.set(v1beta1.ConditionAuditsPassed, metav1.ConditionUnknown, v1beta1.ReasonAuditInconclusive, audits[undecided].Message)
	case first(v1beta1.AuditPending) >= 0:
		r.auditsPending("")
	case len(audits) == 1:
		r.set(v1beta1.ConditionAuditsPassed, metav1.ConditionTrue, v1beta1.ReasonAuditsPassed, audits[0].Message)
	default:
		r.set(v1beta1.ConditionAuditsPassed, metav1.ConditionTrue, v1beta1.ReasonAuditsPassed, fmt.Sprintf("All %d audits passed.", len(audits)))
	}
}
