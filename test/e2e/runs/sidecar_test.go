//go:build e2e

package runs

import (
	"context"
	"fmt"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/desired"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// throughMesh runs for long enough that its pods can be looked at.
const throughMesh = `
target: {service: {name: counter}}
requests: [{name: home, http: {path: "/home"}}]
steps: [{name: steady, rate: 50, duration: 4s}]
parallelism: 2
`

// TestRunsBesideASidecar: a service mesh adds a container to each pod that starts before the others
// and ends after them. The run counts as without it, its Job ends, and an annotation that the
// administrator allows keeps it out.
func TestRunsBesideASidecar(t *testing.T) {
	t.Parallel()
	ns := cluster.Namespace(t)
	addSidecars(t, ns)
	counter := cluster.CounterOf(t, ns)
	for name, tc := range map[string]struct {
		worker     string
		containers int
	}{
		"inside":  {"", 2},
		"outside": {"worker: {annotations: {mesh.example/inject: disabled}, spreadOver: topology.kubernetes.io/zone, awayFrom: {app: counter}, ndots: 1}\n", 1},
	} {
		lt := cluster.Create(t, ns, name, throughMesh+tc.worker)
		cluster.Soon(t, func(ctx context.Context) error {
			var pods corev1.PodList
			if err := cluster.API.List(ctx, &pods, client.InNamespace(ns), client.MatchingLabels{desired.LabelName: name}); err != nil {
				return err
			}
			if len(pods.Items) != 2 {
				return fmt.Errorf("%s: %d pods", name, len(pods.Items))
			}
			for _, p := range pods.Items {
				if n := len(p.Spec.Containers) + len(p.Spec.InitContainers); n != tc.containers {
					t.Errorf("%s: a pod of %d containers, want %d", name, n, tc.containers)
				}
			}
			return nil
		})
		cluster.Finish(t, lt)
		if why := v1beta1.NotCarriedOut(lt.Status.Conditions); why != nil || cluster.SentBy(lt) != 200 {
			t.Errorf("%s: %v, and %d were sent; want 200", name, why, cluster.SentBy(lt))
		}
	}
	if counted := counter.MustRead(t); counted["home"].Received != 400 {
		t.Errorf("the target counted %+v, want 400 of home", counted)
	}
}

// addSidecars has the API server add a native sidecar to the pods of a namespace, as a mesh does.
func addSidecars(t *testing.T, namespace string) {
	t.Helper()
	name := "sidecars-of-" + namespace
	policy := &admissionv1.MutatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: admissionv1.MutatingAdmissionPolicySpec{
		FailurePolicy:      ptr.To(admissionv1.Fail),
		ReinvocationPolicy: admissionv1.NeverReinvocationPolicy,
		MatchConstraints: &admissionv1.MatchResources{
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}},
			ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
				Operations: []admissionv1.OperationType{admissionv1.Create},
				Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
			}}},
		},
		MatchConditions: []admissionv1.MatchCondition{{
			Name: "worker", Expression: "has(object.metadata.labels) && 'loadtest.dev/run' in object.metadata.labels && " +
				"!(has(object.metadata.annotations) && object.metadata.annotations[?'mesh.example/inject'].orValue('') == 'disabled')",
		}},
		Mutations: []admissionv1.Mutation{{
			// Lists without a key for their items, such as those of capabilities, are not for an ApplyConfiguration,
			// and a list of typed objects is none for a JSON patch.
			PatchType: admissionv1.PatchTypeJSONPatch,
			JSONPatch: &admissionv1.JSONPatch{Expression: fmt.Sprintf(`[JSONPatch{op: "add", path: "/spec/initContainers", value: [{
				"name": dyn("proxy"), "image": dyn(%q), "restartPolicy": dyn("Always"),
				"securityContext": dyn({"allowPrivilegeEscalation": dyn(false), "capabilities": dyn({"drop": ["ALL"]})})}]}]`, cluster.Image("counter")+":"+cluster.ImageTag())},
		}},
	}}
	binding := &admissionv1.MutatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: admissionv1.MutatingAdmissionPolicyBindingSpec{PolicyName: name}}
	for _, o := range []client.Object{policy, binding} {
		must.Succeed(t, cluster.API.Create(t.Context(), o))
		t.Cleanup(func() { _ = cluster.API.Delete(context.Background(), o) })
	}
	// The API server comes to know it after a while.
	cluster.Soon(t, func(ctx context.Context) error {
		probe := cluster.Counter{Namespace: namespace, Name: "probe"}.Pod("")
		probe.Labels[desired.LabelRun] = "none"
		if err := cluster.API.Create(ctx, probe, client.DryRunAll); err != nil {
			return err
		}
		if len(probe.Spec.InitContainers) == 0 {
			return fmt.Errorf("no sidecar yet")
		}
		return nil
	})
}
