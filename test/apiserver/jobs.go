package apiserver

import (
	"fmt"
	"maps"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// PodTemplate is a template of pods that the server takes.
func PodTemplate() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever,
		Containers:    []corev1.Container{{Name: "c", Image: "i"}},
	}}
}

// Pod creates pod n of an Indexed Job, as the Job controller and admission would, and
// returns it running.
func Pod(t testing.TB, c client.Client, job *batchv1.Job, n int32) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{Spec: *job.Spec.Template.Spec.DeepCopy()}
	pod.Namespace, pod.Name = job.Namespace, fmt.Sprintf("%s-%d-abcde", job.Name, n)
	pod.Spec.ServiceAccountName = "default" // as admission sets it
	index := map[string]string{batchv1.JobCompletionIndexAnnotation: fmt.Sprint(n)}
	pod.Annotations, pod.Labels = index, maps.Clone(index)
	maps.Copy(pod.Labels, job.Spec.Template.Labels)
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))}
	if err := c.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	pod.Status.Phase = corev1.PodRunning
	if err := c.Status().Update(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	return pod
}
