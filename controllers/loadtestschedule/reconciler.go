package loadtestschedule

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtestschedule/decision"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/controllers/writes"
)

// +kubebuilder:rbac:groups=loadtest.dev,resources=loadtestschedules,verbs=get;list;watch
// +kubebuilder:rbac:groups=loadtest.dev,resources=loadtestschedules/status,verbs=patch
// +kubebuilder:rbac:groups=loadtest.dev,resources=loadtests,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconciler starts the LoadTests of LoadTestSchedules.
type Reconciler struct {
	Client client.Client
	// Uncached reads what is not worth a cache, or must be read anew. Default: the
	// manager's.
	Uncached client.Reader
	Recorder events.EventRecorder
	Clock    clock.PassiveClock
	// Policy is what the administrator allows now.
	Policy func() *policy.Policy
	// RunsRead says whether all LoadTests have been read: before, no schedule starts or deletes any,
	// since it would not know the others. Then, PolicyChanged is to be called. Nil: they have been.
	RunsRead func() bool

	notes notes
	queue queue
	// listOwned has the cache list the LoadTests of a schedule; nil: all of its namespace.
	listOwned func(types.UID) client.ListOption
}

const (
	// passesAtOnce is how many schedules are reconciled at the same time: a hundred that
	// are due at the same minute start within seconds.
	passesAtOnce = 4
	// passTimeout bounds a pass. It is less than a LoadTest is kept at least, so that a pass
	// that was held up creates none that was there before.
	passTimeout = 35 * time.Second
	// firstRetry and lastRetry bound the back-off of a pass that failed.
	firstRetry = 100 * time.Millisecond
	lastRetry  = 30 * time.Second
	// onConflict is the wait for the cache when it was behind.
	onConflict = 100 * time.Millisecond
)

// ownerField is an index of the cache: the LoadTests by the UID of their schedule.
const ownerField = "schedule"

// SetupWithManager has the reconciler called when a schedule changes, and when a LoadTest
// of one appears, finishes or goes.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	if r.Uncached == nil {
		r.Uncached = mgr.GetAPIReader()
	}
	byOwner := func(o client.Object) []string {
		if uid := ownerOf(o); uid != "" {
			return []string{string(uid)}
		}
		return nil
	}
	if err := mgr.GetFieldIndexer().IndexField(context.Background(), &v1beta1.LoadTest{}, ownerField, byOwner); err != nil {
		return fmt.Errorf("index the LoadTests of schedules: %w", err)
	}
	r.listOwned = func(uid types.UID) client.ListOption { return client.MatchingFields{ownerField: string(uid)} }
	return ctrl.NewControllerManagedBy(mgr).
		For(&v1beta1.LoadTestSchedule{}).
		WithOptions(controller.Options{
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, lastRetry),
			ReconciliationTimeout:   passTimeout,
			MaxConcurrentReconciles: passesAtOnce,
		}).
		Owns(&v1beta1.LoadTest{}, builder.WithPredicates(milestones)).
		WatchesRawSource(source.Func(r.queue.start)).
		Complete(r)
}

// milestones are what a schedule reads of a LoadTest, whose status changes every
// second while it runs.
var milestones = predicate.Funcs{
	UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*v1beta1.LoadTest)
		after, okAfter := e.ObjectNew.(*v1beta1.LoadTest)
		return ok && okAfter && (lifecycle.Finished(before) != lifecycle.Finished(after) ||
			before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero() || kept(before) != kept(after))
	},
}

// kept counts what was done to keep the results of a run, for which its deletion waits.
func kept(lt *v1beta1.LoadTest) (n int) {
	for _, kind := range []string{v1beta1.ConditionArchived, v1beta1.ConditionAnnounced} {
		if meta.IsStatusConditionTrue(lt.Status.Conditions, kind) {
			n++
		}
	}
	return n
}

// PolicyChanged has every schedule reconciled.
func (r *Reconciler) PolicyChanged(ctx context.Context) error {
	var list v1beta1.LoadTestScheduleList
	if err := r.Client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list LoadTestSchedules: %w", err)
	}
	for i := range list.Items {
		r.queue.add(client.ObjectKeyFromObject(&list.Items[i]))
	}
	return nil
}

// Reconcile is one pass over one schedule.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	s := &v1beta1.LoadTestSchedule{}
	err := r.Client.Get(ctx, req.NamespacedName, s)
	if client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, fmt.Errorf("get LoadTestSchedule: %w", err)
	}
	if err != nil || !s.DeletionTimestamp.IsZero() {
		r.notes.drop(req.NamespacedName) // its LoadTests go by garbage collection
		return ctrl.Result{}, nil
	}
	if r.RunsRead != nil && !r.RunsRead() {
		return ctrl.Result{}, nil
	}
	result, err := r.pass(ctx, s, r.notes.get(s))
	if errors.Is(err, errBehind) || apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: onConflict}, nil
	}
	return result, err
}

// pass observes, decides, creates, reports and deletes. Nothing is deleted before the status
// has that it was started.
func (r *Reconciler) pass(ctx context.Context, s *v1beta1.LoadTestSchedule, note *note) (ctrl.Result, error) {
	now := r.Clock.Now()
	seen, err := r.observe(ctx, s, note, now)
	if err != nil {
		return ctrl.Result{}, err
	}
	before := *note
	next := decision.Decide(s, seen, now)
	if err := r.begin(ctx, s, &next, note, now); err != nil {
		return ctrl.Result{}, err
	}
	if err := r.report(ctx, s, &next); err != nil {
		return ctrl.Result{}, err
	}
	if err := r.replace(ctx, s, &next, note, now); err != nil {
		return ctrl.Result{}, err
	}
	if err := r.deleteAll(ctx, next.Expired); err != nil {
		return ctrl.Result{}, err
	}
	if *note != before {
		return ctrl.Result{RequeueAfter: time.Millisecond}, nil // the next pass observes it
	}
	return ctrl.Result{RequeueAfter: next.RequeueAfter}, nil
}

// report writes the status if it changed, and emits events after.
func (r *Reconciler) report(ctx context.Context, s *v1beta1.LoadTestSchedule, d *decision.Decision) error {
	if equality.Semantic.DeepEqual(s.Status, d.Status) {
		return nil
	}
	next := s.DeepCopy()
	next.Status = d.Status
	// The lock makes a decision from a stale cache fail instead of overwriting what is newer.
	patch := client.MergeFromWithOptions(s, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Status().Patch(ctx, next, patch, client.FieldOwner(writes.FieldManager)); err != nil {
		return client.IgnoreNotFound(fmt.Errorf("patch status: %w", err))
	}
	for _, e := range d.Events {
		kind := corev1.EventTypeNormal
		if e.Warning {
			kind = corev1.EventTypeWarning
		}
		r.Recorder.Eventf(s, nil, kind, e.Reason, "Schedule", "%s", e.Message)
	}
	return nil
}
