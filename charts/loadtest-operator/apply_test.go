package chart_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// TestAPIServerAcceptsChart applies what chart and config render to a real API
// server, which refuses unknown fields.
func TestAPIServerAcceptsChart(t *testing.T) {
	c := client.WithFieldValidation(apiserver.Client(t), metav1.FieldValidationStrict)
	for name, objects := range map[string][]unstructured.Unstructured{
		"chart":                     render(t),
		"chart of two namespaces":   render(t, "--set", "watchNamespaces={default,kube-public},tolerations[0].operator=Exists"),
		"chart with a monitor":      render(t, "--set", "metrics.serviceMonitor.enabled=true,metrics.serviceMonitor.labels.team=perf,metrics.readers[0].name=a,metrics.readers[0].namespace=b"),
		"chart with all monitoring": render(t, "--set", monitored),
		"config/prometheus":         kustomize(t, "prometheus"),
		"chart with a token":        render(t, "--set", "metrics.serviceMonitor.enabled=true,metrics.serviceMonitor.tokenSecret=scraper"),
		"chart with a policy":       render(t, "--set", "watchNamespaces={default},networkPolicy.workers.enabled=true,priorityClassName=system-cluster-critical,networkPolicy.metricsFrom[0].namespaceSelector.matchLabels.team=perf"),
		"config/default":            kustomize(t, "default"),
	} {
		t.Run(name, func(t *testing.T) {
			// The objects of chart and config have the same names, and each run of
			// this test another namespace.
			own := apiserver.Namespace(t)
			for _, object := range objects {
				if object.GetNamespace() == namespace {
					object.SetNamespace(own)
				}
				err := c.Create(t.Context(), &object, client.DryRunAll)
				if object.GetKind() == "CustomResourceDefinition" && apierrors.IsAlreadyExists(err) {
					continue // the server has it from the start
				}
				if err != nil {
					t.Errorf("%s %s: %v", object.GetKind(), object.GetName(), err)
				}
			}
		})
	}
}

// TestPodIsRestricted creates the operator's pod in a namespace that enforces
// the restricted Pod Security Standard, and one that asks for more.
func TestPodIsRestricted(t *testing.T) {
	c := apiserver.Client(t)
	restricted := find(t, kustomize(t, "default"), "Namespace", namespace)
	own := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "restricted-"}}
	var named unstructured.Unstructured
	named.Object = restricted
	own.Labels = named.GetLabels()
	must.Succeed(t, c.Create(t.Context(), own))
	pod := operatorPod(t, own.Name)
	must.Report(t, "the operator's pod is refused", c.Create(t.Context(), pod.DeepCopy(), client.DryRunAll))
	must.Report(t, "the pod of helm test is refused", c.Create(t.Context(), testPod(t, own.Name), client.DryRunAll))
	pod.Spec.Containers[0].SecurityContext.AllowPrivilegeEscalation = new(true)
	must.Say(t, c.Create(t.Context(), pod, client.DryRunAll), "restricted")
}

// operatorPod is the pod that the chart's Deployment would create.
func operatorPod(t *testing.T, namespace string) *corev1.Pod {
	t.Helper()
	template, found, err := unstructured.NestedMap(find(t, render(t), "Deployment", release), "spec", "template")
	if !found || err != nil {
		t.Fatalf("the Deployment has no pod template: %v", err)
	}
	pod := &corev1.Pod{}
	must.Succeed(t, runtime.DefaultUnstructuredConverter.FromUnstructured(template, pod))
	pod.Name, pod.Namespace = "operator", namespace
	return pod
}
