package lifecycle

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

// Keep asks to archive the results of a finished run, or to announce its verdict, beside the
// passes: it may take a minute, and fail.
type Keep struct{ Archive, Announce bool }

// Keeping is what becomes of the results of a finished run, and how far this process is. The
// zero value wants nothing.
type Keeping struct {
	Wanted            policy.Results
	Archive, Announce Effort
}

// Effort is the outcome of this process's attempts.
type Effort struct {
	UnderWay bool
	// Done is a sentence that says what was done; "": nothing yet.
	Done string
	// Failed is why the latest attempt failed, as the end of a sentence, and At is when.
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

// retryAt is the instant of the next attempt.
func (e *Effort) retryAt() time.Time {
	return e.At.Add(min(firstKeepRetry<<min(max(e.Attempts-1, 0), 10), lastKeepRetry))
}

// archive writes what came of archiving the results, and asks for an attempt that is due.
func (r *finished) archive() (goesOn bool) {
	if k := &r.seen.Keeping; k.Wanted.Archived && r.loadsArchived() {
		r.out.Keep.Archive = r.pursue(&k.Archive, archiving)
	}
	return true
}

// loadsArchived says whether the results of all loads are archived: they are deleted with the LoadTest that
// has the loads, which is kept until it is archived itself.
func (r *finished) loadsArchived() bool {
	return !slices.ContainsFunc(r.ownLoads(), func(lt *v1beta1.LoadTest) bool {
		return !meta.IsStatusConditionTrue(lt.Status.Conditions, v1beta1.ConditionArchived)
	})
}

// ownLoads are the LoadTests of loads that are still there. One that only has the name of such is none.
func (r *finished) ownLoads() (list []*v1beta1.LoadTest) {
	for i, l := range r.seen.Loads {
		if l.Test != nil && i < len(r.read.Loads) && string(l.Test.UID) == r.read.Loads[i].UID {
			list = append(list, l.Test)
		}
	}
	return list
}

// announce does the same for the verdict. That of a load is part of another. It is announced after the first attempt to archive
// it, or one of its loads, so that the message can name what is there, and not once the wait for it is over:
// an old verdict is no news.
func (r *finished) announce() (goesOn bool) {
	k := &r.seen.Keeping
	tried := !k.Wanted.Archived || k.Archive.Attempts > 0 || r.settled(&k.Archive, v1beta1.ConditionArchived) ||
		slices.ContainsFunc(r.ownLoads(), func(lt *v1beta1.LoadTest) bool {
			return meta.IsStatusConditionFalse(lt.Status.Conditions, v1beta1.ConditionArchived)
		})
	if k.Wanted.Announced && tried && !r.isOldNews() && ParentName(r.test) == "" {
		r.out.Keep.Announce = r.pursue(&k.Announce, announcing)
	}
	return true
}

// forgetFailures removes the condition of an effort that failed and is no longer wanted: no
// attempt follows. What was done stays.
func (r *finished) forgetFailures() (goesOn bool) {
	wanted := r.seen.Keeping.Wanted
	for kind, of := range map[string]bool{v1beta1.ConditionArchived: wanted.Archived, v1beta1.ConditionAnnounced: wanted.Announced} {
		if !of && !wanted.Unknown && meta.IsStatusConditionFalse(r.read.Conditions, kind) {
			meta.RemoveStatusCondition(&r.out.Status.Conditions, kind)
		}
	}
	return true
}

func (r *inputs) isOldNews() bool {
	return !r.now.Before(r.endedAt().Add(r.seen.Keeping.Wanted.Wait))
}

// said is the condition of an effort, with its reasons and the message of a failure.
type said struct{ kind, done, failed, failure string }

var (
	archiving  = said{v1beta1.ConditionArchived, v1beta1.ReasonArchived, v1beta1.ReasonArchiveFailed, "The results could not be archived: %s."}
	announcing = said{v1beta1.ConditionAnnounced, v1beta1.ReasonAnnounced, v1beta1.ReasonAnnouncementFailed, "The webhook did not accept the verdict: %s."}
)

// pursue writes what came of an effort, and says whether an attempt is due.
func (r *finished) pursue(e *Effort, s said) (due bool) {
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

// tell sets a condition, and emits an event if it is new.
func (r *finished) tell(kind string, status metav1.ConditionStatus, reason, message string) {
	if c := meta.FindStatusCondition(r.read.Conditions, kind); c == nil || c.Status != status || c.Message != message {
		if status == metav1.ConditionTrue {
			r.event(reason, message)
		} else {
			r.warn(reason, message)
		}
	}
	r.set(kind, status, reason, message)
}

// settled says whether an effort has succeeded.
func (r *inputs) settled(e *Effort, kind string) bool {
	return e.Done != "" || meta.IsStatusConditionTrue(r.read.Conditions, kind)
}

// isArchived says whether nothing is left to archive. Results of which it is not known
// whether they are wanted count as wanted.
func (r *inputs) isArchived() bool {
	k := &r.seen.Keeping
	return !k.Wanted.Unknown && (!k.Wanted.Archived || r.settled(&k.Archive, v1beta1.ConditionArchived))
}

// isAnnounced says whether nothing is left to announce.
func (r *inputs) isAnnounced() bool {
	k := &r.seen.Keeping
	return !k.Wanted.Announced || r.settled(&k.Announce, v1beta1.ConditionAnnounced) || r.isOldNews()
}

// expire deletes a LoadTest whose time to live is over, once its results are kept or the wait
// for them is over.
func (r *finished) expire() (goesOn bool) {
	if r.spec.TTLSecondsAfterFinished == nil {
		return true
	}
	ttl := time.Duration(*r.spec.TTLSecondsAfterFinished) * time.Second
	if !r.waitPast(ttl) {
		return true
	}
	archived := r.isArchived()
	if archived && r.isAnnounced() || r.waitPast(ttl+r.seen.Keeping.Wanted.Wait) {
		r.out.Delete, r.out.Unkept = true, !archived
	}
	return true
}

// WaitedFor is the instant until which a finished run is not deleted to make room for
// others, since its results are not archived or its verdict not announced yet; zero: it may
// be deleted.
func WaitedFor(lt *v1beta1.LoadTest, wanted policy.Results) time.Time {
	in := &inputs{read: lt.Status, seen: Observed{Keeping: Keeping{Wanted: wanted}}}
	if !Finished(lt) || in.isArchived() && in.isAnnounced() {
		return time.Time{}
	}
	return in.endedAt().Add(wanted.Wait)
}
