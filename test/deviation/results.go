package deviation

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	ofResults = "controlled by the LoadTest whose results it has"
	onlyThose = "the results of a step and nothing else"
)

// results are ConfigMaps that are no results.
func results() []Deviation {
	return []Deviation{
		result("no owner", ofResults, func(c *corev1.ConfigMap) { c.OwnerReferences = nil }),
		result("a name of another's", ofResults, func(c *corev1.ConfigMap) { c.Name = "kube-root-ca.crt" }),
		result("settings", onlyThose, func(c *corev1.ConfigMap) { c.Data = map[string]string{"a": "b"} }),
		result("another file", onlyThose, func(c *corev1.ConfigMap) { c.BinaryData = map[string][]byte{"x": {1}} }),
		result("content that can change", onlyThose, func(c *corev1.ConfigMap) { c.Immutable = nil }),
	}
}

// Results is a ConfigMap as the operator stores the results of the Job's run.
func Results(job *batchv1.Job) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: job.Namespace, Name: job.Name + "-1-0123456789abcdef", Labels: job.Labels, OwnerReferences: job.OwnerReferences,
		},
		Immutable: ptr.To(true), BinaryData: map[string][]byte{"step.json.gz": {1}},
	}
}

func result(name, words string, change func(*corev1.ConfigMap)) Deviation {
	return Deviation{"a ConfigMap of the operator with " + name, words, func(ctx context.Context, c client.Client, job *batchv1.Job, _ string) error {
		results := Results(job)
		change(results)
		return c.Create(ctx, results, client.DryRunAll)
	}}
}
