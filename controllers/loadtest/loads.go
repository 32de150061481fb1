package loadtest

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/writes"
)

// uncreated is why the LoadTest of a load was not created.
type uncreated struct {
	refused *lifecycle.Refusal
	taken   bool
}

// observeLoads reads the LoadTests of spec.loads, and of a load the one that has it.
func (p *pass) observeLoads(ctx context.Context) error {
	if name := lifecycle.ParentName(p.lt); name != "" {
		parent, err := p.read(ctx, p.Client, types.NamespacedName{Namespace: p.lt.Namespace, Name: name})
		if err != nil {
			return err
		}
		p.seen.Parent = lifecycle.ParentOf(p.lt, parent)
	}
	loads := p.lt.Status.Loads
	p.seen.Loads = make([]lifecycle.LoadSeen, len(loads))
	for i := range loads {
		one, err := p.read(ctx, p.Client, types.NamespacedName{Namespace: p.lt.Namespace, Name: loads[i].Test})
		if err != nil {
			return err
		}
		if gone := one == nil || string(one.UID) != loads[i].UID; gone && loads[i].UID != "" && loads[i].Verdict == "" {
			// The cache may not have it yet.
			if one, err = p.read(ctx, p.Uncached, types.NamespacedName{Namespace: p.lt.Namespace, Name: loads[i].Test}); err != nil {
				return err
			}
		}
		why := p.note.uncreated[loads[i].Name]
		p.seen.Loads[i] = lifecycle.LoadSeen{Test: one, Refused: why.refused, Taken: why.taken}
	}
	if !lifecycle.NeedsResults(p.lt) {
		return nil
	}
	for i := range p.seen.Loads { // the cache has no results of what has ended
		if err := p.readWhole(ctx, &p.seen.Loads[i], loads[i].Test); err != nil {
			return err
		}
	}
	return nil
}

// readWhole reads a LoadTest of a load with its results.
func (p *pass) readWhole(ctx context.Context, seen *lifecycle.LoadSeen, name string) error {
	whole, err := p.read(ctx, p.Uncached, types.NamespacedName{Namespace: p.lt.Namespace, Name: name})
	if err != nil {
		return err
	}
	seen.Test, seen.Whole = whole, whole != nil && lifecycle.Finished(whole)
	return nil
}

// createLoads creates LoadTests of loads, and writes their UIDs into the status that is to be written.
func (p *pass) createLoads(ctx context.Context) error {
	for _, one := range p.decision.CreateLoads {
		load := loadOf(p.decision.Status.Loads, one.Name)
		err := p.createLoad(ctx, load, one)
		if apierrors.IsAlreadyExists(err) {
			err = p.takeLoad(ctx, load, one)
		}
		if refusal, refused := refusedBy(err, p.now); refused {
			p.Metrics.refused(refusedLoad)
			p.note.notCreated(load.Name, uncreated{refused: refusal})
			continue
		}
		if err != nil {
			return fmt.Errorf("create the LoadTest of load %s: %w", load.Name, err)
		}
	}
	return nil
}

func (p *pass) createLoad(ctx context.Context, load *v1beta1.LoadStatus, one *v1beta1.LoadTest) error {
	err := p.Client.Create(ctx, one, client.FieldOwner(writes.FieldManager))
	if err == nil {
		load.UID = string(one.UID)
	}
	return err
}

const isBeingDeleted = "one that was created for the load is being deleted; see its finalizers if it stays."

// takeLoad takes the LoadTest that has the name of a load's, if it is the load's: this process, or the one before it, may
// have ended before it wrote the UID, and the run may have given its place back.
func (p *pass) takeLoad(ctx context.Context, load *v1beta1.LoadStatus, one *v1beta1.LoadTest) error {
	there, err := p.read(ctx, p.Uncached, client.ObjectKeyFromObject(one))
	switch {
	case err != nil:
		return err
	case there == nil: // it was deleted a moment ago
	case isLeftOverLoad(p.lt, there):
		p.refuseLoad(load, "one of an earlier LoadTest "+p.lt.Name+" is still there, until the API server removes it; delete it if it stays.")
	case !metav1.IsControlledBy(there, p.lt):
		p.note.notCreated(load.Name, uncreated{taken: true})
	case !there.DeletionTimestamp.IsZero():
		p.refuseLoad(load, isBeingDeleted)
	case lifecycle.IsLoad(&there.Spec, p.lt, one.Name):
		load.UID = string(there.UID)
	case there.Status.StartTime != nil || lifecycle.Finished(there):
		p.refuseLoad(load, "it is there as the spec was before it was changed, or was edited itself, and has begun or ended; delete it, and it is created again.")
	default:
		return p.replaceLoad(ctx, load, one, there)
	}
	return nil
}

