package enforcer

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/golden"
)

func TestScript(t *testing.T) {
	chains := decide(someCluster(t,
		`{podSelector: {matchLabels: {app: db}}, policyTypes: [Ingress], ingress: [{from: [{podSelector: {matchLabels: {app: web}}}], ports: [{protocol: TCP, port: sql}]}]}`,
		`{podSelector: {matchLabels: {app: web}}, policyTypes: [Ingress, Egress], egress: [{to: [{ipBlock: {cidr: 10.0.0.0/8, except: [10.1.0.0/16]}}]}, {ports: [{protocol: UDP, port: 53}]}]}`,
	))
	golden.Check(t, "script.nft", []byte(script(chains)))
}

func TestScriptWithoutChainsTakesTheTableAway(t *testing.T) {
	want := "table ip loadtest-policies\ndelete table ip loadtest-policies\n"
	if diff := cmp.Diff(want, script(nil)); diff != "" {
		t.Errorf("script (-want +got):\n%s", diff)
	}
}
