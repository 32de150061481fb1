package targets

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// invariants hold in every variant.
var invariants = map[string]func(*testing.T, release){
	"the API server takes it": accepted,
	"pods are careful":        carefulPods,
	"mounts have their place": placedMounts,
	"selectors":               selectors,
	"addresses":               addresses,
	"secrets are kept":        keptSecrets,
	"budgets":                 budgets,
}

func TestEveryVariantIsSound(t *testing.T) {
	for name, args := range variants(t) {
		t.Run(name, func(t *testing.T) {
			r := render(t, args...)
			for sentence, holds := range invariants {
				t.Run(sentence, func(t *testing.T) { holds(t, r) })
			}
		})
	}
}

// accepted creates everything in a namespace of restricted pods, for trial. Of a
// workload the API server judges the pod only when a controller creates it: so
// does this test.
func accepted(t *testing.T, r release) {
	c := client.WithFieldValidation(apiserver.Client(t), metav1.FieldValidationStrict)
	namespace := restricted(t)
	for key, o := range r {
		object := o.DeepCopy()
		object.SetNamespace(namespace)
		must.Report(t, key, c.Create(t.Context(), object, client.DryRunAll))
	}
	for key, template := range r.pods(t) {
		pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
		pod.Name, pod.Namespace = "tried", namespace
		for _, claim := range r.claims(key) {
			// The StatefulSet's controller would add it.
			pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: claim})
		}
		must.Report(t, "the pod of "+key, c.Create(t.Context(), pod, client.DryRunAll))
	}
}

// restricted makes a namespace whose pods must meet the restricted Pod Security
// Standard.
func restricted(t *testing.T) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "restricted-",
		Labels:       map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	must.Succeed(t, apiserver.Client(t).Create(t.Context(), namespace))
	return namespace.Name
}

// That the API server judges at all is shown on what it must refuse.
func TestAPIServerRefuses(t *testing.T) {
	template := render(t).pods(t)["Deployment/ratelimiter-app"]
	for name, change := range map[string]func(*corev1.PodSpec){
		"root":          func(p *corev1.PodSpec) { p.SecurityContext.RunAsUser, p.SecurityContext.RunAsNonRoot = new(int64), nil },
		"escalation":    func(p *corev1.PodSpec) { p.Containers[0].SecurityContext.AllowPrivilegeEscalation = new(true) },
		"no profile":    func(p *corev1.PodSpec) { p.SecurityContext.SeccompProfile = nil },
		"a host's port": func(p *corev1.PodSpec) { p.Containers[0].Ports[0].HostPort = 8080 },
	} {
		pod := &corev1.Pod{ObjectMeta: *template.ObjectMeta.DeepCopy(), Spec: *template.Spec.DeepCopy()}
		pod.Name, pod.Namespace = "tried", restricted(t)
		change(&pod.Spec)
		if err := apiserver.Client(t).Create(t.Context(), pod, client.DryRunAll); err == nil {
			t.Errorf("a pod with %s is not refused", name)
		}
	}
	monitor := render(t, "--api-versions", "monitoring.coreos.com/v1")["ServiceMonitor/ratelimiter-app"]
	monitor.SetNamespace(restricted(t))
	for _, interval := range []string{"15", "soon", "0.5s"} {
		endpoints := []any{map[string]any{"port": "http", "interval": interval}}
		must.Succeed(t, unstructured.SetNestedSlice(monitor.Object, endpoints, "spec", "endpoints"))
		err := apiserver.Client(t).Create(t.Context(), &monitor, client.DryRunAll)
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.endpoints[0].interval") {
			t.Errorf("a ServiceMonitor with the interval %s is not refused for it: %v", interval, err)
		}
	}
}
