//go:build e2e

package abuse

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
)

// stopAbuses are what the people of a tenant could try with the operator's configuration.
var stopAbuses = []abuse{
	{"the switch that stops every run", rbac, "cannot patch resource", func(t *testing.T, p *people) attempt {
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"data": {"stop.yaml": "stops: [{by: nobody}]"}}`))
		return byAPI(t, p.attacker.editor.Patch(t.Context(), configuration(), patch))
	}},
	{"rules of one's own", rbac, "cannot update resource", func(t *testing.T, p *people) attempt {
		cm := configuration()
		cm.Data = map[string]string{"config.yaml": `targets: {rules: [{hosts: ["*"]}]}`}
		return byAPI(t, p.attacker.editor.Update(t.Context(), cm))
	}},
	{"no rules at all", rbac, "cannot delete resource", func(t *testing.T, p *people) attempt {
		return byAPI(t, p.attacker.editor.Delete(t.Context(), configuration()))
	}},
}

func configuration() *corev1.ConfigMap {
	cm := &corev1.ConfigMap{}
	cm.Namespace, cm.Name = cluster.OperatorNamespace, "loadtest-operator-config"
	return cm
}
