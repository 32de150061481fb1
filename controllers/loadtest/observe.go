package loadtest

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/desired"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

// observe reads everything that a decision needs beside the LoadTest, and nothing twice.
func (r *Reconciler) observe(ctx context.Context, lt *v1alpha1.LoadTest, rules policy.Targets, note *note, now time.Time) (lifecycle.Observed, error) {
	seen, job, err := r.observeJob(ctx, lt, note)
	if err != nil {
		return seen, err
	}
	var pods corev1.PodList
	if err := r.Client.List(ctx, &pods, client.InNamespace(lt.Namespace), client.MatchingLabels{desired.LabelRun: string(lt.UID)}, client.UnsafeDisableDeepCopy); err != nil {
		return seen, fmt.Errorf("list worker pods: %w", err)
	}
	observation := r.Workers.Observe(coordinator.RunID(lt.UID))
	seen.Since, seen.From, seen.Step = observation.Since, observation.From, observation.Step
	seen.Undirected = observation.Started != lt.Status.CurrentStep
	// Before the run is directed nothing is known of its workers' sessions.
	seen.Workers = make([]exchange.Worker, lt.Status.Workers.Desired)
	copy(seen.Workers, observation.Workers)
	observePods(seen.Workers, job, pods.Items)
	if target, field := lifecycle.UnknownTarget(lt); target != nil && target.Service != nil {
		if seen.TargetPort, seen.TargetProblem, err = r.targetPort(ctx, lt.Namespace, target.Service, field); err != nil {
			return seen, err
		}
	}
	access, err := r.TargetAccess.Observe(ctx, lt, rules, note.access, now)
	if err != nil {
		return seen, err
	}
	if access != nil {
		note.access, seen.Access = access, access.Found()
	}
	if lifecycle.NeedsBaseline(lt) {
		if seen.Baseline, err = r.baseline(ctx, lt); err != nil {
			return seen, err
		}
	}
	return seen, r.explainMissingPods(ctx, lt, job, pods.Items, &seen, now)
}

// observeJob reads the Job of a LoadTest. One that is not the operator's is not in the
// cache: it is seen once it is in the way.
func (r *Reconciler) observeJob(ctx context.Context, lt *v1alpha1.LoadTest, note *note) (lifecycle.Observed, *batchv1.Job, error) {
	job := &batchv1.Job{}
	err := r.Client.Get(ctx, client.ObjectKeyFromObject(lt), job)
	if apierrors.IsNotFound(err) && note.jobExists {
		err = r.Uncached.Get(ctx, client.ObjectKeyFromObject(lt), job)
	}
	if client.IgnoreNotFound(err) != nil {
		return lifecycle.Observed{}, nil, fmt.Errorf("get Job: %w", err)
	}
	found := err == nil
	note.jobExists = note.jobExists && found
	return lifecycle.Observed{Job: jobState(lt, job, found), JobUID: job.UID}, job, nil
}

