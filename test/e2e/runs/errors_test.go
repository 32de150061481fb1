//go:build e2e

package runs

import (
	"context"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
)

// TestErrors: what cannot work ends within its deadline, as verdict Error, with
// the reason where a person looks.
func TestErrors(t *testing.T) {
	t.Parallel()
	const tail = `
requests: [{name: api, http: {path: /api}}]
ladder: {users: [1], duration: 1s}
parallelism: 2
startDeadlineSeconds: 20
`
	for name, tc := range map[string]struct {
		spec, reason, message string
	}{
		"unresolvable": {
			spec:   `target: {url: "http://no-such-service:8080"}`,
			reason: v1beta1.ReasonTargetUnreachable, message: "no-such-service",
		},
		"unpullable": {
			spec:   "target: {service: {name: somewhere}}\nworker: {image: \"loadtest.dev/no-such-image:v0\"}",
			reason: v1beta1.ReasonImagePull, message: "loadtest.dev/no-such-image:v0",
		},
		"unschedulable": {
			spec:   "target: {service: {name: somewhere}}\nworker: {nodeSelector: {no-such: node}}",
			reason: v1beta1.ReasonUnschedulable, message: "waits for a node",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := cluster.Namespace(t)
			makeService(t, ns)
			lt := cluster.Create(t, ns, name, tc.spec+tail)
			cluster.Finish(t, lt)
			if lt.Status.Verdict != v1beta1.VerdictError || lt.Status.Phase != v1beta1.PhaseFinished {
				t.Errorf("verdict %s, phase %s; want Error, Finished", lt.Status.Verdict, lt.Status.Phase)
			}
			ready, failed := cluster.Condition(lt, v1beta1.ConditionWorkersReady), cluster.Condition(lt, v1beta1.ConditionCarriedOut)
			if ready.Reason != tc.reason || !strings.Contains(ready.Message, tc.message) {
				t.Errorf("WorkersReady is %s: %q; want %s naming %q", ready.Reason, ready.Message, tc.reason, tc.message)
			}
			if failed.Reason != v1beta1.ReasonStartDeadlineExceeded || !strings.Contains(failed.Message, tc.message) {
				t.Errorf("CarriedOut is %s: %q; want StartDeadlineExceeded with the reason", failed.Reason, failed.Message)
			}
			t.Logf("%s", failed.Message)
		})
	}
	t.Run("quota", func(t *testing.T) {
		t.Parallel()
		ns := cluster.Namespace(t)
		if _, err := cluster.StartCounterNamed(t.Context(), ns, "", "somewhere"); err != nil {
			t.Fatal(err)
		}
		if _, err := cluster.Command(t.Context(), "kubectl", "create", "quota", "two-pods", "--hard=pods=2", "--namespace", ns); err != nil {
			t.Fatal(err)
		}
		cluster.Soon(t, func(ctx context.Context) error {
			return cluster.CountsPods(ctx, client.ObjectKey{Namespace: ns, Name: "two-pods"})
		})
		lt := cluster.Create(t, ns, "refused", `target: {service: {name: somewhere}}`+tail)
		cluster.Finish(t, lt)
		if ready := cluster.Condition(lt, v1beta1.ConditionWorkersReady); ready.Reason != v1beta1.ReasonCreateRefused || !strings.Contains(ready.Message, "two-pods") {
			t.Errorf("WorkersReady is %s: %q; want %s naming the quota", ready.Reason, ready.Message, v1beta1.ReasonCreateRefused)
		}
	})
	t.Run("not allowed", func(t *testing.T) {
		t.Parallel()
		lt := cluster.Create(t, cluster.Namespace(t), "outside", `target: {url: "http://example.com"}`+tail)
		cluster.Finish(t, lt)
		if failed := cluster.Condition(lt, v1beta1.ConditionCarriedOut); failed.Reason != v1beta1.ReasonTargetNotAllowed || !strings.Contains(failed.Message, "example.com") {
			t.Errorf("CarriedOut is %s: %q", failed.Reason, failed.Message)
		}
	})
}

// makeService makes Service somewhere, which no pod is behind.
func makeService(t *testing.T, namespace string) {
	t.Helper()
	if _, err := cluster.Command(t.Context(), "kubectl", "create", "service", "clusterip", "somewhere", "--tcp=80", "--namespace", namespace); err != nil {
		t.Fatal(err)
	}
}
