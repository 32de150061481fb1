package chart_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// testPod is the pod that helm test runs.
func testPod(t *testing.T, namespace string, values ...string) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{}
	must.Succeed(t, runtime.DefaultUnstructuredConverter.FromUnstructured(find(t, render(t, sets(values)...), "Pod", release+"-test"), pod))
	pod.Namespace = namespace
	return pod
}

// TestHelmTestHasOneRight: it creates LoadTests in its own namespace, which it does not
// store, and reads the CA of the coordinator's certificate and none of its keys.
func TestHelmTestHasOneRight(t *testing.T) {
	pod := testPod(t, namespace)
	want := []any{map[string]any{"apiGroups": []any{"loadtest.dev"}, "resources": []any{"loadtests"}, "verbs": []any{"create"}}}
	bound := 0
	for _, object := range render(t) {
		subjects, _, _ := unstructured.NestedSlice(object.Object, "subjects")
		for _, subject := range subjects {
			if subject.(map[string]any)["name"] != pod.Spec.ServiceAccountName {
				continue
			}
			bound++
			if object.GetKind() != "RoleBinding" || object.GetNamespace() != namespace {
				t.Errorf("%s %s/%s binds it", object.GetKind(), object.GetNamespace(), object.GetName())
			}
			same.As(t, "rights", want, list(t, find(t, render(t), "Role", release+"-test"), "rules"))
		}
	}
	if bound != 1 {
		t.Errorf("it is bound %d times, want once", bound)
	}
	for _, volume := range pod.Spec.Volumes {
		if items := volume.Secret.Items; len(items) != 1 || items[0].Key != "ca.crt" {
			t.Errorf("volume %s has %v", volume.Name, items)
		}
	}
}

// TestHelmTestIsNoReplica: no Service leads to its pod, and each object of it goes.
func TestHelmTestIsNoReplica(t *testing.T) {
	pod, operator := testPod(t, namespace), operatorPod(t, namespace)
	if cmp.Equal(pod.Labels["app.kubernetes.io/name"], operator.Labels["app.kubernetes.io/name"]) {
		t.Errorf("its labels are those of the operator: %v", pod.Labels)
	}
	found := 0
	for _, object := range render(t) {
		if object.GetName() != release+"-test" {
			continue
		}
		found++
		notes := object.GetAnnotations()
		if notes["helm.sh/hook"] != "test" || !strings.HasPrefix(notes["helm.sh/hook-delete-policy"], "before-hook-creation") ||
			strings.Contains(notes["helm.sh/hook-delete-policy"], "succeeded") == (object.GetKind() == "Pod") {
			t.Errorf("%s: %v", object.GetKind(), notes)
		}
	}
	if found != 5 {
		t.Errorf("%d objects, want an account, a role, its binding, a policy and a pod", found)
	}
}

func TestHelmTestFollowsTheValues(t *testing.T) {
	pod := testPod(t, namespace, "targetPolicy.enabled=false", "image.repository=mirror:5000/operator", "image.tag=v1", "runAsUser=null", "nodeSelector.disk=fast")
	container := pod.Spec.Containers[0]
	if container.Image != "mirror:5000/operator:v1" || pod.Spec.SecurityContext.RunAsUser != nil || pod.Spec.NodeSelector["disk"] != "fast" {
		t.Errorf("image %s, user %v, nodes %v", container.Image, pod.Spec.SecurityContext.RunAsUser, pod.Spec.NodeSelector)
	}
	want := []string{
		"check", "--namespace=" + namespace, "--coordinator=loadtest-operator-leader." + namespace + ".svc:9443",
		"--ca=/coordinator/ca.crt", "--policy=false",
	}
	same.As(t, "arguments", want, container.Args)
}
