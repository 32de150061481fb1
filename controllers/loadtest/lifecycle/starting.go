package lifecycle

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
)

// starting waits for the workers, and opens the gate when all are ready.
func (r *run) starting() {
	s := &r.out.Status
	if !r.prepare() {
		return
	}
	r.workers = r.eligibleWorkers()
	s.Workers.Ready = count(r.workers, func(w exchange.Worker) bool { return w.Connected && w.Ready })
	wait := r.whyNotReady()
	r.set(v1alpha1.ConditionWorkersReady, wait.status, wait.reason, wait.message+wait.until)

	switch at, ok := deadline(r.read.StartTime, r.spec.ActiveDeadlineSeconds); {
	case r.spec.Terminate:
		r.cancel()
		return
	case r.held.Ends():
		r.out.Undirected = r.seen.Since.IsZero()
		r.out.Status.StopCause = r.stopCause()
		r.finishCut()
		return
	case r.spec.Suspend:
		r.suspend(v1alpha1.ReasonSuspended, heldBySpec)
		return
	case ok && !r.now.Before(at):
		r.fail(v1alpha1.VerdictError, v1alpha1.ReasonDeadlineExceeded,
			fmt.Sprintf("The run was not done within activeDeadlineSeconds (%ds): its workers were not ready. %s", *r.spec.ActiveDeadlineSeconds, wait.message))
		return
	case ok:
		r.wake(at)
	}

	at, limited := deadline(r.read.StartTime, r.spec.StartDeadlineSeconds)
	switch {
	case wait.permanent:
		r.fail(v1alpha1.VerdictError, wait.reason, wait.message)
	case wait.status == metav1.ConditionTrue:
		if r.audited(v1alpha1.AuditBefore, "") {
			r.recordDescriptors()
			r.startStep(0, r.now.Add(r.lead()))
		}
	case limited && !r.now.Before(at):
		r.fail(v1alpha1.VerdictError, v1alpha1.ReasonStartDeadlineExceeded,
			fmt.Sprintf("The workers were not ready within startDeadlineSeconds (%ds). %s", *r.spec.StartDeadlineSeconds, wait.message+r.missingFiles()))
	default:
		if limited {
			r.wake(at)
		}
		r.bringWorkers()
	}
}

// prepare notes what has to be known before a run begins: a target's port, where its workers
// may connect to, and the baseline. It refuses the run if one of them is not allowed.
func (r *run) prepare() (goesOn bool) {
	r.findTarget()
	if !r.grantAccess() {
		return false
	}
	refusal := r.copyBaseline(r.read.Steps)
	if refusal != nil {
		r.refuse(refusal)
	}
	return refusal == nil
}

// findTarget notes a target's URL once the number of its named port is known.
func (r *run) findTarget() {
	target, _ := r.unknownTarget()
	if target == nil || target.Service == nil || r.seen.TargetPort == 0 {
		return
	}
	url := plan.ServiceURL(r.test.Namespace, target.Service, r.seen.TargetPort)
	if r.read.TargetURL == "" {
		r.out.Status.TargetURL = url
	} else {
		r.out.Status.Versus.TargetURL = url
	}
}

// bringWorkers does what workers lack, or looks again at what they wait for.
func (r *run) bringWorkers() {
	switch {
	case !r.out.Status.KnowsTargets() || r.lacksAccess() || r.lacksBaseline(&r.out.Status):
		r.wake(r.now.Add(targetExpected)) // neither Services nor other LoadTests are watched for it
	case r.seen.Job == JobAbsent:
		r.createJob()
	case r.missesPods():
		r.wake(r.now.Add(PodsExpected)) // a refusal is no change that is watched
	}
}

// createRetry is the time between two tries to create a Job that is refused: a quota
// is raised, and a policy changed, by people.
const createRetry = 5 * time.Second

