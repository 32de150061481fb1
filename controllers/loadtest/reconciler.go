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
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/desired"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/resultkeeper"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/targetaccess"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/targetstate/podreader"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/controllers/writes"
)

// +kubebuilder:rbac:groups=loadtest.dev,resources=loadtests,verbs=get;list;watch;delete
// +kubebuilder:rbac:groups=loadtest.dev,resources=loadtests/status,verbs=patch
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups="",resources=pods,verbs=list;watch
// +kubebuilder:rbac:groups="",resources=services,verbs=get
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;create
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
	// Children is what the Jobs that are made now have in common.
	Children func() desired.Config
	// TargetAccess checks what targets lead to before workers are told of them, and again
	// while a run goes on; nil: it is not checked.
	TargetAccess *targetaccess.Checker
	// TargetPods reads the pods behind the Services of targets; nil: they are not read.
	TargetPods *podreader.Reader
	// Metrics may be nil.
	Metrics *Metrics
	// Finished is called once the last status of a run has been written. It may be nil.
	Finished func(types.UID, *v1alpha1.LoadTestStatus)
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
	if err := mgr.GetFieldIndexer().IndexField(context.Background(), &v1alpha1.LoadTest{}, unfinishedField, indexUnfinished); err != nil {
		return fmt.Errorf("index the LoadTests that have not ended: %w", err)
	}
	r.listUnfinished = []client.ListOption{client.MatchingFields{unfinishedField: unfinishedYes}}
	return ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.LoadTest{}).
		WithOptions(r.options()).
		Owns(&batchv1.Job{}).
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
	var list v1alpha1.LoadTestList
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
			err = note.panicked(cause, debug.Stack())
		}
	}()
	lt, err := r.read(ctx, req.NamespacedName)
	if err != nil {
		return ctrl.Result{}, err
	}
	inForce := r.Policy() // of the whole pass, whatever changes meanwhile
	if lt == nil || !lt.DeletionTimestamp.IsZero() {
		// Its children go by garbage collection; only memory is left to free.
		r.forget(req.NamespacedName)
		r.Keeper.Forget(note.uid)
		r.notes.drop(req.NamespacedName)
		return ctrl.Result{}, r.settle(ctx, note.uid, inForce, r.Clock.Now())
	}
	if note.uid != lt.UID {
		r.Keeper.Forget(note.uid)
	}
	note.isAbout(lt)
	result, err := r.pass(ctx, lt, inForce, note)
	note.panics = 0
	return result, err
}

// read reads a LoadTest; it is nil when it is gone.
func (r *Reconciler) read(ctx context.Context, name types.NamespacedName) (*v1alpha1.LoadTest, error) {
	lt := &v1alpha1.LoadTest{}
	err := r.Client.Get(ctx, name, lt)
	if err == nil && isHeld(lt) {
		lt = &v1alpha1.LoadTest{}
		err = r.Uncached.Get(ctx, name, lt)
	}
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("get LoadTest: %w", err)
	}
	return lt, nil
}

