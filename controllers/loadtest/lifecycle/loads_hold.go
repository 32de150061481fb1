package lifecycle

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

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
		return true
	}
	if r.hasGivenBack() {
		r.suspend(v1beta1.ReasonSuspended, heldBySpec)
		return false
	}
	r.suspended(v1beta1.ReasonSuspended, heldLoads)
	since, ok := r.heldSince()
	if !ok {
		return false
	}
	s.Phase = v1beta1.PhaseSuspended
	if limit := r.rules.Limits.Held; limit > 0 {
		end := since.Add(limit)
		if !r.now.Before(end) {
			s.Internal.StopCause = &v1beta1.StopCause{Reason: v1beta1.ReasonHeldTooLong, Message: fmt.Sprintf(
				"spec.suspend held the run for %s, as long as a run of namespace %s may be held with its place.", text.Whole(limit), r.test.Namespace)}
			r.stopLoads()
			return false
		}
		r.wake(end)
	}
	return false
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

// heldSince is the instant since which nothing is sent; ok is false while a load is sent, to the end of its
// step.
func (r *sideBySide) heldSince() (since time.Time, ok bool) {
	s := &r.out.Status
	since = meta.FindStatusCondition(s.Conditions, v1beta1.ConditionSuspended).LastTransitionTime.Time
	for i := range s.Loads {
		if ended := s.Loads[i].CompletionTime; ended != nil {
			since = instant.Later(since, ended.Time)
			continue
		}
		test := r.testOf(i)
		switch {
		case test == nil:
		case test.Status.Phase == v1beta1.PhaseRunning:
			return time.Time{}, false
		case meta.IsStatusConditionTrue(test.Status.Conditions, v1beta1.ConditionSuspended):
			since = instant.Later(since, meta.FindStatusCondition(test.Status.Conditions, v1beta1.ConditionSuspended).LastTransitionTime.Time)
		}
	}
	return since, true
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
