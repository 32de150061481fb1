//go:build e2e

package e2e

import (
	"context"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
)

// TestErrors: what cannot work ends within its deadline, as verdict Error, with
// the reason where a person looks.
func TestErrors(t *testing.T) {
	t.Parallel()
	const tail = `
requests: [{path: /api}]
ladder: {users: [1], duration: 1s}
parallelism: 2
startDeadlineSeconds: 30
`
	for name, tc := range map[string]struct {
		spec, reason, message string
	}{
		"unresolvable": {
			spec:   `target: {url: "http://no-such-service:8080"}`,
			reason: v1alpha1.ReasonTargetUnreachable, message: "no-such-service",
		},
		"unpullable": {
			spec:   "target: {service: {name: somewhere}}\nworker: {image: \"loadtest.dev/no-such-image:v0\"}",
			reason: v1alpha1.ReasonImagePull, message: "loadtest.dev/no-such-image:v0",
		},
		"unschedulable": {
			spec:   "target: {service: {name: somewhere}}\nworker: {nodeSelector: {no-such: node}}",
			reason: v1alpha1.ReasonUnschedulable, message: "waits for a node",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := namespace(t)
			makeService(t, ns)
			lt := create(t, ns, name, tc.spec+tail)
			finish(t, lt, waitTimeout)
			if lt.Status.Verdict != v1alpha1.VerdictError || lt.Status.Phase != v1alpha1.PhaseEnded {
				t.Errorf("verdict %s, phase %s; want Error, Failed", lt.Status.Verdict, lt.Status.Phase)
			}
			ready, failed := condition(lt, v1alpha1.ConditionWorkersReady), condition(lt, v1alpha1.ConditionFailed)
			if ready.Reason != tc.reason || !strings.Contains(ready.Message, tc.message) {
				t.Errorf("WorkersReady is %s: %q; want %s naming %q", ready.Reason, ready.Message, tc.reason, tc.message)
			}
			if failed.Reason != v1alpha1.ReasonStartDeadlineExceeded || !strings.Contains(failed.Message, tc.message) {
				t.Errorf("Failed is %s: %q; want StartDeadlineExceeded with the reason", failed.Reason, failed.Message)
			}
			t.Logf("%s", failed.Message)
		})
	}
	t.Run("quota", func(t *testing.T) {
		t.Parallel()
		ns := namespace(t)
		if _, err := startCounterNamed(t.Context(), ns, "", "somewhere"); err != nil {
			t.Fatal(err)
		}
		if _, err := command(t.Context(), "kubectl", "create", "quota", "two-pods", "--hard=pods=2", "--namespace", ns); err != nil {
			t.Fatal(err)
		}
		soon(t, waitTimeout, func(ctx context.Context) error {
			return countsPods(ctx, client.ObjectKey{Namespace: ns, Name: "two-pods"})
		})
		lt := create(t, ns, "refused", `target: {service: {name: somewhere}}`+tail)
		finish(t, lt, waitTimeout)
		if ready := condition(lt, v1alpha1.ConditionWorkersReady); ready.Reason != v1alpha1.ReasonCreateRefused || !strings.Contains(ready.Message, "two-pods") {
			t.Errorf("WorkersReady is %s: %q; want %s naming the quota", ready.Reason, ready.Message, v1alpha1.ReasonCreateRefused)
		}
	})
	t.Run("not allowed", func(t *testing.T) {
		t.Parallel()
		lt := create(t, namespace(t), "outside", `target: {url: "http://example.com"}`+tail)
		finish(t, lt, waitTimeout)
		if failed := condition(lt, v1alpha1.ConditionFailed); failed.Reason != v1alpha1.ReasonTargetNotAllowed || !strings.Contains(failed.Message, "example.com") {
			t.Errorf("Failed is %s: %q", failed.Reason, failed.Message)
		}
	})
}

// makeService makes Service somewhere, which no pod is behind.
func makeService(t *testing.T, namespace string) {
	t.Helper()
	if _, err := command(t.Context(), "kubectl", "create", "service", "clusterip", "somewhere", "--tcp=80", "--namespace", namespace); err != nil {
		t.Fatal(err)
	}
}
