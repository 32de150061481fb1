package html

import (
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// A page is shown to others: no header or metadata of either target carries what one could log in
// with.
func TestManifestHidesCredentials(t *testing.T) {
	secret := "hunter2"
	headers := func() []v1beta1.Header {
		return []v1beta1.Header{{Name: "X-Api-Key", Value: &secret}, {Name: "X-Session-Id", Value: &secret}}
	}
	lt := &v1beta1.LoadTest{}
	lt.Spec.Target.Headers = headers()
	call := func() *v1beta1.Call { return &v1beta1.Call{Metadata: headers()} }
	questions := func() []v1beta1.Preflight {
		return []v1beta1.Preflight{{HTTP: &v1beta1.Query{Headers: headers()}}, {GRPC: call()}, {GRPCHealth: &v1beta1.GRPCHealth{}}}
	}
	lt.Spec.Requests = []v1beta1.Request{{Name: "home", HTTP: &v1beta1.HTTPRequest{Headers: headers()}}, {Name: "home-2", GRPC: call()}}
	lt.Spec.Preflight = questions()
	lt.Spec.OtherTargets = []v1beta1.OtherTarget{{Name: "v3", Headers: headers()}}
	lt.Spec.Versus = &v1beta1.Versus{Target: "v3", Preflight: questions()}
	lt.Spec.Audits = []v1beta1.Audit{{}, {Stored: &v1beta1.Stored{Read: v1beta1.Reading{HTTP: &v1beta1.Query{Headers: headers()}}}}, {Stored: &v1beta1.Stored{Read: v1beta1.Reading{GRPC: call()}}}}
	text, err := manifest(lt)
	if err != nil || strings.Contains(text, secret) || strings.Count(text, "(left out)") != 20 {
		t.Errorf("%v\n%s", err, text)
	}
}