// replaceLoad creates the LoadTest of a load in place of one that has not begun, and that is as the spec was before it was
// changed, or was edited itself: its run would be refused.
func (p *pass) replaceLoad(ctx context.Context, load *v1beta1.LoadStatus, one, there *v1beta1.LoadTest) error {
	err := p.Client.Delete(ctx, there, client.PropagationPolicy("Background"), client.Preconditions{UID: &there.UID, ResourceVersion: &there.ResourceVersion})
	if client.IgnoreNotFound(err) == nil {
		one.Spec.Suspend, one.Spec.Terminate = there.Spec.Suspend, there.Spec.Terminate // as its user asked for
		err = p.createLoad(ctx, load, one)
	}
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) { // it has changed since, or a finalizer keeps it
		p.refuseLoad(load, isBeingDeleted)
		return nil
	}
	return err
}

// refuseLoad notes why a LoadTest cannot be created now.
func (p *pass) refuseLoad(load *v1beta1.LoadStatus, message string) {
	p.note.notCreated(load.Name, uncreated{refused: &lifecycle.Refusal{Message: message, At: p.now}})
}

// isLeftOverLoad says whether a LoadTest carries out a load of an earlier LoadTest of that name, and goes with
// the garbage collection (see isLeftOver). Whoever forges an owner has the run wait until its start deadline.
func isLeftOverLoad(lt, there *v1beta1.LoadTest) bool {
	return lifecycle.ParentName(there) == lt.Name && !metav1.IsControlledBy(there, lt)
}

// loadOf is the load that a LoadTest carries out.
func loadOf(loads []v1beta1.LoadStatus, test string) *v1beta1.LoadStatus {
	for i := range loads {
		if loads[i].Test == test {
			return &loads[i]
		}
	}
	return &v1beta1.LoadStatus{} // not reached: the decision creates those of its status
}

// notCreated notes why the LoadTest of a load was not created, for the next pass.
func (n *note) notCreated(load string, why uncreated) {
	if n.uncreated == nil {
		n.uncreated = map[string]uncreated{}
	}
	n.uncreated[load], n.loadRefused = why, true
}

// requestsOfLoads are the LoadTests that read something of one that has changed: the one that has it
// among its loads, and its loads.
func requestsOfLoads(_ context.Context, o client.Object) []reconcile.Request {
	lt, ok := o.(*v1beta1.LoadTest)
	if !ok {
		return nil
	}
	var list []reconcile.Request
	add := func(name string) {
		list = append(list, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: lt.Namespace, Name: name}})
	}
	if name := lifecycle.ParentName(lt); name != "" {
		add(name)
	}
	for i := range lt.Status.Loads {
		add(lt.Status.Loads[i].Test)
	}
	return list
}

// milestones are what loads, and those that have them, read of each other: their statuses change every
// second while they run.
var milestones = predicate.Funcs{
	UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*v1beta1.LoadTest)
		after, okAfter := e.ObjectNew.(*v1beta1.LoadTest)
		return ok && okAfter && (isAskedAnew(&before.Spec, &after.Spec) || isFurther(before, after))
	},
}

// isAskedAnew says whether what loads read of the spec of the LoadTest that has them has changed.
func isAskedAnew(before, after *v1beta1.LoadTestSpec) bool {
	return before.Suspend != after.Suspend || !ptr.Equal(before.StartDeadlineSeconds, after.StartDeadlineSeconds)
}

// isFurther says whether what they read of each other's status has changed.
func isFurther(before, after *v1beta1.LoadTest) bool {
	return lifecycle.Finished(before) != lifecycle.Finished(after) ||
		before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero() ||
		before.Status.Phase != after.Status.Phase ||
		(before.Status.Internal.StopTime == nil) != (after.Status.Internal.StopTime == nil) ||
		lifecycle.HasWorkers(before) != lifecycle.HasWorkers(after) || !equality.Semantic.DeepEqual(lifecycle.Blocked(before), lifecycle.Blocked(after)) ||
		conditionChanged(before, after, v1beta1.ConditionSuspended) || conditionChanged(before, after, v1beta1.ConditionArchived) ||
		!equality.Semantic.DeepEqual(before.Status.Loads, after.Status.Loads)
}

// conditionChanged says whether a condition has another status, or came or went.
func conditionChanged(before, after *v1beta1.LoadTest, kind string) bool {
	was, is := meta.FindStatusCondition(before.Status.Conditions, kind), meta.FindStatusCondition(after.Status.Conditions, kind)
	return (was == nil) != (is == nil) || was != nil && was.Status != is.Status
}
