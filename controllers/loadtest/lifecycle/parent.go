package lifecycle

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/instant"
)

// Parent is what a load reads of the LoadTest that has it among its spec.loads.
type Parent struct {
	// Name is that LoadTest.
	Name string
	// Lists says that it has this load, Strange that it has other loads in its place. Differs says that this one
	// was edited before it began: it is not what is asked for, nor what the run has a place for.
	Lists, Strange, Differs bool
	// Workers is how many workers all of its loads have together.
	Workers int32
	// StartDeadline is its spec.startDeadlineSeconds, which may have been changed since the load was created.
	StartDeadline *int64
	// Begin is the instant at which the first step begins; nil: it is not known yet.
	Begin *time.Time
	// Suspends and Ends say that it holds, or ends, its loads.
	Suspends, Ends bool
	// Background says that it ends this one as was planned, once all loads have ended that are not in the
	// background.
	Background bool
}

// ParentName is the LoadTest that has this one among its spec.loads, by its owner; "": there is none.
func ParentName(lt *v1beta1.LoadTest) string {
	owner := metav1.GetControllerOf(lt)
	if owner == nil || owner.Kind != "LoadTest" || owner.APIVersion != v1beta1.GroupVersion.String() {
		return ""
	}
	return owner.Name
}

// ParentOf is what a load reads of that LoadTest; nil: there is none, and the load is a run by itself.
// parent is nil if it does not exist, as before the garbage collection of its loads.
func ParentOf(lt, parent *v1beta1.LoadTest) *Parent {
	name := ParentName(lt)
	if name == "" {
		return nil
	}
	p := &Parent{Name: name}
	if parent == nil || !metav1.IsControlledBy(lt, parent) {
		return p
	}
	if beginsNoMore(parent) {
		p.Lists, p.Ends = true, true
		return p
	}
	// It holds its loads until it has chosen anew when they begin.
	p.Suspends = parent.Spec.Suspend || meta.IsStatusConditionTrue(parent.Status.Conditions, v1beta1.ConditionSuspended)
	p.Ends = parent.Status.Internal.StopTime != nil
	i := slices.IndexFunc(parent.Status.Loads, func(l v1beta1.LoadStatus) bool { return l.Test == lt.Name })
	switch {
	case i >= 0 && parent.Status.Loads[i].UID == string(lt.UID):
		p.Lists, p.Background = true, parent.Status.Loads[i].Ended
		p.StartDeadline, p.Workers = parent.Spec.StartDeadlineSeconds, parent.Status.Workers.Desired
		// What was never edited may be what an operator of another version made.
		p.Differs = lt.Generation > 1 && lt.Status.StartTime == nil && !p.Ends && !IsLoad(&lt.Spec, parent, lt.Name)
		if begin := parent.Status.Loads[i].BeginTime; begin != nil {
			p.Begin = &begin.Time
		}
	default:
		p.Strange = isAnother(parent, i)
		switch begun := lt.Status.StartTime != nil; {
		case begun && p.Strange: // it was given an owner once it had begun
			return nil
		case begun: // as the run gave its place back, which may list it again
			p.Suspends = true
		}
	}
	return p
}

// beginsNoMore says whether a LoadTest begins no load any more: it has finished, or is deleted and kept by a finalizer.
func beginsNoMore(parent *v1beta1.LoadTest) bool {
	return Finished(parent) || !parent.DeletionTimestamp.IsZero()
}

// isAnother says whether a LoadTest has another load than one that it does not list, in the place with an index, which is
// negative if it has none of that name.
func isAnother(parent *v1beta1.LoadTest, i int) bool {
	return parent.Status.StartTime != nil && (i < 0 || parent.Status.Loads[i].UID != "")
}

// IsLoad says whether the spec of a load is what its LoadTest asks for, but for what holds, ends or deletes
// a run, which may be changed at any time.
func IsLoad(spec *v1beta1.LoadTestSpec, parent *v1beta1.LoadTest, test string) bool {
	i := slices.IndexFunc(parent.Spec.Loads, func(l v1beta1.Load) bool { return plan.LoadName(parent.Name, l.Name) == test })
	if i < 0 {
		return false
	}
	is, asked := *spec, *plan.LoadSpec(&parent.Spec, i)
	for _, s := range []*v1beta1.LoadTestSpec{&is, &asked} {
		s.Suspend, s.Terminate, s.StartDeadlineSeconds, s.ActiveDeadlineSeconds, s.TTLSecondsAfterFinished = false, false, nil, nil, nil
	}
	return equality.Semantic.DeepEqual(is, asked)
}

// specOf is the spec by which a load is carried out: what holds or ends the LoadTest that has it, holds
// and ends it.
func specOf(lt *v1beta1.LoadTest, p *Parent) *v1beta1.LoadTestSpec {
	if p == nil {
		return &lt.Spec
	}
	spec := lt.Spec
	spec.Suspend, spec.Terminate = spec.Suspend || p.Suspends, spec.Terminate || p.Ends
	if p.StartDeadline != nil {
		spec.StartDeadlineSeconds = p.StartDeadline
	}
	return &spec
}

// awaitParent keeps a load waiting until the LoadTest that has it says so, and refuses one that only
// says so itself: it would have no place in the queue.
func (r *accepting) awaitParent() (goesOn bool) {
	switch p := r.seen.Parent; {
	case p != nil && p.Differs:
		return r.refuse(&plan.Refusal{Reason: v1beta1.ReasonInvalidSpec, Message: "spec: it is not what LoadTest " + p.Name + " has for this load; create that LoadTest again with what you want, and do not edit those of its loads."})
	case p == nil || p.Lists:
		return true
	case p.Strange:
		return r.refuse(&plan.Refusal{Reason: v1beta1.ReasonInvalidSpec, Message: "metadata.ownerReferences: LoadTest " + p.Name + " has not created this one for a load; create it without an owner."})
	}
	return false
}

// mayBegin says whether the first step may begin, and the earliest instant. A load waits for the
// instant that the LoadTest which has it chooses, with its workers ready.
func (r *starting) mayBegin() (at time.Time, ok bool) {
	soonest := r.now.Add(r.lead())
	p := r.seen.Parent
	switch {
	case p == nil:
		return soonest, true
	case p.Begin == nil:
		return time.Time{}, false
	case p.Begin.After(soonest):
		r.wake(p.Begin.Add(-2 * r.lead()))
		return *p.Begin, !r.now.Before(p.Begin.Add(-2 * r.lead()))
	}
	return instant.Later(*p.Begin, soonest), true
}
