package enforcer

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestScriptIsAsReviewed(t *testing.T) {
	chains := decide(clusterWith(t,
		`{podSelector: {matchLabels: {app: db}}, policyTypes: [Ingress], ingress: [{from: [{podSelector: {matchLabels: {app: web}}}], ports: [{protocol: TCP, port: sql}]}]}`,
		`{podSelector: {matchLabels: {app: web}}, policyTypes: [Ingress, Egress], egress: [{to: [{ipBlock: {cidr: 10.0.0.0/8, except: [10.1.0.0/16]}}]}, {ports: [{protocol: UDP, port: 53}]}]}`,
	))
	want, err := os.ReadFile("testdata/script.nft")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), script("loadtest-policies", chains)); diff != "" {
		t.Errorf("script (-want +got):\n%s", diff)
	}
}

func TestScriptWithoutChainsDeletesTheTable(t *testing.T) {
	want := "table ip loadtest-policies\ndelete table ip loadtest-policies\n"
	if diff := cmp.Diff(want, script("loadtest-policies", nil)); diff != "" {
		t.Errorf("script (-want +got):\n%s", diff)
	}
}
