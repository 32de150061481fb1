package loadtest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/text"
)

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
		observePod(&workers[n], pod)
	}
	for i := range workers {
		if w := &workers[i]; w.Pod == exchange.PodAbsent && hasFailed(job, i) {
			w.PodTakenAway, w.PodReason, w.PodMessage = true, v1beta1.ReasonWorkerLost, "its pod was deleted"
		}
	}
	for i := range workers {
		if w := &workers[i]; !ours[w.PodUID] {
			w.Connected, w.Ready, w.Reason, w.Message, w.Answers, w.Targets = false, false, "", "", 0, 0
			w.Descriptors, w.ControlDescriptors = "", ""
		}
	}
}

// maxPodMessage bounds what is said of a pod: a condition has no more.
const maxPodMessage = 1024

// observePod adds its pod to a worker. What a container wrote as its reason may be anything.
func observePod(w *exchange.Worker, pod *corev1.Pod) {
	w.Pod, w.PodReason, w.PodMessage = podState(pod)
	w.PodEnding, w.PodTakenAway = !pod.DeletionTimestamp.IsZero(), isTakenAway(pod)
	switch {
	case w.PodEnding && w.Pod != exchange.PodEnded:
		w.PodReason, w.PodMessage = v1beta1.ReasonWorkerLost, deletion(pod)
	case !w.PodEnding && !w.Connected && isOnLostNode(pod):
		w.PodTakenAway, w.PodReason, w.PodMessage = true, v1beta1.ReasonWorkerLost, "its node is not ready"
	}
	w.PodMessage = text.Clean(strings.ReplaceAll(w.PodMessage, "\n", " "), maxPodMessage)
}

// podState is where a pod stands and, if something is wrong, what.
func podState(pod *corev1.Pod) (state exchange.PodState, reason, message string) {
	switch pod.Status.Phase {
	case corev1.PodRunning:
		return exchange.PodRunning, "", ""
	case corev1.PodSucceeded, corev1.PodFailed:
		return exchange.PodEnded, v1beta1.ReasonWorkerLost, ending(pod)
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable {
			return exchange.PodWaiting, v1beta1.ReasonUnschedulable, "waits for a node: " + c.Message
		}
	}
	for _, c := range pod.Status.ContainerStatuses {
		if w := c.State.Waiting; w != nil {
			switch w.Reason {
			case "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError":
				// The reason alternates and the text carries back-off times; the image
				// is what the reader needs.
				return exchange.PodWaiting, v1beta1.ReasonImagePull, fmt.Sprintf("the image %q cannot be pulled; correct spec.worker.image, or load the image into the nodes", c.Image)
			case "CreateContainerConfigError", "CreateContainerError", "RunContainerError":
				return exchange.PodWaiting, v1beta1.ReasonCreateRefused, "the container cannot be created: " + w.Message
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
			return "its pod was evicted, as in a node drain"
		case corev1.PodReasonPreemptionByScheduler:
			return "its pod was preempted by one of a higher priority"
		case "DeletionByTaintManager":
			return "its pod was deleted because of a taint on its node"
		case corev1.PodReasonTerminationByKubelet:
			return "its node ended its pod, because the node shuts down or lacks a resource"
		}
	}
	return "its pod was deleted"
}

// ending says why a pod ended: that it was deleted, if its container ended after that, else how
// its container did. It has what the worker wrote as its reason, and no line of a log, in which
// might be anything.
func ending(pod *corev1.Pod) string {
	for _, c := range pod.Status.ContainerStatuses {
		t := c.State.Terminated
		switch {
		case t == nil:
		case isTakenAway(pod):
			return deletion(pod)
		case t.Message != "":
			return fmt.Sprintf("%s, exit code %d: %s", t.Reason, t.ExitCode, lastLine(t.Message))
		case t.Reason == "Error":
			return fmt.Sprintf("Error, exit code %d; the log of its pod may say why", t.ExitCode)
		default:
			return fmt.Sprintf("%s, exit code %d", t.Reason, t.ExitCode)
		}
	}
	if pod.Status.Reason != "" {
		return pod.Status.Reason + ": " + pod.Status.Message
	}
	return "its pod ended"
}

// isOnLostNode says whether the node of a pod does not report any more: the API server's side has
// marked the pod as not ready, which its kubelet said last that it was.
func isOnLostNode(pod *corev1.Pod) bool {
	marked := slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionFalse
	})
	return marked && pod.Status.Phase == corev1.PodRunning && len(pod.Status.ContainerStatuses) > 0 &&
		!slices.ContainsFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool { return !c.Ready })
}

// hasFailed says whether the pod of a number failed: its Job makes no other. The pod itself may be
// gone, as one that is deleted by force is at once.
func hasFailed(job *batchv1.Job, number int) bool {
	for part := range strings.SplitSeq(ptr.Deref(job.Status.FailedIndexes, ""), ",") { // such as "1,3-5"
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		first, errFirst := strconv.Atoi(from)
		last, errLast := strconv.Atoi(to)
		if errFirst == nil && errLast == nil && first <= number && number <= last {
			return true
		}
	}
	return false
}

// isTakenAway says whether a pod ends, or has ended, and could have gone on: Kubernetes says so, or
// its deletion was requested before its container ended. The deletion timestamp is the time of the
// request plus the grace period.
func isTakenAway(pod *corev1.Pod) bool {
	if slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue
	}) {
		return true
	}
	if pod.DeletionTimestamp == nil {
		return false
	}
	asked := pod.DeletionTimestamp.Add(-time.Duration(ptr.Deref(pod.DeletionGracePeriodSeconds, 0)) * time.Second)
	return !slices.ContainsFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool {
		return c.State.Terminated != nil && c.State.Terminated.FinishedAt.Time.Before(asked)
	})
}

// lastLine is the last line of a message that says anything.
func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}
