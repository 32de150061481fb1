package deviation

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

const ofSchedule = "creates only LoadTests that a LoadTestSchedule, or a LoadTest with loads, controls"

// loadTests are LoadTests that no schedule starts.
func loadTests() []Deviation {
	return []Deviation{
		loadTest("without an owner", func(lt *v1beta1.LoadTest) { lt.OwnerReferences = nil }),
		loadTest("of another kind of owner", func(lt *v1beta1.LoadTest) { lt.OwnerReferences[0].Kind = "LoadTest" }),
		loadTest("of an owner that does not control it", func(lt *v1beta1.LoadTest) { lt.OwnerReferences[0].Controller = nil }),
		loadTest("of two owners", func(lt *v1beta1.LoadTest) {
			lt.OwnerReferences = append(lt.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "a", UID: "a"})
		}),
		loadTest("with a name of another's", func(lt *v1beta1.LoadTest) { lt.Name = "release" }),
		loadTest("without the label of its schedule", func(lt *v1beta1.LoadTest) { lt.Labels = nil }),
		load("with a name of another's", func(lt *v1beta1.LoadTest) { lt.Name = "release" }),
		load("without the label of its LoadTest", func(lt *v1beta1.LoadTest) { lt.Labels = nil }),
		load("with loads of its own", func(lt *v1beta1.LoadTest) {
			lt.Spec.Loads, lt.Spec.Steps = []v1beta1.Load{{Name: "a", Steps: lt.Spec.Steps}}, nil
		}),
		loadTest("in kube-system", func(lt *v1beta1.LoadTest) { lt.Namespace = metav1.NamespaceSystem }),
	}
}

// load is the LoadTest of a load with a change.
func load(name string, change func(*v1beta1.LoadTest)) Deviation {
	return Deviation{"a LoadTest of a load " + name, ofSchedule, func(ctx context.Context, c client.Client, job *batchv1.Job, _ string) error {
		lt := OfLoad(job.Namespace)
		change(lt)
		return c.Create(ctx, lt, client.DryRunAll)
	}}
}

// OfLoad is the LoadTest of a load of LoadTest sale, which the operator may create.
func OfLoad(namespace string) *v1beta1.LoadTest {
	lt := Scheduled(namespace)
	lt.Name, lt.Labels = "sale-readers", map[string]string{"app.kubernetes.io/part-of": "sale"}
	lt.OwnerReferences[0].Kind, lt.OwnerReferences[0].Name = "LoadTest", "sale"
	return lt
}

// loadTest is a LoadTest of the operator's with a change.
func loadTest(name string, change func(*v1beta1.LoadTest)) Deviation {
	return Deviation{"a LoadTest of the operator " + name, ofSchedule, func(ctx context.Context, c client.Client, job *batchv1.Job, _ string) error {
		lt := Scheduled(job.Namespace)
		change(lt)
		return c.Create(ctx, lt, client.DryRunAll)
	}}
}

// Scheduled is a LoadTest that a schedule starts, which the operator may create.
func Scheduled(namespace string) *v1beta1.LoadTest {
	controls := true
	lt := &v1beta1.LoadTest{Spec: v1beta1.LoadTestSpec{
		Target:   v1beta1.Target{URL: "http://shortener:8080"},
		Requests: []v1beta1.Request{{Name: "health", HTTP: &v1beta1.HTTPRequest{Path: "/health"}}},
		Steps:    []v1beta1.Step{{Name: "1 users x 1", Users: new(int32(1)), RequestsPerUser: new(int32(1))}},
	}}
	lt.Namespace, lt.Name, lt.Labels = namespace, "nightly-29384760", map[string]string{"loadtest.dev/schedule": "nightly"}
	lt.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: v1beta1.GroupVersion.String(), Kind: "LoadTestSchedule", Name: "nightly", UID: "a", Controller: &controls,
	}}
	return lt
}