// createJob creates the Job, again and again if it is refused.
func (r *run) createJob() {
	if refused := r.seen.Refused; refused != nil && r.now.Before(refused.At.Add(createRetry)) {
		r.wake(refused.At.Add(createRetry))
		return
	}
	r.out.Job = JobCreate
}

// PodsExpected is within what time the pods of a Job come one after another, and
// how often a run that misses some asks why: the Job controller makes one in
// milliseconds, and tries again after seconds.
const PodsExpected = 5 * time.Second

// targetExpected is how often a Service that is not there yet, or has no port of that
// name, is looked at.
const targetExpected = 2 * time.Second

// UnknownTarget is a target without which a run cannot begin, as the number of its named
// port is not known yet, and the field of the spec that names it; nil: there is none.
func UnknownTarget(lt *v1alpha1.LoadTest) (target *v1alpha1.Target, field string) {
	return (&inputs{spec: &lt.Spec, read: lt.Status}).unknownTarget()
}

func (in *inputs) unknownTarget() (target *v1alpha1.Target, field string) {
	switch s := &in.read; {
	case s.StartTime == nil || finished(s.Conditions) || s.KnowsTargets():
		return nil, ""
	case s.TargetURL == "":
		return &in.spec.Target, "spec.target"
	case in.spec.Versus == nil:
		return nil, "" // not reached: such a status is refused
	}
	return &in.spec.Versus.Target, "spec.versus.target"
}

// MissesPods says whether a run waits for pods that are not there.
func MissesPods(lt *v1alpha1.LoadTest, seen Observed) bool {
	in := &inputs{read: lt.Status, seen: seen}
	return in.read.StartTime != nil && !finished(in.read.Conditions) && !in.hasStarted() && in.missesPods()
}

func (in *inputs) missesPods() bool {
	return in.seen.Job == JobPresent && slices.ContainsFunc(in.seen.Workers, func(w exchange.Worker) bool { return w.Pod == exchange.PodAbsent })
}

// wait is why the workers are not ready, or that they are.
type wait struct {
	status          metav1.ConditionStatus
	reason, message string
	// until says when waiting ends.
	until string
	// permanent says that waiting longer cannot help.
	permanent bool
}

func (r *run) whyNotReady() wait {
	desired, ready := r.out.Status.Workers.Desired, r.out.Status.Workers.Ready
	if r.seen.Job == JobForeign {
		return wait{status: metav1.ConditionFalse, reason: v1alpha1.ReasonCreateRefused, permanent: true,
			message: "A Job of the LoadTest's name exists and is not its own; rename the LoadTest or delete the Job."}
	}
	if refused := r.seen.Refused; refused != nil && r.seen.Job == JobAbsent {
		w := wait{status: metav1.ConditionFalse, reason: v1alpha1.ReasonCreateRefused, permanent: refused.Permanent,
			message: "The Job of the workers is refused: " + sentence(refused.Message)}
		if !w.permanent {
			w.until = r.until()
		}
		return w
	}
	if r.lacksBaseline(&r.out.Status) {
		return r.baselineWait()
	}
	if ready == desired {
		return wait{status: metav1.ConditionTrue, reason: v1alpha1.ReasonAllReady, message: fmt.Sprintf("All %s ready.", workers(desired))}
	}
	if !r.out.Status.KnowsTargets() {
		return wait{status: metav1.ConditionFalse, reason: v1alpha1.ReasonTargetUnreachable, until: r.until(), message: sentence(r.seen.TargetProblem)}
	}
	if r.lacksAccess() {
		return wait{status: metav1.ConditionFalse, reason: v1alpha1.ReasonTargetUnreachable, until: r.until(), message: sentence(r.seen.Access.Problem)}
	}
	worst, n := r.worstBlocker()
	if n == 0 {
		return wait{status: metav1.ConditionFalse, reason: v1alpha1.ReasonWaiting, until: r.until(),
			message: fmt.Sprintf("%d of %s not ready yet.", desired-ready, workers(desired)) + r.progress()}
	}
	w := wait{status: metav1.ConditionFalse, reason: worst.reason, permanent: worst.permanent}
	w.message = fmt.Sprintf("%d of %s: %s", n, workers(desired), sentence(worst.message))
	if !w.permanent {
		w.until = r.until()
	}
	return w
}

