package lifecycle

import (
	"fmt"
	"slices"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
)

// starting is a pass over a run that was taken up and has begun no step: it waits for its
// workers.
type starting struct {
	*pass
	// wait is why the workers are not ready, or that they are.
	wait *wait
}

// startingPhases: up to copyBaseline they write what must be known before workers start.
// selectWorkers writes the workers that count, and explainWait the wait; the phases after
// them read both, and one of them decides.
var startingPhases = []phase[*starting]{
	(*starting).wakeBeforeQuiet,
	(*starting).findTarget,
	(*starting).grantAccess,
	(*starting).copyBaseline,
	(*starting).selectWorkers,
	(*starting).explainWait,
	(*starting).endIfAsked,
	(*starting).failAtDeadline,
	(*starting).failIfHopeless,
	(*starting).beginFirstStep,
	(*starting).failAtStartDeadline,
	(*starting).giveWay,
	(*starting).bringWorkers,
}

// findTarget writes a target's URL once the number of its named port is known.
func (r *starting) findTarget() (goesOn bool) {
	target, _ := r.unknownTarget()
	if target == nil || target.Service == nil || r.seen.TargetPort == 0 {
		return true
	}
	url := plan.ServiceURL(r.test.Namespace, target.Service, r.seen.TargetPort)
	switch s := &r.out.Status; {
	case r.read.TargetURL == "":
		s.TargetURL = url
	case r.read.Versus != nil && r.read.Versus.TargetURL == "":
		s.Versus.TargetURL = url
	default:
		s.OtherTargets[unknownOther(&r.read)].TargetURL = url
	}
	return true
}

// copyBaseline writes the figures of a baseline that has finished by now, or refuses it.
func (r *starting) copyBaseline() (goesOn bool) { return r.refuse(r.copyBaselineFor(r.read.Steps)) }

// explainWait writes why the workers are not ready, or that they are, for the phases after it.
func (r *starting) explainWait() (goesOn bool) {
	r.wait = r.whyNotReady()
	r.set(v1beta1.ConditionWorkersReady, r.wait.status, r.wait.reason, r.wait.message+r.wait.until)
	return true
}

// endIfAsked ends or holds a run as the user or the administrator asks for.
func (r *starting) endIfAsked() (goesOn bool) {
	switch {
	case r.spec.Terminate:
		r.cancel()
	case r.held.Ends():
		r.out.Undirected = r.seen.Since.IsZero()
		r.out.Status.Internal.StopCause = r.stopCause()
		r.finishCut()
	case r.spec.Suspend:
		r.suspend(v1beta1.ReasonSuspended, heldBySpec)
	default:
		return true
	}
	return false
}

// failAtDeadline ends a run whose time is up, and else asks for a pass then.
func (r *starting) failAtDeadline() (goesOn bool) {
	at, limited := deadline(r.read.StartTime.Time, r.spec.ActiveDeadlineSeconds)
	if limited && !r.now.Before(at) {
		r.fail(v1beta1.VerdictError, v1beta1.ReasonDeadlineExceeded,
			fmt.Sprintf("The run did not finish within activeDeadlineSeconds (%ds): its workers were not ready. %s", *r.spec.ActiveDeadlineSeconds, r.wait.message))
		return false
	}
	r.wake(at)
	return true
}

// failIfHopeless ends a run that waits for what no time will bring.
func (r *starting) failIfHopeless() (goesOn bool) {
	if r.wait.permanent {
		r.fail(v1beta1.VerdictError, r.wait.reason, r.wait.message)
	}
	return !r.wait.permanent
}

// failAtStartDeadline ends a run whose workers were not ready in time, and else asks for a
// pass then.
func (r *starting) failAtStartDeadline() (goesOn bool) {
	at, limited := r.startDeadline()
	if limited && !r.now.Before(at) {
		r.fail(v1beta1.VerdictError, v1beta1.ReasonStartDeadlineExceeded,
			fmt.Sprintf("The workers were not ready within startDeadlineSeconds (%ds). %s", *r.startSeconds(), r.wait.message+r.missingFiles()))
		return false
	}
	r.wake(at)
	return true
}

