package lifecycle

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/instant"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// heldLoads is the message of a run that spec.suspend holds with its loads.
const heldLoads = "spec.suspend holds the run: no load begins, and one that is under way is held before its next step. Set it to false to go on."

// hold keeps loads from beginning while spec.suspend says so. A run of which nothing was sent gives its place back; any
// other keeps it, and ends when it has been held for as long as one of its namespace may be.
func (r *sideBySide) hold() (goesOn bool) {
	s := &r.out.Status
	was := meta.IsStatusConditionTrue(r.read.Conditions, v1beta1.ConditionSuspended)
	if r.hasSentSince() {
		s.Internal.HeldSince = nil
	}
	switch {
	case s.Internal.StopTime != nil:
		return true
	case r.spec.Suspend || was:
		r.takeInstantsBack()
	}
	if !r.spec.Suspend {
		if was {
			r.resumed()
			s.Phase = v1beta1.PhaseStarting
			if r.anyBegun() {
				s.Phase = v1beta1.PhaseRunning
			}
		}
		r.endIfLoadHolds()
		return true
	}
	if r.hasGivenBack() {
		r.suspend(v1beta1.ReasonSuspended, heldBySpec)
		return false
	}
	r.suspended(v1beta1.ReasonSuspended, heldLoads)
	since, ok := r.heldSince(meta.FindStatusCondition(s.Conditions, v1beta1.ConditionSuspended).LastTransitionTime.Time)
	if !ok {
		return false
	}
	s.Phase = v1beta1.PhaseSuspended
	r.endHeldSince(since, "spec.suspend")
	return false
}

// endIfLoadHolds ends a run of which a load is held by itself before its first step, for too long: the others wait for it
// with their workers. One that is held between two steps ends by itself. The time before the run was resumed does not count.
func (r *sideBySide) endIfLoadHolds() {
	for i := range r.out.Status.Loads {
		test := r.testOf(i)
		if test == nil || !test.Spec.Suspend || test.Status.StartTime != nil || r.out.Status.Loads[i].Verdict != "" {
			continue
		}
		c := meta.FindStatusCondition(test.Status.Conditions, v1beta1.ConditionSuspended)
		if c == nil || c.Status != metav1.ConditionTrue {
			continue
		}
		if since, ok := r.heldSince(instant.Later(c.LastTransitionTime.Time, r.resumedAt())); ok {
			r.endHeldSince(since, "spec.suspend of LoadTest "+test.Name)
		}
	}
}

// endHeldSince ends a run that a field has held since an instant, if that is for as long as one of its namespace may be.
func (r *sideBySide) endHeldSince(since time.Time, field string) {
	limit := r.rules.Limits.Held
	if limit <= 0 {
		return
	}
	end := since.Add(limit)
	if r.now.Before(end) {
		r.wake(end)
		return
	}
	r.out.Status.Internal.StopCause = &v1beta1.StopCause{Reason: v1beta1.ReasonHeldTooLong, Message: fmt.Sprintf(
		"%s held the run for %s, as long as a run of namespace %s may be held with its place.", field, text.Whole(limit), r.test.Namespace)}
	r.stopLoads()
}

// hasGivenBack says whether no load has begun, or can begin: each has no LoadTest yet, or has seen that it is held and given
// its workers back.
func (r *sideBySide) hasGivenBack() bool {
	for i := range r.out.Status.Loads {
		l, test := &r.out.Status.Loads[i], r.testOf(i)
		switch {
		case l.Verdict != "" || l.BeginTime != nil:
			return false
		case l.UID == "":
		case test == nil || test.Status.StartTime != nil || !meta.IsStatusConditionTrue(test.Status.Conditions, v1beta1.ConditionSuspended):
			return false
		}
	}
	return true
}

// takeInstantsBack takes back the instants of loads that were held before their first step: they gave their
// workers back, and begin at another instant.
func (r *sideBySide) takeInstantsBack() {
	for i := range r.out.Status.Loads {
		if test := r.testOf(i); test != nil && test.Status.Phase == v1beta1.PhaseSuspended && test.Status.StartTime == nil {
			r.out.Status.Loads[i].BeginTime = nil
		}
	}
}

// heldSince is the instant since which nothing is sent, of a run that is held from an instant; ok is false while a load is
// sent, to the end of its step. Who resumes a run and holds it again before anything is sent does not have it counted anew:
// it could keep its place for ever.
func (r *sideBySide) heldSince(from time.Time) (since time.Time, ok bool) {
	s := &r.out.Status
	if s.Internal.HeldSince != nil {
		return s.Internal.HeldSince.Time, true
	}
	since = from
	for i := range s.Loads {
		if ended := s.Loads[i].CompletionTime; ended != nil {
			since = instant.Later(since, ended.Time)
			continue
		}
		test := r.testOf(i)
		switch {
		case test == nil:
		case isSent(test):
			return time.Time{}, false
		case meta.IsStatusConditionTrue(test.Status.Conditions, v1beta1.ConditionSuspended):
			since = instant.Later(since, meta.FindStatusCondition(test.Status.Conditions, v1beta1.ConditionSuspended).LastTransitionTime.Time)
		}
	}
	s.Internal.HeldSince = &metav1.MicroTime{Time: since}
	return since, true
}

// hasSentSince says whether a load is under way, or began after the run was held and may have ended since.
func (r *sideBySide) hasSentSince() bool {
	s := &r.out.Status
	for i := range s.Loads {
		began := s.Loads[i].BeginTime
		if isSent(r.testOf(i)) || s.Internal.HeldSince != nil && began != nil && began.After(s.Internal.HeldSince.Time) && !r.now.Before(began.Time) {
			return true
		}
	}
	return false
}

// isSent says whether a load is under way: it is not held.
func isSent(test *v1beta1.LoadTest) bool {
	return test != nil && test.Status.Phase == v1beta1.PhaseRunning
}

// resumedAt is the instant at which the run was resumed most recently; zero: it was not held.
func (r *sideBySide) resumedAt() time.Time {
	if c := meta.FindStatusCondition(r.out.Status.Conditions, v1beta1.ConditionSuspended); c != nil {
		return c.LastTransitionTime.Time
	}
	return time.Time{}
}

// bringsWorkersBack says whether one of these loads, whose time has come, does not have its workers again since
// the run was held.
func (r *sideBySide) bringsWorkersBack(due map[int]time.Time) bool {
	for i := range due {
		if !r.resumedAt().IsZero() && !r.isReady(i) {
			return true
		}
	}
	return false
}
