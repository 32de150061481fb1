package loadtest

import (
	"context"
	"fmt"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator"
	"github.com/loadtest-dev/loadtest-operator/controllers/desired"
	"github.com/loadtest-dev/loadtest-operator/controllers/lifecycle"
)

// observe reads everything that a decision needs, and nothing twice. The
// LoadTest is nil when it is gone.
func (r *Reconciler) observe(ctx context.Context, key types.NamespacedName, now time.Time) (*v1alpha1.LoadTest, lifecycle.Observed, error) {
	var seen lifecycle.Observed
	lt := &v1alpha1.LoadTest{}
	if err := r.Client.Get(ctx, key, lt); err != nil {
		return nil, seen, client.IgnoreNotFound(err)
	}
	job := &batchv1.Job{}
	err := r.Client.Get(ctx, key, job)
	if client.IgnoreNotFound(err) != nil {
		return nil, seen, fmt.Errorf("get Job: %w", err)
	}
	seen.Job = jobState(lt, job, !apierrors.IsNotFound(err))

	var pods corev1.PodList
	if err := r.Client.List(ctx, &pods, client.InNamespace(lt.Namespace), client.MatchingLabels{desired.LabelRun: string(lt.UID)}); err != nil {
		return nil, seen, fmt.Errorf("list worker pods: %w", err)
	}
	seen.Workers = make([]lifecycle.Worker, lt.Status.Workers.Desired)
	ours := observePods(seen.Workers, job, pods.Items)
	if err := r.explainMissingPods(ctx, lt, job, pods.Items, &seen, now); err != nil {
		return nil, seen, err
	}
	seen.Step = observeSessions(seen.Workers, ours, r.Workers.Observe(coordinator.RunID(lt.UID)))
	return lt, seen, nil
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

// observePods files the pods of the run's Job under their workers' numbers. A
// pod of an earlier Job of the same run, from before a suspension, is not ours. It
// returns the names of those that are.
func observePods(workers []lifecycle.Worker, job *batchv1.Job, pods []corev1.Pod) (ours map[string]bool) {
	ours = map[string]bool{}
	for i := range pods {
		pod := &pods[i]
		n, err := strconv.Atoi(pod.Annotations[batchv1.JobCompletionIndexAnnotation])
		if err != nil || n < 0 || n >= len(workers) || !metav1.IsControlledBy(pod, job) {
			continue
		}
		ours[pod.Name] = true
		w := &workers[n]
		w.Pod, w.PodReason, w.PodMessage = podState(pod)
	}
	return ours
}

// podState is where a pod stands and, if something is wrong, what.
func podState(pod *corev1.Pod) (state lifecycle.PodState, reason, message string) {
	switch pod.Status.Phase {
	case corev1.PodRunning:
		return lifecycle.PodRunning, "", ""
	case corev1.PodSucceeded, corev1.PodFailed:
		return lifecycle.PodEnded, v1alpha1.ReasonWorkerLost, ending(pod)
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable {
			return lifecycle.PodWaiting, v1alpha1.ReasonUnschedulable, "waits for a node: " + c.Message
		}
	}
	for _, c := range pod.Status.ContainerStatuses {
		if w := c.State.Waiting; w != nil {
			switch w.Reason {
			case "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError":
				// The reason alternates and the text carries back-off times; the image
				// is what the reader needs.
				return lifecycle.PodWaiting, v1alpha1.ReasonImagePull, fmt.Sprintf("the image %q cannot be pulled; correct spec.worker.image, or load the image into the nodes", c.Image)
			case "CreateContainerConfigError", "CreateContainerError", "RunContainerError":
				return lifecycle.PodWaiting, v1alpha1.ReasonCreateRefused, "the container cannot be created: " + w.Message
			}
		}
	}
	return lifecycle.PodWaiting, "", ""
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

// observeSessions files what the coordinator knows under the workers' numbers. A
// session of a pod that is not ours is of an earlier Job, or of a pod that the cache
// will have in a moment, which has the run looked at again: neither is connected.
// What it measured stands: a pod that is deleted takes nothing of it away.
func observeSessions(workers []lifecycle.Worker, ours map[string]bool, o coordinator.Observation) *lifecycle.StepReport {
	for n := range o.Workers {
		if n >= len(workers) {
			break
		}
		s, w := o.Workers[n], &workers[n]
		w.LastSeen, w.Final = s.LastSeen, s.Final
		if ours[s.Pod] {
			w.Connected, w.Ready, w.Reason, w.Message = s.Connected, s.Ready, s.Reason, s.Message
			w.Answers = s.Answers
		}
	}
	if o.Step == nil {
		return nil
	}
	return &lifecycle.StepReport{
		Step: o.Step.Step, Merged: o.Step.Merged, Reporting: o.Step.Reporting, Until: o.Step.ReportedUntil, MeanWindow: o.Step.MeanWindow,
	}
}