// bringWorkers creates the Job, or asks for a pass when what the workers wait for may be
// there.
func (r *starting) bringWorkers() (goesOn bool) {
	taken := slices.IndexFunc(r.seen.Workers, r.isReplaced)
	switch {
	case taken >= 0:
		r.out.Status.Internal.Auditing = nil // those that come read the numbers again
		if r.withoutJob(); r.out.Job == JobDelete {
			// The condition says it only until they are there.
			why, _ := r.blockerOf(r.seen.Workers[taken])
			r.warn(why.reason, fmt.Sprintf("Worker %d: %s.", taken, why.message))
		}
	case !r.out.Status.KnowsTargets() || r.lacksAccess() || r.lacksBaseline(&r.out.Status):
		r.wake(r.now.Add(targetExpected)) // no watch of Services or of other LoadTests brings it
	case r.seen.Job == JobAbsent:
		r.createJob()
	case r.seen.Job == JobLeftOver || r.missesPods():
		r.wake(r.now.Add(PodsExpected)) // no watch brings a refusal
	}
	return true
}

// isReplaced says whether the pod of a worker was taken away from the run, and all are made
// again: nothing was sent yet. What a setup has sent cannot be sent again. A pod that is taken
// away again and again keeps the run waiting until its start deadline.
func (r *starting) isReplaced(w exchange.Worker) bool { return w.PodTakenAway && r.spec.Setup == nil }

// createRetry is the time between two tries to create a Job that is refused: a quota
// is raised, and a policy changed, by people.
const createRetry = 5 * time.Second

// createJob creates the Job, again and again if it is refused.
func (r *starting) createJob() {
	if refused := r.seen.Refused; refused != nil && r.now.Before(refused.At.Add(createRetry)) {
		r.wake(refused.At.Add(createRetry))
		return
	}
	r.out.Job = JobCreate
}

// PodsExpected bounds the time between two pods of a Job, and is the time after which a run
// that misses pods asks why: the Job controller makes a pod in milliseconds, and tries
// again after seconds.
const PodsExpected = 5 * time.Second

// targetExpected is the time between two looks at a Service that does not exist yet, or has
// no port of that name.
const targetExpected = 2 * time.Second

// UnknownTarget is a target without which a run cannot begin, as the number of its named
// port is not known yet, and the field of the spec that names it; nil: every port is known.
func UnknownTarget(lt *v1beta1.LoadTest) (target *v1beta1.Target, field string) {
	return (&inputs{spec: &lt.Spec, read: lt.Status}).unknownTarget()
}

func (r *inputs) unknownTarget() (target *v1beta1.Target, field string) {
	switch s := &r.read; {
	case s.StartTime == nil || isFinished(s.Conditions):
		return nil, ""
	case s.TargetURL == "":
		return &r.spec.Target, "spec.target"
	case s.Versus != nil && s.Versus.TargetURL == "" && r.spec.Control() != nil:
		return r.spec.Control(), plan.OtherTargetField(r.spec.Versus.Target)
	}
	others := r.spec.RequestTargets()
	for i := range min(len(r.read.OtherTargets), len(others)) {
		if other := &others[i]; r.read.OtherTargets[i].TargetURL == "" {
			return other.Target(), plan.OtherTargetField(other.Name)
		}
	}
	return nil, ""
}

// unknownOther is the first of the other targets whose URL is not known; -1: all are.
func unknownOther(s *v1beta1.LoadTestStatus) int {
	return slices.IndexFunc(s.OtherTargets, func(o v1beta1.OtherTargetStatus) bool { return o.TargetURL == "" })
}

// MissesPods says whether a run waits for pods that are not there.
func MissesPods(lt *v1beta1.LoadTest, seen Observed) bool {
	in := &inputs{read: lt.Status, seen: seen}
	return in.read.StartTime != nil && !isFinished(in.read.Conditions) && !in.hasStarted() && in.missesPods()
}

func (r *inputs) missesPods() bool {
	return r.seen.Job == JobPresent && slices.ContainsFunc(r.seen.Workers, func(w exchange.Worker) bool { return w.Pod == exchange.PodAbsent })
}
