package loadtest

import (
	"context"
	"fmt"
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
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/control"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator"
	"github.com/loadtest-dev/loadtest-operator/controllers/desired"
	"github.com/loadtest-dev/loadtest-operator/controllers/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/plan"
)

// +kubebuilder:rbac:groups=loadtest.dev,resources=loadtests,verbs=get;list;watch;delete
// +kubebuilder:rbac:groups=loadtest.dev,resources=loadtests/status,verbs=patch
// +kubebuilder:rbac:groups=loadtest.dev,resources=loadtests/finalizers,verbs=update
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=services,verbs=get
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;list;patch
// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create

// FieldManager names the operator's writes.
const FieldManager = "loadtest-operator"

// Workers is what the reconciler needs of the coordinator.
type Workers interface {
	Direct(coordinator.RunID, control.Directive)
	Observe(coordinator.RunID) control.Observation
	Forget(coordinator.RunID)
}

// Reconciler carries LoadTests through their lives.
type Reconciler struct {
	Client client.Client
	// Uncached reads what is not worth a cache. Default: the manager's.
	Uncached client.Reader
	Recorder events.EventRecorder
	Clock    clock.PassiveClock
	Workers  Workers
	Runs     *Runs
	Policy   plan.Policy
	// Children is what the Jobs that are made now have in common.
	Children func() desired.Config
	// Metrics may be nil.
	Metrics *Metrics

	notes notes
}

// passTimeout bounds a pass, so that an API server that does not answer holds up none
// of the others. An admission webhook may take 30 s.
const passTimeout = 35 * time.Second

// SetupWithManager has the reconciler called when a LoadTest, its Job, one of
// its pods or (by Runs) one of its workers changes.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	if r.Uncached == nil {
		r.Uncached = mgr.GetAPIReader()
	}
	return ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.LoadTest{}).
		WithOptions(r.options()).
		Owns(&batchv1.Job{}).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(requestOfPod)).
		WatchesRawSource(source.Channel(r.Runs.events, &handler.EnqueueRequestForObject{})).
		Complete(r)
}

func (r *Reconciler) options() controller.Options {
	return controller.Options{
		RateLimiter:           newRetries(&r.notes, r.Clock),
		ReconciliationTimeout: passTimeout,
	}
}

// Reconcile is one pass over one LoadTest.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	now, note := r.Clock.Now(), r.notes.get(req.NamespacedName)
	lt, seen, err := r.observe(ctx, req.NamespacedName, now)
	if err != nil {
		return ctrl.Result{}, err
	}
	if lt == nil || !lt.DeletionTimestamp.IsZero() {
		// Its children go by garbage collection; only memory is left to free.
		r.forget(req.NamespacedName)
		r.notes.drop(req.NamespacedName)
		return ctrl.Result{}, nil
	}
	note.isAbout(lt)
	seen.Refused = note.refused
	decision := lifecycle.Decide(lt, r.Policy, seen, now)
	note.wakeAt = wakeAt(now, decision)
	if err := r.apply(ctx, lt, seen, decision, note, now); err != nil {
		return ctrl.Result{}, err
	}
	err = r.report(ctx, lt, decision)
	if apierrors.IsConflict(err) {
		note.conflicts++
		return ctrl.Result{RequeueAfter: onConflict(note.conflicts)}, nil
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	note.conflicts = 0
	if note.refused != nil && note.refused != seen.Refused {
		return ctrl.Result{RequeueAfter: time.Millisecond}, nil // the next pass observes it
	}
	return ctrl.Result{RequeueAfter: decision.RequeueAfter}, nil
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
		if err := r.Client.Delete(ctx, lt, client.Preconditions{UID: &lt.UID}); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete LoadTest: %w", err)
		}
		return nil
	}
	switch d.Job {
	case lifecycle.JobCreate:
		if err := r.createJob(ctx, lt, note, now); err != nil {
			return err
		}
	case lifecycle.JobDelete:
		if err := r.deleteJob(ctx, lt, seen.JobUID); err != nil {
			return err
		}
	case lifecycle.JobKeep:
	}
	if d.Forget {
		r.forget(client.ObjectKeyFromObject(lt))
		return nil
	}
	r.direct(lt, d.Directive)
	return nil
}

// createJob creates the Job, and notes that it is refused.
func (r *Reconciler) createJob(ctx context.Context, lt *v1alpha1.LoadTest, note *note, now time.Time) error {
	err := r.Client.Create(ctx, desired.Job(lt, r.Children()), client.FieldOwner(FieldManager))
	if apierrors.IsAlreadyExists(err) {
		err = nil
	}
	refusal, refused := refusedBy(err, now)
	note.refused = refusal
	if err != nil && !refused {
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

// deleteJob deletes the Job that was observed and no other: one of its name may have
// taken its place since.
func (r *Reconciler) deleteJob(ctx context.Context, lt *v1alpha1.LoadTest, uid types.UID) error {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: lt.Namespace, Name: lt.Name}}
	err := r.Client.Delete(ctx, job, client.PropagationPolicy("Background"), client.Preconditions{UID: &uid})
	if client.IgnoreNotFound(err) != nil && !apierrors.IsConflict(err) {
		return fmt.Errorf("delete Job: %w", err)
	}
	return nil
}

// direct tells the coordinator what the run wants of its workers. Nothing is
// wanted before the run has been taken up and its target is known.
func (r *Reconciler) direct(lt *v1alpha1.LoadTest, d control.Directive) {
	if lt.Status.StartTime == nil || len(lt.Status.Steps) == 0 || lt.Status.TargetURL == "" {
		return
	}
	run := coordinator.RunID(lt.UID)
	d.Assignments = r.Runs.Learn(run, lt)
	r.Workers.Direct(run, d)
}
