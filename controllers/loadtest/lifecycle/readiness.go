package lifecycle

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// wait is why the workers are not ready, or that they are.
type wait struct {
	status          metav1.ConditionStatus
	reason, message string
	// until says when waiting ends.
	until string
	// permanent says that waiting longer cannot help.
	permanent bool
}

// readinessChecks look for what keeps the workers from being ready. The first that finds a
// cause decides. They change nothing.
var readinessChecks = []func(*starting) *wait{
	(*starting).foreignJob,
	(*starting).leftOverJob,
	(*starting).refusedJob,
	(*starting).pendingBaseline,
	(*starting).allReady,
	(*starting).missingTarget,
	(*starting).missingAccess,
	(*starting).blockedWorkers,
}

func (r *starting) whyNotReady() *wait {
	for _, check := range readinessChecks {
		if w := check(r); w != nil {
			return w
		}
	}
	c := &r.out.Status.Workers
	return r.waitFor(v1beta1.ReasonWaiting, fmt.Sprintf("%d of %s not ready yet.", c.Desired-c.Ready, workers(c.Desired))+r.progress())
}

// waitFor is the wait for what may come until the start deadline.
func (r *starting) waitFor(reason, message string) *wait {
	return &wait{status: metav1.ConditionFalse, reason: reason, message: message, until: r.until()}
}

// waitInVain is the wait for what will not come.
func waitInVain(reason, message string) *wait {
	return &wait{status: metav1.ConditionFalse, reason: reason, message: message, permanent: true}
}

func (r *starting) foreignJob() *wait {
	if r.seen.Job != JobForeign {
		return nil
	}
	return waitInVain(v1beta1.ReasonCreateRefused, "A Job with the name of the LoadTest exists and does not belong to it; delete the Job, or give the LoadTest another name.")
}

func (r *starting) leftOverJob() *wait {
	if r.seen.Job != JobLeftOver {
		return nil
	}
	return r.waitFor(v1beta1.ReasonWaiting, "The API server is removing the Job of an earlier LoadTest of this name.")
}

func (r *starting) refusedJob() *wait {
	refused := r.seen.Refused
	if refused == nil || r.seen.Job != JobAbsent {
		return nil
	}
	message := "The API server refuses the Job of the workers: " + sentence(refused.Message)
	if refused.Permanent {
		return waitInVain(v1beta1.ReasonCreateRefused, message)
	}
	return r.waitFor(v1beta1.ReasonCreateRefused, message)
}

func (r *starting) pendingBaseline() *wait {
	switch {
	case !r.lacksBaseline(&r.out.Status):
		return nil
	case r.spec.Baseline.Selector != nil:
		return r.waitFor(v1beta1.ReasonBaselinePending, "The LoadTests of spec.baseline.selector have not been read.")
	case r.spec.Baseline.Schedule != "":
		return r.waitFor(v1beta1.ReasonBaselinePending, fmt.Sprintf("The LoadTests of schedule %s (spec.baseline) have not been read.", r.spec.Baseline.Schedule))
	case r.seen.Baseline == nil:
		return r.waitFor(v1beta1.ReasonBaselinePending, fmt.Sprintf("LoadTest %s (spec.baseline) does not exist.", r.spec.Baseline.Name))
	}
	return r.waitFor(v1beta1.ReasonBaselinePending, fmt.Sprintf("LoadTest %s (spec.baseline) has not finished.", r.spec.Baseline.Name))
}

func (r *starting) allReady() *wait {
	c := &r.out.Status.Workers
	if c.Ready != c.Desired {
		return nil
	}
	return &wait{status: metav1.ConditionTrue, reason: v1beta1.ReasonAllReady, message: fmt.Sprintf("All %s ready.", workers(c.Desired))}
}

func (r *starting) missingTarget() *wait {
	if r.out.Status.KnowsTargets() {
		return nil
	}
	return r.waitFor(v1beta1.ReasonTargetUnreachable, sentence(r.seen.TargetProblem))
}

func (r *starting) missingAccess() *wait {
	if !r.lacksAccess() {
		return nil
	}
	return r.waitFor(v1beta1.ReasonTargetUnreachable, sentence(r.seen.Access.Problem))
}

func (r *starting) blockedWorkers() *wait {
	worst, n := r.worstBlocker()
	if n == 0 {
		return nil
	}
	message := fmt.Sprintf("%d of %s: %s", n, workers(r.out.Status.Workers.Desired), sentence(worst.message))
	if worst.permanent {
		return waitInVain(worst.reason, message)
	}
	return r.waitFor(worst.reason, message)
}

// progress quotes the first worker that is getting ready, as with a setup that takes minutes.
func (r *starting) progress() string {
	for n, w := range r.workers {
		if w.Connected && !w.Ready && w.Message != "" {
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
func (r *starting) worstBlocker() (worst blocker, n int32) {
	for _, w := range r.workers {
		h, ok := r.blockerOf(w)
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

func (r *starting) blockerOf(w exchange.Worker) (blocker, bool) {
	switch {
	case r.isReplaced(w):
		return blocker{v1beta1.ReasonWorkerLost, w.PodMessage + "; the workers are started again", false}, true
	case w.Pod == exchange.PodEnded:
		return blocker{v1beta1.ReasonWorkerLost, "ended before the run began: " + w.PodMessage, true}, true
	case w.PodReason != "":
		return blocker{w.PodReason, w.PodMessage, false}, true
	case w.Connected && !w.Ready && w.Reason != "":
		// A target may come up yet; a share that does not fit or a template that
		// does not compile never will.
		return blocker{w.Reason, w.Message, w.Reason != v1beta1.ReasonTargetUnreachable}, true
	}
	return blocker{}, false
}

// missingFiles names the files for which a pod probably waits that gives no reason: the
// kubelet mounts the files of ConfigMaps and Secrets before it starts a
// container, reports a failure as an event, and retries without end.
func (r *starting) missingFiles() string {
	stuck := func(w exchange.Worker) bool { return w.Pod == exchange.PodWaiting && w.PodReason == "" }
	if !slices.ContainsFunc(r.workers, stuck) {
		return ""
	}
	var keys []string
	for _, f := range plan.Files(r.spec) {
		keys = append(keys, f.String())
	}
	switch n := len(keys); {
	case n == 0:
		return ""
	case n > maxKeys:
		keys = append(keys[:maxKeys], fmt.Sprintf("and %d more", n-maxKeys))
	}
	return " Their pods may be waiting for a missing file; check that these exist: " + strings.Join(keys, ", ") + "."
}

// maxKeys bounds how many missing files a message names, so that it stays short enough to read.
const maxKeys = 5

// until says when the wait ends.
func (r *inputs) until() string {
	at, ok := r.startDeadline()
	if !ok {
		return ""
	}
	return fmt.Sprintf(" The run gives up at %s (startDeadlineSeconds).", text.Clock(at))
}

func workers(n int32) string { return text.Plural(int64(n), "worker") }

// sentence ends a text with a full stop.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}
