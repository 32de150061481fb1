package lifecycle

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// finished is a pass over a run that has ended: its workers end, its results are kept, and
// the LoadTest is deleted when its time to live is over.
type finished struct{ *pass }

// finishedPhases read the inputs. archive and announce ask for attempts and write their
// conditions; deleteJob reads whether expire deletes the LoadTest.
var finishedPhases = []phase[*finished]{
	(*finished).forgetWorkers,
	(*finished).forgetFailures,
	(*finished).archive,
	(*finished).announce,
	(*finished).expire,
	(*finished).deleteJob,
}

// forgetWorkers stops directing workers once no worker is left.
func (r *finished) forgetWorkers() (goesOn bool) {
	r.out.Forget = r.seen.Job != JobPresent && r.seen.Job != JobDeleting
	return true
}

// deleteJob deletes the Job of workers that do not end by themselves, and later the pods that
// were left for their logs. It reads whether the LoadTest is deleted with them.
func (r *finished) deleteJob() (goesOn bool) {
	if r.seen.Job == JobPresent && r.waitPast(cleanupGrace) ||
		r.seen.Job == JobFinished && !r.out.Delete && r.waitPast(podsKept) {
		r.out.Job = JobDelete
	}
	return true
}

// waitPast asks for a pass that long after the end of the run, unless that is past.
func (r *finished) waitPast(kept time.Duration) (past bool) {
	end := r.endedAt().Add(kept)
	if r.now.Before(end) {
		r.wake(end)
		return false
	}
	return true
}

// endedAt is the end of a finished run. A status that was restored from a copy may lack it;
// its condition has one.
func (r *inputs) endedAt() time.Time {
	if r.read.CompletionTime != nil {
		return r.read.CompletionTime.Time
	}
	return meta.FindStatusCondition(r.read.Conditions, v1beta1.ConditionFinished).LastTransitionTime.Time
}