// pass observes, decides, applies and reports. What cannot be applied is reported all
// the same: a status is of what was observed.
func (r *Reconciler) pass(ctx context.Context, lt *v1alpha1.LoadTest, inForce *policy.Policy, note *note) (ctrl.Result, error) {
	now, before := r.Clock.Now(), *note
	if note.version == lt.ResourceVersion {
		r.delays.add(now, now.Sub(note.written.At))
		note.version = ""
	}
	seen, decision, err := r.decide(ctx, lt, inForce, note, now)
	if err == nil && leaves(lt, seen, decision) {
		err = r.settle(ctx, lt.UID, inForce, now)
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	note.wakeAt = wakeAt(now, decision)
	applied := r.apply(ctx, lt, seen, decision, note, now)
	if decision.Look != nil {
		note.looked = r.TargetPods.Read(ctx, lt, *decision.Look, now)
	}
	if again, err := r.store(ctx, lt, &decision, note, now); again > 0 || err != nil {
		return after(again, errors.Join(applied, err))
	}
	reported := r.report(ctx, lt, decision, note, now)
	if refusal, ok := refusedBy(reported, now); ok {
		r.Metrics.refused(refusedStatus)
		note.statusRefused(refusal, lifecycle.Finished(lt))
	}
	if apierrors.IsConflict(reported) && applied == nil {
		note.conflicts++
		return ctrl.Result{RequeueAfter: onConflict(note.conflicts)}, nil
	}
	if err := errors.Join(applied, reported); err != nil {
		return ctrl.Result{}, err
	}
	note.passed()
	r.Keeper.Keep(ctx, lt, decision, inForce)
	if note.hasMore(&before) || decision.Look != nil {
		return ctrl.Result{RequeueAfter: time.Millisecond}, nil // the next pass observes it
	}
	return ctrl.Result{RequeueAfter: decision.RequeueAfter}, nil
}

// decide observes a run and decides what it does next, or ends it as well as it can be
// ended.
func (r *Reconciler) decide(ctx context.Context, lt *v1alpha1.LoadTest, inForce *policy.Policy, note *note, now time.Time) (lifecycle.Observed, lifecycle.Decision, error) {
	if note.cause != nil {
		seen, _, err := r.observeJob(ctx, lt, note)
		seen.Keeping = r.Keeper.Keeping(lt, inForce)
		return seen, lifecycle.Abandon(lt, note.cause, seen, now), err
	}
	rules := inForce.For(lt.Namespace)
	seen, err := r.observe(ctx, lt, rules.Targets, note, now)
	if err != nil {
		return seen, lifecycle.Decision{}, err
	}
	seen.Refused, seen.Written, seen.LiveFrom = note.refused, note.written, r.budget.from(now)
	seen.ReadBack, seen.Seconds, seen.Unstored = r.delays.longest(now), note.seconds, note.unstored
	seen.Keeping = r.Keeper.Keeping(lt, inForce)
	seen.LooksAtTargets, seen.Looked = r.TargetPods != nil, note.looked
	if seen.Place, err = r.place(ctx, lt, inForce, now); err != nil {
		return seen, lifecycle.Decision{}, err
	}
	rules.Workers.Release = r.Children().WorkerImage
	decision := lifecycle.Decide(lt, rules, seen, now)
	note.seconds = decision.Seconds
	return seen, decision, nil
}

// wakeAt is the instant for which a decision asks; zero: none.
func wakeAt(now time.Time, d lifecycle.Decision) time.Time {
	if d.RequeueAfter == 0 {
		return time.Time{}
	}
	return now.Add(d.RequeueAfter)
}

// apply carries a decision out, all but the words.
func (r *Reconciler) apply(ctx context.Context, lt *v1alpha1.LoadTest, seen lifecycle.Observed, d lifecycle.Decision, note *note, now time.Time) error {
	if d.Delete {
		err := r.delete(ctx, lt, "LoadTest", lt, lt.UID)
		if err == nil && d.Unkept {
			r.Metrics.lostResults()
			log.FromContext(ctx).Info("a LoadTest was deleted, and its results were not kept", "run", lt.UID)
		}
		return err
	}
	switch d.Job {
	case lifecycle.JobCreate:
		if err := r.createJob(ctx, lt, note, now); err != nil {
			return err
		}
	case lifecycle.JobDelete:
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: lt.Namespace, Name: lt.Name}}
		if err := r.delete(ctx, lt, "Job", job, seen.JobUID); err != nil && !apierrors.IsConflict(err) {
			return err
		}
	case lifecycle.JobKeep:
	}
	if d.Forget {
		r.forget(client.ObjectKeyFromObject(lt))
		return nil
	}
	if note.cause == nil && !d.Undirected {
		r.direct(lt, d.Directive, note)
	}
	return nil
}

// createJob creates the Job, and notes that it is refused or that there is one.
func (r *Reconciler) createJob(ctx context.Context, lt *v1alpha1.LoadTest, note *note, now time.Time) error {
	err := r.Client.Create(ctx, desired.Job(lt, r.Children()), client.FieldOwner(writes.FieldManager))
	if note.jobExists = apierrors.IsAlreadyExists(err); note.jobExists {
		err = nil
	}
	refusal, refused := refusedBy(err, now)
	if note.refused = refusal; refused {
		r.Metrics.refused(refusedJob)
		return nil
	}
	if err != nil {
		return fmt.Errorf("create Job: %w", err)
	}
	return nil
}

// forget frees what is held in memory of a LoadTest's runs.
func (r *Reconciler) forget(name types.NamespacedName) {
	for _, run := range r.Runs.Forget(name) {
		r.Workers.Forget(run)
	}
}

// delete deletes the object that was observed and no other: one of its name may have
// taken its place since. A refusal is an event, as the status of a run that is over does
// not change any more.
func (r *Reconciler) delete(ctx context.Context, lt *v1alpha1.LoadTest, kind string, obj client.Object, uid types.UID) error {
	err := r.Client.Delete(ctx, obj, client.PropagationPolicy("Background"), client.Preconditions{UID: &uid})
	if client.IgnoreNotFound(err) == nil {
		return nil
	}
	if refusal, ok := writes.RefusalOf(err); ok {
		r.Metrics.refused(refusedDeletion)
		r.Recorder.Eventf(lt, nil, corev1.EventTypeWarning, reasonDeleteRefused, "Run", "The %s cannot be deleted: %s", kind, refusal.Message)
	}
	return fmt.Errorf("delete %s: %w", kind, err)
}

// direct gives the coordinator what the workers of the run are to do. Nothing is
// wanted before the run has been taken up and it is known where its targets lead to. To end, the workers
// need no assignment, which a finished run in the cache does not say.
func (r *Reconciler) direct(lt *v1alpha1.LoadTest, d exchange.Directive, note *note) {
	if lt.Status.StartTime == nil || !lt.Status.KnowsTargets() || r.TargetAccess != nil && !d.Finish && !note.access.Grant(lt) {
		return
	}
	run := coordinator.RunID(lt.UID)
	d.Assignments = make([]*workerv1.Assignment, lt.Status.Workers.Desired)
	if !d.Finish {
		target, control := note.access.Destinations()
		d.Assignments = r.Runs.Note(run, lt, target, control)
	}
	r.Workers.Direct(run, d)
}