// progress is what the first worker that is busy getting ready says of it: with
// a setup that takes minutes.
func (r *run) progress() string {
	for n, w := range r.workers {
		if w.Connected && !w.Ready && w.Reason == "" && w.Message != "" {
			return fmt.Sprintf(" Worker %d: %s", n, sentence(w.Message))
		}
	}
	return ""
}

// blocker is why one worker is not ready.
type blocker struct {
	reason, message string
	permanent       bool
}

// worstBlocker is the first permanent blocker, else the first one by worker
// number, and how many workers share its reason.
func (r *run) worstBlocker() (worst blocker, n int32) {
	for _, w := range r.workers {
		h, ok := blockerOf(w)
		switch {
		case !ok:
		case n == 0, h.permanent && !worst.permanent:
			worst, n = h, 1
		case h.reason == worst.reason:
			n++
		}
	}
	return worst, n
}

func blockerOf(w exchange.Worker) (blocker, bool) {
	switch {
	case w.Pod == exchange.PodEnded:
		return blocker{v1alpha1.ReasonWorkerLost, "ended before the run began: " + w.PodMessage, true}, true
	case w.PodReason != "":
		return blocker{w.PodReason, w.PodMessage, false}, true
	case w.Connected && !w.Ready && w.Reason != "":
		// A target may come up yet; a share that does not fit or a template that
		// does not compile never will.
		return blocker{w.Reason, w.Message, w.Reason != v1alpha1.ReasonTargetUnreachable}, true
	}
	return blocker{}, false
}

// missingFiles names what a pod that waits for no known reason probably waits
// for: the kubelet mounts the files of ConfigMaps and Secrets before it starts a
// container, reports a failure as an event, and retries without end.
func (r *run) missingFiles() string {
	stuck := func(w exchange.Worker) bool { return w.Pod == exchange.PodWaiting && w.PodReason == "" }
	if !slices.ContainsFunc(r.workers, stuck) {
		return ""
	}
	var keys []string
	for _, f := range plan.Files(r.spec) {
		kind := "ConfigMap"
		if f.Secret {
			kind = "Secret"
		}
		keys = append(keys, fmt.Sprintf("key %s of %s %s", f.Key, kind, f.Name))
	}
	switch n := len(keys); {
	case n == 0:
		return ""
	case n > maxKeys:
		keys = append(keys[:maxKeys], fmt.Sprintf("and %d more", n-maxKeys))
	}
	return " Their pods may wait for a file that is missing; see that these exist: " + strings.Join(keys, ", ") + "."
}

// maxKeys is how many missing files a message names: more would not be read.
const maxKeys = 5

// until says when waiting ends.
func (r *run) until() string {
	at, ok := deadline(r.read.StartTime, r.spec.StartDeadlineSeconds)
	if !ok {
		return ""
	}
	return fmt.Sprintf(" The run is given up at %s (startDeadlineSeconds).", clock(at))
}

func workers(n int32) string {
	if n == 1 {
		return "1 worker"
	}
	return fmt.Sprintf("%d workers", n)
}

// sentence ends a text with a full stop.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}

// startStep chooses the instant at which a step begins.
func (r *run) startStep(i int, at time.Time) {
	s := &r.out.Status
	start := metav1.NewMicroTime(at)
	s.Steps[i].State = v1alpha1.StepRunning
	s.Steps[i].StartTime = &start
	s.Phase = v1alpha1.PhaseRunning
	r.resumed()
	if step := &s.Steps[i]; step.Load.IsPause() {
		r.wake(endOf(step).Add(-r.lead()))
	} else {
		r.wake(endOf(step))
	}
}
