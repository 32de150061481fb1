package loadtest

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/desired"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/firstread"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/question/prometheus"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/resultkeeper"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/targetaccess"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/targetstate/podreader"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/targetstate/usagereader"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

// +kubebuilder:rbac:groups=loadtest.dev,resources=loadtests,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups=loadtest.dev,resources=loadtests/status,verbs=patch
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups="",resources=pods,verbs=list;watch
// +kubebuilder:rbac:groups="",resources=services,verbs=get
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=create
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;list;patch

// reasonDeleteRefused is the reason of an event.
const reasonDeleteRefused = "DeleteRefused"

// Workers is what the reconciler needs of the coordinator.
type Workers interface {
	Direct(coordinator.RunID, exchange.Directive)
	Observe(coordinator.RunID) exchange.Observation
	Forget(coordinator.RunID)
}

// Reconciler carries LoadTests out, from their creation to their end.
type Reconciler struct {
	Client client.Client
	// Uncached reads what is not worth a cache. Default: the manager's.
	Uncached client.Reader
	Recorder events.EventRecorder
	Clock    clock.PassiveClock
	Workers  Workers
	Runs     *Runs
	// Policy is what the administrator allows now.
	Policy func() *policy.Policy
	// Namespace is the operator's own.
	Namespace string
	// Children is what the Jobs that are made now have in common.
	Children func() desired.Config
	// TargetAccess checks what targets lead to before workers are told of them, and again
	// while a run goes on; nil: it is not checked.
	TargetAccess *targetaccess.Checker
	// TargetPods reads the pods behind the Services of targets; nil: they are not read.
	TargetPods *podreader.Reader
	// TargetUsage reads what they use; nil: that is not read.
	TargetUsage *usagereader.Reader
	// Prometheus asks the administrator's; nil: it is not asked.
	Prometheus *prometheus.Asker
	// Metrics may be nil.
	Metrics *Metrics
	// Reading is that of the LoadTests that have not begun: none begins before it is complete,
	// since the queue would not know the others. Then, PolicyChanged is to be called. Nil: they
	// have been read.
	Reading *firstread.Reading
	// Finished is called once the last status of a run has been written. It may be nil.
	Finished func(types.UID, *v1beta1.LoadTestStatus)
	// Keeper keeps the results of finished runs; nil: none are kept.
	Keeper *resultkeeper.Keeper

	notes  notes
	budget budget
	delays delays
	line   line
	// listUnfinished has the cache list the LoadTests that have not ended; nil: all.
	listUnfinished []client.ListOption
}

// passesAtOnce is how many LoadTests are reconciled at the same time. A pass takes about
// 10 ms, most of it for the API server; one that is slow, by a large merge or an
// admission webhook, must not make the others miss the instants at which steps begin.
const passesAtOnce = 16

// passTimeout bounds a pass, so that an API server that does not answer holds up none
// of the others. An admission webhook may take 30 s.
const passTimeout = 35 * time.Second

// SetupWithManager has the reconciler called when a LoadTest, its Job, one of
// its pods or (by Runs) one of its workers changes.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	if r.Uncached == nil {
		r.Uncached = mgr.GetAPIReader()
	}
	if err := mgr.GetFieldIndexer().IndexField(context.Background(), &v1beta1.LoadTest{}, unfinishedField, indexUnfinished); err != nil {
		return fmt.Errorf("index the LoadTests that have not ended: %w", err)
	}
	r.listUnfinished = []client.ListOption{client.MatchingFields{unfinishedField: unfinishedYes}}
	return ctrl.NewControllerManagedBy(mgr).
		For(&v1beta1.LoadTest{}).
		WithOptions(r.options()).
		Owns(&batchv1.Job{}).
		Watches(&v1beta1.LoadTest{}, handler.EnqueueRequestsFromMapFunc(requestsOfLoads), builder.WithPredicates(milestones)).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(requestOfPod)).
		WatchesRawSource(source.Func(r.Runs.start)).
		Complete(r)
}

func (r *Reconciler) options() controller.Options {
	return controller.Options{
		RateLimiter:             newRetries(&r.notes, r.Clock),
		ReconciliationTimeout:   passTimeout,
		MaxConcurrentReconciles: passesAtOnce,
	}
}

// PolicyChanged has every LoadTest reconciled that is not finished, or whose results it may
// concern.
func (r *Reconciler) PolicyChanged(ctx context.Context) error {
	var list v1beta1.LoadTestList
	if err := r.Client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list LoadTests: %w", err)
	}
	var names []types.NamespacedName
	for i := range list.Items {
		if lt := &list.Items[i]; !lifecycle.Finished(lt) || r.Keeper.Concerns(lt, r.Policy()) {
			names = append(names, client.ObjectKeyFromObject(lt))
		}
	}
	r.Runs.Enqueue(names)
	return nil
}

// Reconcile is one pass over one LoadTest. A pass that panics says so in the note, and
// stops no other.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (_ ctrl.Result, err error) {
	note := r.notes.get(req.NamespacedName)
	defer func() {
		if cause := recover(); cause != nil {
			r.Metrics.panicked()
			err = note.refusals.panicked(cause, debug.Stack())
		}
	}()
	inForce := r.Policy() // of the whole pass, whatever changes meanwhile
	lt, err := r.read(ctx, r.Client, req.NamespacedName)
	if err == nil && lt != nil && isToBegin(lt) {
		if !r.Reading.Complete() {
			return ctrl.Result{}, nil
		}
		if result, waits, err := r.goesOnWaiting(ctx, lt, inForce, note); waits || err != nil {
			return result, err
		}
		lt, err = r.read(ctx, r.Uncached, req.NamespacedName)
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	if lt == nil || !lt.DeletionTimestamp.IsZero() {
		// Its children go by garbage collection once it is gone. Memory is to be freed, and its Job if it stays for a while.
		r.forget(req.NamespacedName)
		r.Keeper.Forget(note.uid)
		r.notes.drop(req.NamespacedName)
		return ctrl.Result{}, errors.Join(r.settle(ctx, note.uid, inForce, r.Clock.Now()), r.deleteJob(ctx, lt))
	}
	if note.uid != lt.UID {
		r.Keeper.Forget(note.uid)
	}
	note.reset(lt)
	result, err := r.carryOut(ctx, lt, inForce, note)
	note.refusals.panics = 0
	return result, err
}

// read reads a LoadTest; it is nil when it is gone.
func (r *Reconciler) read(ctx context.Context, from client.Reader, name types.NamespacedName) (*v1beta1.LoadTest, error) {
	lt := &v1beta1.LoadTest{}
	err := from.Get(ctx, name, lt)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("get LoadTest: %w", err)
	}
	return lt, nil
}

// deleteJob deletes the workers of a LoadTest that is deleted and that a finalizer keeps: it has no place in the queue any more.
// nil: it is gone.
func (r *Reconciler) deleteJob(ctx context.Context, lt *v1beta1.LoadTest) error {
	if lt == nil {
		return nil
	}
	job := &batchv1.Job{}
	err := r.Client.Get(ctx, client.ObjectKeyFromObject(lt), job)
	if err == nil && metav1.IsControlledBy(job, lt) {
		err = r.Client.Delete(ctx, job, client.PropagationPolicy("Background"), client.Preconditions{UID: &job.UID})
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete Job: %w", err)
	}
	return nil
}

// forget frees what is held in memory of a LoadTest's runs.
func (r *Reconciler) forget(name types.NamespacedName) {
	for _, run := range r.Runs.Forget(name) {
		r.Workers.Forget(run)
	}
}
