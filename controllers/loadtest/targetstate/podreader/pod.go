package podreader

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/targetstate"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// targetPod is what is kept of a pod: nothing of its environment or its volumes, for which
// the hash of its template stands.
func targetPod(pod *corev1.Pod) targetstate.Pod {
	kept := targetstate.Pod{
		UID: string(pod.UID), Node: pod.Spec.NodeName,
		Template: cmp.Or(pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey], pod.Labels[appsv1.ControllerRevisionHashLabelKey]),
	}
	for _, c := range pod.Status.Conditions {
		kept.Ready = kept.Ready || c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	}
	for i := range pod.Spec.Containers {
		kept.Containers = append(kept.Containers, targetContainer(&pod.Spec.Containers[i], pod.Status.ContainerStatuses))
	}
	return kept
}

// The bounds that the API puts on what comes from a pod.
const maxImage, maxDigest, maxLimits, maxEnded = 256, 128, 128, 80

func targetContainer(c *corev1.Container, statuses []corev1.ContainerStatus) targetstate.Container {
	kept := targetstate.Container{TargetContainer: v1beta1.TargetContainer{
		Name: c.Name, Image: text.Truncate(c.Image, maxImage), Limits: text.Truncate(limitsOf(c.Resources.Limits), maxLimits),
	}}
	n := slices.IndexFunc(statuses, func(s corev1.ContainerStatus) bool { return s.Name == c.Name })
	kept.CPULimit, kept.MemoryLimit = c.Resources.Limits.Cpu().MilliValue(), c.Resources.Limits.Memory().Value()
	if n < 0 {
		return kept
	}
	s := &statuses[n]
	kept.Digest, kept.Restarts = text.Truncate(digestOf(s.ImageID), maxDigest), s.RestartCount
	if t := cmp.Or(s.State.Terminated, s.LastTerminationState.Terminated); t != nil {
		kept.Ended, kept.EndedAt = text.Truncate(fmt.Sprintf("%s, exit code %d", t.Reason, t.ExitCode), maxEnded), t.FinishedAt.Time
	}
	return kept
}

// digestOf is the digest in the id of an image, which may have the repository before it.
func digestOf(imageID string) string {
	return imageID[strings.LastIndexByte(imageID, '@')+1:]
}

// limitsOf are the limits of a container in words, in the order of their names.
func limitsOf(list corev1.ResourceList) string {
	var words []string
	for name, quantity := range list {
		words = append(words, fmt.Sprintf("%s %s", name, quantity.String()))
	}
	slices.Sort(words)
	return strings.Join(words, ", ")
}