// targetPort is the number of the named port of the Service of a field, or 0 and why it is
// not known. Services are in no cache: one is read while a run waits to begin.
func (r *Reconciler) targetPort(ctx context.Context, namespace string, target *v1alpha1.ServiceReference, field string) (port int32, problem string, err error) {
	var service corev1.Service
	err = r.Uncached.Get(ctx, types.NamespacedName{Namespace: namespace, Name: target.Name}, &service)
	switch {
	case apierrors.IsNotFound(err):
		return 0, fmt.Sprintf("Service %s of %s.service is not there.", target.Name, field), nil
	case apierrors.IsForbidden(err):
		return 0, fmt.Sprintf("The operator may not read Service %s, which it needs for a port's name; allow it, or give the port's number in %s.service.port.", target.Name, field), nil
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

func jobState(lt *v1alpha1.LoadTest, job *batchv1.Job, found bool) lifecycle.JobState {
	switch {
	case !found:
		return lifecycle.JobAbsent
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

// observePods adds the pods of the run's Job to the workers with their numbers. A pod
// of an earlier Job of the same run, from before a suspension, is left out.
//
// A session of a pod that is left out is of an earlier Job, or of a pod that the cache
// will have in a moment, which has the run looked at again: neither is connected.
// What it measured stands: a pod that is deleted takes nothing of it away.
func observePods(workers []exchange.Worker, job *batchv1.Job, pods []corev1.Pod) {
	ours := map[string]bool{}
	for i := range pods {
		pod := &pods[i]
		n, err := strconv.Atoi(pod.Annotations[batchv1.JobCompletionIndexAnnotation])
		if err != nil || n < 0 || n >= len(workers) || !metav1.IsControlledBy(pod, job) {
			continue
		}
		ours[string(pod.UID)] = true
		w := &workers[n]
		w.Pod, w.PodReason, w.PodMessage = podState(pod)
		if w.PodEnding = !pod.DeletionTimestamp.IsZero(); w.PodEnding && w.Pod == exchange.PodRunning {
			w.PodReason, w.PodMessage = v1alpha1.ReasonWorkerLost, deletion(pod)
		}
	}
	for i := range workers {
		if w := &workers[i]; !ours[w.PodUID] {
			w.Connected, w.Ready, w.Reason, w.Message, w.Answers, w.Targets = false, false, "", "", 0, 0
			w.Descriptors, w.ControlDescriptors = "", ""
		}
	}
}

// podState is where a pod stands and, if something is wrong, what.
func podState(pod *corev1.Pod) (state exchange.PodState, reason, message string) {
	switch pod.Status.Phase {
	case corev1.PodRunning:
		return exchange.PodRunning, "", ""
	case corev1.PodSucceeded, corev1.PodFailed:
		return exchange.PodEnded, v1alpha1.ReasonWorkerLost, ending(pod)
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable {
			return exchange.PodWaiting, v1alpha1.ReasonUnschedulable, "waits for a node: " + c.Message
		}
	}
	for _, c := range pod.Status.ContainerStatuses {
		if w := c.State.Waiting; w != nil {
			switch w.Reason {
			case "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError":
				// The reason alternates and the text carries back-off times; the image
				// is what the reader needs.
				return exchange.PodWaiting, v1alpha1.ReasonImagePull, fmt.Sprintf("the image %q cannot be pulled; correct spec.worker.image, or load the image into the nodes", c.Image)
			case "CreateContainerConfigError", "CreateContainerError", "RunContainerError":
				return exchange.PodWaiting, v1alpha1.ReasonCreateRefused, "the container cannot be created: " + w.Message
			}
		}
	}
	return exchange.PodWaiting, "", ""
}

// deletion says why a pod is being deleted, as far as Kubernetes says.
func deletion(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type != corev1.DisruptionTarget || c.Status != corev1.ConditionTrue {
			continue
		}
		switch c.Reason {
		case "EvictionByEvictionAPI":
			return "its pod was evicted, as a node drain does"
		case corev1.PodReasonPreemptionByScheduler:
			return "its pod was preempted by one of a higher priority"
		case "DeletionByTaintManager":
			return "its pod was deleted because of a taint of its node"
		case corev1.PodReasonTerminationByKubelet:
			return "its pod was ended by its node, which shuts down or lacks a resource"
		}
	}
	return "its pod was deleted"
}

// ending says how a pod's container ended.
func ending(pod *corev1.Pod) string {
	for _, c := range pod.Status.ContainerStatuses {
		if t := c.State.Terminated; t != nil {
			text := fmt.Sprintf("%s, exit code %d", t.Reason, t.ExitCode)
			if t.Message != "" {
				text += ": " + lastLine(t.Message)
			}
			return text
		}
	}
	if pod.Status.Reason != "" {
		return pod.Status.Reason + ": " + pod.Status.Message
	}
	return "its pod ended"
}
