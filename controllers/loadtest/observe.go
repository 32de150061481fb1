package loadtest

import (
	"context"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/desired"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
)

// observe reads everything that a decision needs beside the LoadTest, and nothing twice. Of
// a run that is abandoned it reads the Job alone.
func (p *pass) observe(ctx context.Context) (ends bool, err error) {
	note, now := p.note, p.now
	if note.version == p.lt.ResourceVersion {
		p.delays.add(now, now.Sub(note.written.At))
		note.version = ""
	}
	job, err := p.observeJob(ctx)
	p.seen.Keeping = p.Keeper.Keeping(p.lt, p.inForce)
	if err != nil || note.refusals.cause != nil {
		return false, err
	}
	p.rules = p.inForce.For(p.lt.Namespace)
	if err := p.observeLoads(ctx); err != nil {
		return false, err
	}
	if err := p.observeCluster(ctx, job); err != nil {
		return false, err
	}
	p.seen.Refused, p.seen.Written, p.seen.LiveFrom = note.refusals.job, note.written, p.budget.from(now)
	p.seen.ReadBack, p.seen.Seconds, p.seen.Unstored = p.delays.longest(now), note.seconds, note.archiving.unstored
	p.seen.LooksAtTargets, p.seen.Looked = p.TargetPods != nil, note.lookups.pods
	p.seen.SamplesUsage, p.seen.Asks, p.seen.Answered = p.TargetUsage != nil, p.Prometheus != nil, note.lookups.answered()
	if p.seen.Place, err = p.place(ctx, p.lt, p.inForce, now); err != nil {
		return false, err
	}
	p.seen.PlaceAwaited, err = p.isAwaited(ctx, p.lt, p.inForce, now)
	return false, err
}

// observeCluster reads the pods of the Job and the sessions of its workers, and what the run
// needs of others: its target, where that leads to, and its baseline.
func (p *pass) observeCluster(ctx context.Context, job *batchv1.Job) (err error) {
	lt, seen := p.lt, &p.seen
	var pods corev1.PodList
	if err := p.Client.List(ctx, &pods, client.InNamespace(lt.Namespace), client.MatchingLabels{desired.LabelRun: string(lt.UID)}, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list worker pods: %w", err)
	}
	observation := p.Workers.Observe(coordinator.RunID(lt.UID))
	seen.Since, seen.From, seen.Step = observation.Since, observation.From, observation.Step
	seen.Undirected = observation.Started != lt.Status.CurrentStep
	// Before the run is directed nothing is known of its workers' sessions.
	seen.Workers = make([]exchange.Worker, lt.Status.Workers.Desired)
	copy(seen.Workers, observation.Workers)
	observePods(seen.Workers, job, pods.Items)
	if target, field := lifecycle.UnknownTarget(lt); target != nil && target.Service != nil {
		if seen.TargetPort, seen.TargetProblem, err = p.targetPort(ctx, lt.Namespace, target.Service, field); err != nil {
			return err
		}
	}
	if seen.Access, err = p.note.lookups.observeAccess(ctx, p.TargetAccess, lt, p.rules.Targets, p.now); err != nil {
		return err
	}
	if lifecycle.NeedsBaseline(lt) {
		if err := p.readBaseline(ctx); err != nil {
			return err
		}
	}
	return p.explainMissingPods(ctx, job, pods.Items)
}

// observeJob reads the Job of a LoadTest. One that is not the operator's is not in the
// cache: it is seen once it is in the way.
func (p *pass) observeJob(ctx context.Context) (*batchv1.Job, error) {
	job := &batchv1.Job{}
	err := p.Client.Get(ctx, client.ObjectKeyFromObject(p.lt), job)
	if apierrors.IsNotFound(err) && p.note.jobExists {
		err = p.Uncached.Get(ctx, client.ObjectKeyFromObject(p.lt), job)
	}
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("get Job: %w", err)
	}
	found := err == nil
	p.note.jobExists = p.note.jobExists && found
	p.seen.Job, p.seen.JobUID = jobState(p.lt, job, found), job.UID
	if p.seen.Job == lifecycle.JobLeftOver {
		return &batchv1.Job{}, nil // its pods are no workers of this run
	}
	return job, nil
}

// targetPort is the number of the named port of the Service of a field, or 0 and why it is
// not known. Services are in no cache: one is read while a run waits to begin.
func (r *Reconciler) targetPort(ctx context.Context, namespace string, target *v1beta1.ServiceReference, field string) (port int32, problem string, err error) {
	var service corev1.Service
	err = r.Uncached.Get(ctx, types.NamespacedName{Namespace: namespace, Name: target.Name}, &service)
	switch {
	case apierrors.IsNotFound(err):
		return 0, fmt.Sprintf("Service %s (%s.service) does not exist.", target.Name, field), nil
	case apierrors.IsForbidden(err):
		return 0, fmt.Sprintf("The operator may not read Service %s to resolve the name of a port; allow that, or give the port's number in %s.service.port.", target.Name, field), nil
	case err != nil:
		return 0, "", fmt.Errorf("get Service: %w", err)
	}
	var names []string
	for _, p := range service.Spec.Ports {
		if p.Name == target.Port.StrVal {
			return p.Port, "", nil
		}
		names = append(names, strings.TrimSpace(fmt.Sprintf("%d %s", p.Port, p.Name)))
	}
	return 0, fmt.Sprintf("Service %s has no port named %s; its ports: %s. Correct %s.service.port.", target.Name, target.Port.StrVal, strings.Join(names, ", "), field), nil
}

func jobState(lt *v1beta1.LoadTest, job *batchv1.Job, found bool) lifecycle.JobState {
	switch {
	case !found:
		return lifecycle.JobAbsent
	case isLeftOver(lt, job):
		return lifecycle.JobLeftOver
	case !metav1.IsControlledBy(job, lt):
		return lifecycle.JobForeign
	case !job.DeletionTimestamp.IsZero():
		return lifecycle.JobDeleting
	}
	for _, c := range job.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return lifecycle.JobFinished
		}
	}
	return lifecycle.JobPresent
}

// isLeftOver says whether a Job belongs to an earlier LoadTest of that name. Who deletes a LoadTest
// and creates it anew, as Flux does to apply what cannot change, is faster than the API server's
// garbage collection.
func isLeftOver(lt *v1beta1.LoadTest, job *batchv1.Job) bool {
	owner := metav1.GetControllerOf(job)
	return owner != nil && owner.APIVersion == v1beta1.GroupVersion.String() && owner.Kind == "LoadTest" &&
		owner.Name == lt.Name && owner.UID != lt.UID
}
