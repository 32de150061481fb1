//go:build e2e

package abuse

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
)

// rightsAbuses are requests for which the people of a tenant have no right.
var rightsAbuses = []abuse{
	{"a status of one's own", rbac, "loadtests/status", func(t *testing.T, p *people) attempt {
		lt := p.attacker.suspended(t)
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"status": {"verdict": "Passed"}}`))
		return byAPI(t, p.attacker.editor.Status().Patch(t.Context(), lt, patch))
	}},
	{"a LoadTest in another's namespace", rbac, "cannot create resource", func(t *testing.T, p *people) attempt {
		lt := p.victim.loadTest(t, harmless)
		return byAPI(t, p.attacker.editor.Create(t.Context(), lt))
	}},
	{"reading another's LoadTests", rbac, "cannot get resource", func(t *testing.T, p *people) attempt {
		lt := p.victim.loadTest(t, harmless)
		return byAPI(t, p.attacker.editor.Get(t.Context(), client.ObjectKeyFromObject(lt), lt))
	}},
	{"a LoadTest by a viewer", rbac, "cannot create resource", func(t *testing.T, p *people) attempt {
		return byAPI(t, p.attacker.viewer.Create(t.Context(), p.attacker.loadTest(t, harmless)))
	}},
	{"the coordinator's key", rbac, "cannot get resource", func(t *testing.T, p *people) attempt {
		key := client.ObjectKey{Namespace: cluster.OperatorNamespace, Name: "loadtest-operator-coordinator"}
		return byAPI(t, p.attacker.editor.Get(t.Context(), key, &corev1.Secret{}))
	}},
	{"a token of the operator's account", rbac, "cannot create resource", func(t *testing.T, p *people) attempt {
		return byAPI(t, p.attacker.editor.SubResource("token").Create(t.Context(), operatorAccount(), tokenFor("", nil)))
	}},
}
