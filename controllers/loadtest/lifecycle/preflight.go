package lifecycle

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// verifyTarget writes whether the target is the one that was meant, by what the stage wrote
// and by the workers that count. The condition stays as it is once the first step has begun.
func (r *pass) verifyTarget() (goesOn bool) {
	s := &r.out.Status
	if isFinished(r.read.Conditions) || r.hasStarted() || len(r.spec.Loads) > 0 || !meta.IsStatusConditionTrue(s.Conditions, v1beta1.ConditionAccepted) {
		return true
	}
	set := func(status metav1.ConditionStatus, reason, message string) {
		r.set(v1beta1.ConditionTargetVerified, status, reason, message)
	}
	wrong, failed := r.wrongAnswer()
	switch {
	case len(r.spec.Preflight)+len(plan.ControlPreflight(r.spec)) == 0:
		set(metav1.ConditionUnknown, v1beta1.ReasonNoPreflight,
			"spec.preflight is empty: nothing says which version of the target was tested.")
	case s.StartTime != nil && failed:
		set(metav1.ConditionFalse, v1beta1.ReasonPreflightFailed, sentence(wrong))
	case s.Phase == v1beta1.PhaseRunning:
		// All workers are ready: each has its answers.
		set(metav1.ConditionTrue, v1beta1.ReasonPreflightPassed, r.verified())
	default: // also of a run that is held: its next workers ask again
		set(metav1.ConditionUnknown, v1beta1.ReasonPreflightPending, "Waiting for workers: each must pass the preflight checks before it is ready.")
	}
	return true
}

// selectWorkers chooses the workers that count for the phases after it, and counts how many
// are ready. A worker that has no pod of the present Job holds a session from before the run
// was held: its words are about another plan. A worker that did not ask is not ready. An
// image of another version may not know how to ask; its silence says nothing about the
// target.
func (r *starting) selectWorkers() (goesOn bool) {
	r.workers = r.eligibleWorkers()
	r.out.Status.Workers.Ready = count(r.workers, func(w exchange.Worker) bool { return w.Connected && w.Ready })
	return true
}

// eligibleWorkers are the workers that were seen, with Ready as it counts.
func (r *starting) eligibleWorkers() []exchange.Worker {
	workers := slices.Clone(r.seen.Workers)
	questions := len(r.spec.Preflight) + len(plan.ControlPreflight(r.spec))
	for i := range workers {
		switch w := &workers[i]; {
		case r.seen.Job != JobPresent || w.Pod == exchange.PodAbsent || w.PodEnding:
			w.Connected, w.Ready = false, false
		case w.Ready && int(w.Answers) < questions:
			w.Ready, w.Reason = false, v1beta1.ReasonPreflightFailed
			w.Message = fmt.Sprintf("preflight: %d of %d questions were asked; use a worker image of the operator's version", w.Answers, questions)
		case w.Ready && int(w.Targets) < targetCount(r.spec): // it would send all load to the first
			w.Ready, w.Reason = false, v1beta1.ReasonInvalidSpec
			w.Message = "spec.versus: the worker supports only one target; use a worker image of the operator's version"
			if r.spec.Versus == nil {
				w.Message = "spec.otherTargets: the worker supports only one target; use a worker image of the operator's version"
			}
		}
	}
	r.compareDescriptors(workers)
	return workers
}

// targetCount is how many targets a worker must support; 0: it need not say so.
func targetCount(spec *v1beta1.LoadTestSpec) int {
	if n := len(spec.OtherTargets); n > 0 {
		return 1 + n
	}
	return 0
}

// wrongAnswer is the message of the first worker that got another answer than it expects.
func (r *pass) wrongAnswer() (message string, ok bool) {
	i := slices.IndexFunc(r.workers, func(w exchange.Worker) bool {
		return w.Connected && !w.Ready && w.Reason == v1beta1.ReasonPreflightFailed
	})
	if i < 0 {
		return "", false
	}
	return r.workers[i].Message, true
}

// verified says what the answers were: the expected ones.
func (r *inputs) verified() string {
	if v := r.read.Versus; v != nil {
		return fmt.Sprintf("%s: %s; %s: %s.", v.Candidate, facts(r.spec.Preflight), v.Control, facts(plan.ControlPreflight(r.spec)))
	}
	return facts(r.spec.Preflight) + "."
}

func facts(questions []v1beta1.Preflight) string {
	if len(questions) == 0 {
		return "nothing was verified"
	}
	list := make([]string, len(questions))
	for i, name := range plan.PreflightNames(questions) {
		list[i] = name + " " + fact(&questions[i])
	}
	return strings.Join(list, "; ")
}

func fact(p *v1beta1.Preflight) string {
	e := p.Expect
	if e == nil {
		e = &v1beta1.Expectation{}
	}
	switch {
	case p.GRPCHealth != nil:
		return "is SERVING"
	case len(e.JSON) > 0:
		break
	case len(e.GRPCStatus) > 0:
		return "has status " + statuses(e.GRPCStatus)
	case p.GRPC != nil:
		return "has status OK"
	case len(e.Status) > 0:
		return "has status " + statuses(e.Status)
	default:
		return "has a status from 200 to 299"
	}
	values := make([]string, len(e.JSON))
	for i, v := range e.JSON {
		values[i] = fmt.Sprintf("%s %s", v.Path, brief(v.Text()))
	}
	return "has " + strings.Join(values, ", ")
}

func statuses[S int32 | v1beta1.GRPCStatus](list []S) string {
	return strings.Trim(strings.Join(strings.Fields(fmt.Sprint(list)), " or "), "[]")
}

// maxValue bounds how many bytes of a value a message shows: a version or a strategy fits,
// and of a longer value enough to recognise it.
const maxValue = 60

// brief is a value as a message has it: in a line, quoted if it is not a word.
func brief(value string) string {
	value = text.Truncate(value, maxValue)
	if value == "" || strings.ContainsFunc(value, notOfAWord) {
		return fmt.Sprintf("%q", value)
	}
	return value
}

// notOfAWord finds characters that would hide from a reader where the value ends.
func notOfAWord(c rune) bool { return c <= ' ' || c > '~' || strings.ContainsRune(`",;`, c) }

// asksAsClient says whether a preflight, or the reading of a number before the first step, names
// the client of the rate-limit audit, and so may use up a part of what a limiter grants it.
func asksAsClient(spec *v1beta1.LoadTestSpec) bool {
	contract := spec.RateLimit()
	stored := spec.StoredAudits()
	if contract == nil || len(spec.Preflight)+len(stored) == 0 {
		return false
	}
	isClient := func(h v1beta1.Header) bool { return strings.EqualFold(h.Name, contract.ClientHeader) }
	return slices.ContainsFunc(spec.Target.Headers, isClient) ||
		slices.ContainsFunc(spec.Preflight, func(p v1beta1.Preflight) bool {
			return slices.ContainsFunc(p.OwnHeaders(), isClient)
		}) ||
		slices.ContainsFunc(stored, func(a v1beta1.Audit) bool {
			return slices.ContainsFunc(a.Stored.Read.OwnHeaders(), isClient)
		})
}
