//go:build e2e

package runs

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// checkSpread: three workers ran on three nodes, without credentials of the
// cluster, where the cluster has as many nodes.
func checkSpread(t *testing.T, namespace string) {
	t.Helper()
	var nodes corev1.NodeList
	must.Succeed(t, cluster.API.List(t.Context(), &nodes))
	var pods corev1.PodList
	must.Succeed(t, cluster.API.List(t.Context(), &pods, client.InNamespace(namespace), client.HasLabels{"loadtest.dev/run"}))
	used := map[string]bool{}
	for _, p := range pods.Items {
		used[p.Spec.NodeName] = true
		for _, v := range p.Spec.Volumes {
			if v.Projected == nil || len(v.Projected.Sources) != 1 || v.Projected.Sources[0].ServiceAccountToken.Audience == "" {
				t.Errorf("worker %s mounts volume %s", p.Name, v.Name)
			}
		}
	}
	if len(pods.Items) != 3 || len(used) != min(3, len(nodes.Items)) {
		t.Errorf("%d workers on %d of %d nodes, want 3 workers spread", len(pods.Items), len(used), len(nodes.Items))
	}
}
