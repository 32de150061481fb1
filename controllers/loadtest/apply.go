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
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/desired"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/writes"
)

// apply carries the decision out, all but the words, and notes the instant that it asks
// for.
func (p *pass) apply(ctx context.Context) (ends bool, err error) {
	p.note.wakeAt = wakeAt(p.now, p.decision)
	p.unapplied = p.applyDecision(ctx)
	return false, nil
}

// wakeAt is the instant for which a decision asks; zero: none.
func wakeAt(now time.Time, d lifecycle.Decision) time.Time {
	if d.RequeueAfter == 0 {
		return time.Time{}
	}
	return now.Add(d.RequeueAfter)
}

func (p *pass) applyDecision(ctx context.Context) error {
	lt, d := p.lt, p.decision
	if d.Delete {
		err := p.delete(ctx, "LoadTest", lt, lt.UID)
		if err == nil && d.Unkept {
			p.Metrics.lostResults()
			log.FromContext(ctx).Info("a LoadTest was deleted before its results were archived", "run", lt.UID)
		}
		return err
	}
	switch d.Job {
	case lifecycle.JobCreate:
		if err := p.createJob(ctx); err != nil {
			return err
		}
	case lifecycle.JobDelete:
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: lt.Namespace, Name: lt.Name}}
		if err := p.delete(ctx, "Job", job, p.seen.JobUID); err != nil && !apierrors.IsConflict(err) {
			return err
		}
	case lifecycle.JobKeep:
	}
	if err := p.createLoads(ctx); err != nil {
		return err
	}
	if d.Forget {
		p.forget(client.ObjectKeyFromObject(lt))
		return nil
	}
	if p.note.refusals.cause == nil && !d.Undirected {
		p.direct(d.Directive)
	}
	return nil
}

// createJob creates the Job, and notes that it is refused or that there is one.
func (p *pass) createJob(ctx context.Context) error {
	err := p.Client.Create(ctx, desired.Job(p.lt, p.Children()), client.FieldOwner(writes.FieldManager))
	if p.note.jobExists = apierrors.IsAlreadyExists(err); p.note.jobExists {
		err = nil
	}
	p.note.refusals.job, p.jobRefused = refusedBy(err, p.now)
	if p.jobRefused {
		p.Metrics.refused(refusedJob)
		return nil
	}
	if err != nil {
		return fmt.Errorf("create Job: %w", err)
	}
	return nil
}

// delete deletes the object that was observed and no other: one of its name may have
// taken its place since. A refusal is an event, as the status of a run that is over does
// not change any more.
func (p *pass) delete(ctx context.Context, kind string, obj client.Object, uid types.UID) error {
	err := p.Client.Delete(ctx, obj, client.PropagationPolicy("Background"), client.Preconditions{UID: &uid})
	if client.IgnoreNotFound(err) == nil {
		return nil
	}
	if refusal, ok := writes.RefusalOf(err); ok {
		p.Metrics.refused(refusedDeletion)
		p.Recorder.Eventf(p.lt, nil, corev1.EventTypeWarning, reasonDeleteRefused, "Run", "The %s cannot be deleted: %s", kind, refusal.Message)
	}
	return fmt.Errorf("delete %s: %w", kind, err)
}

// direct gives the coordinator what the workers of the run are to do. It does nothing until
// the run is accepted and its targets are resolved. To end, the workers need no assignment,
// which a finished run in the cache does not say.
func (p *pass) direct(d exchange.Directive) {
	lt, access := p.lt, p.note.lookups.access
	if lt.Status.StartTime == nil || !lt.Status.KnowsTargets() || p.TargetAccess != nil && !d.Finish && !access.Grant(lt) {
		return
	}
	run := coordinator.RunID(lt.UID)
	d.Assignments = make([]*workerv1.Assignment, lt.Status.Workers.Desired)
	if !d.Finish {
		d.Assignments = p.Runs.Note(run, lt, access.Destinations())
	}
	p.Workers.Direct(run, d)
}
