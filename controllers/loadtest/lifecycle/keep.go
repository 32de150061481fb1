package lifecycle

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

// Keep asks for the results of a finished run to be archived, or for its verdict to be
// announced, beside the passes: it may take a minute, and fail.
type Keep struct{ Archive, Announce bool }

// Keeping is what is to become of the results of a finished run, and how far this process
// is with it. The zero value is nothing.
type Keeping struct {
	Wanted            policy.Results
	Archive, Announce Effort
}

// Effort is what came of the attempts of this process.
type Effort struct {
	UnderWay bool
	// Done is a sentence of what was done; "": it has not been.
	Done string
	// Failed is why the latest attempt failed, as the end of a sentence, and At when it did.
	Failed   string
	At       time.Time
	Attempts int
}

const (
	// firstKeepRetry is the time to the second attempt. It doubles with each attempt up to
	// lastKeepRetry, so that a store that is away for a day is asked a hundred times.
	firstKeepRetry = 5 * time.Second
	lastKeepRetry  = 15 * time.Minute
)

// retryAt is when the next attempt is due.
func (e *Effort) retryAt() time.Time {
	return e.At.Add(min(firstKeepRetry<<min(max(e.Attempts-1, 0), 10), lastKeepRetry))
}

// keep has the results archived and the verdict announced. Verdicts are announced once
// there was an attempt to archive, so that the message can name what is there, and for no
// longer than is waited for: one of long ago is no news.
func (r *run) keep() {
	k := &r.seen.Keeping
	r.forgetFailures(k.Wanted)
	if k.Wanted.Archived {
		r.out.Keep.Archive = r.effort(&k.Archive, archiving)
	}
	tried := !k.Wanted.Archived || k.Archive.Attempts > 0 || r.settled(&k.Archive, v1alpha1.ConditionArchived)
	if k.Wanted.Announced && tried && !r.isOldNews() {
		r.out.Keep.Announce = r.effort(&k.Announce, announcing)
	}
}

// forgetFailures takes back what failed and is no longer wanted: no attempt follows. What
// was done stays.
func (r *run) forgetFailures(wanted policy.Results) {
	for kind, of := range map[string]bool{v1alpha1.ConditionArchived: wanted.Archived, v1alpha1.ConditionAnnounced: wanted.Announced} {
		if !of && !wanted.Unknown && meta.IsStatusConditionFalse(r.read.Conditions, kind) {
			meta.RemoveStatusCondition(&r.out.Status.Conditions, kind)
		}
	}
}

func (in *inputs) isOldNews() bool {
	return !in.now.Before(in.endedAt().Add(in.seen.Keeping.Wanted.Wait))
}

// said is how a condition describes an effort.
type said struct{ kind, done, failed, failure string }

var (
	archiving  = said{v1alpha1.ConditionArchived, v1alpha1.ReasonArchived, v1alpha1.ReasonArchiveFailed, "The results could not be kept: %s."}
	announcing = said{v1alpha1.ConditionAnnounced, v1alpha1.ReasonAnnounced, v1alpha1.ReasonAnnouncementFailed, "The webhook did not take the verdict: %s."}
)

// effort says what came of an effort, and whether an attempt is due.
func (r *run) effort(e *Effort, s said) (due bool) {
	switch {
	case e.Done != "":
		r.tell(s.kind, metav1.ConditionTrue, s.done, e.Done)
		return false
	case r.settled(e, s.kind) || e.UnderWay:
		return false
	case e.Attempts == 0:
		return true
	}
	r.tell(s.kind, metav1.ConditionFalse, s.failed, fmt.Sprintf(s.failure, e.Failed))
	if at := e.retryAt(); r.now.Before(at) {
		r.wake(at)
		return false
	}
	return true
}

// tell sets a condition, and has an event of what is new in it.
func (r *run) tell(kind string, status metav1.ConditionStatus, reason, message string) {
	if c := meta.FindStatusCondition(r.read.Conditions, kind); c == nil || c.Status != status || c.Message != message {
		if status == metav1.ConditionTrue {
			r.event(reason, message)
		} else {
			r.warn(reason, message)
		}
	}
	r.set(kind, status, reason, message)
}

// settled says whether nothing is left to be done.
func (in *inputs) settled(e *Effort, kind string) bool {
	return e.Done != "" || meta.IsStatusConditionTrue(in.read.Conditions, kind)
}

// isArchived says whether nothing is left to be archived. What is not known to be wanted
// may be.
func (in *inputs) isArchived() bool {
	k := &in.seen.Keeping
	return !k.Wanted.Unknown && (!k.Wanted.Archived || in.settled(&k.Archive, v1alpha1.ConditionArchived))
}

// isAnnounced says whether nothing is left to be announced.
func (in *inputs) isAnnounced() bool {
	k := &in.seen.Keeping
	return !k.Wanted.Announced || in.settled(&k.Announce, v1alpha1.ConditionAnnounced) || in.isOldNews()
}

// expire deletes a LoadTest whose time to live is over, once its results are kept or have
// been waited for.
func (r *run) expire(ttl time.Duration) {
	if r.deleteAfter(ttl) == JobKeep {
		return
	}
	archived := r.isArchived()
	if archived && r.isAnnounced() || r.deleteAfter(ttl+r.seen.Keeping.Wanted.Wait) == JobDelete {
		r.out.Delete, r.out.Unkept = true, !archived
	}
}

// WaitedFor is the instant until which a finished run is not deleted to make room for
// others, as its results are to be archived or its verdict announced; zero: it may be.
func WaitedFor(lt *v1alpha1.LoadTest, wanted policy.Results) time.Time {
	in := &inputs{read: lt.Status, seen: Observed{Keeping: Keeping{Wanted: wanted}}}
	if !Finished(lt) || in.isArchived() && in.isAnnounced() {
		return time.Time{}
	}
	return in.endedAt().Add(wanted.Wait)
}
