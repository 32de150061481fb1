package plan_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// withIdentity is a spec of which the second request goes to another target.
func withIdentity() *v1beta1.LoadTestSpec {
	s := oneUser()
	text := func(v string) *string { return &v }
	s.Target.Headers = []v1beta1.Header{{Name: "Host", Value: text("shop")}}
	s.OtherTargets = []v1beta1.OtherTarget{{
		Name: "identity", Service: &v1beta1.ServiceReference{Name: "keycloak"}, Timeout: &metav1.Duration{Duration: 3 * time.Second},
		Headers: []v1beta1.Header{{Name: "X-Realm", Value: text("shop")}},
		TLS:     &v1beta1.TLS{CA: &v1beta1.Content{ConfigMap: &v1beta1.KeyReference{Name: "ca", Key: "ca.crt"}}},
	}}
	s.Requests = []v1beta1.Request{
		{Name: "cart", HTTP: &v1beta1.HTTPRequest{Path: "/cart"}},
		{Name: "token", Target: "identity", HTTP: &v1beta1.HTTPRequest{Path: "/token"}},
	}
	return s
}

func TestRequestsHaveWhatTheirTargetHas(t *testing.T) {
	lt := acceptedUnder(t, policy.Rules{}, withIdentity())
	same.As(t, "status", []v1beta1.OtherTargetStatus{{Name: "identity", TargetURL: "http://keycloak." + lt.Namespace + ".svc:80"}}, lt.Status.OtherTargets)
	lt.Status.Internal.OtherAccess = []v1beta1.TargetAccess{{Name: "keycloak.demo.svc.cluster.local."}}
	for _, a := range plan.Assignments(lt) {
		cart, token, other := a.GetRequests()[0], a.GetRequests()[1], a.GetOtherTargets()[0]
		if cart.GetTarget() != 0 || token.GetTarget() != 1 || cart.GetTimeoutNanos() != 0 || token.GetTimeoutNanos() != 3e9 {
			t.Errorf("requests %v and %v, want the second to the other target, within its 3 s", cart, token)
		}
		same.As(t, "headers of cart", "Host", cart.GetHeaders()[0].GetName())
		same.As(t, "headers of token", "X-Realm", token.GetHeaders()[0].GetName())
		same.As(t, "URL", "http://keycloak."+lt.Namespace+".svc:80", other.GetUrl())
		same.As(t, "name", "keycloak.demo.svc.cluster.local.", other.GetName())
		same.As(t, "certificates", plan.FileDir+"/configmaps/ca/ca.crt", other.GetTls().GetCaFile())
	}
	same.As(t, "files", []plan.File{{Kind: plan.InConfigMap, Name: "ca", Key: "ca.crt"}}, plan.Files(&lt.Spec))
}

func TestRequestsToOtherTargetsAreChecked(t *testing.T) {
	spec := withIdentity()
	same.As(t, "the timeout", 3*time.Second, plan.Timeout(spec, &spec.Requests[1]))
	for name, tt := range map[string]struct {
		change func(*v1beta1.LoadTestSpec)
		want   string
	}{
		"a name that is not there": {func(s *v1beta1.LoadTestSpec) { s.Requests[1].Target = "Identity" },
			`spec.requests[1].target: "Identity" is not the name of one of spec.otherTargets: identity.`},
		"no other targets": {func(s *v1beta1.LoadTestSpec) { s.OtherTargets = nil },
			`spec.requests[1].target: "identity" is not the name of one of spec.otherTargets, which is empty.`},
		"a target that nothing is sent to": {func(s *v1beta1.LoadTestSpec) { s.Requests[1].Target = "" },
			"spec.otherTargets[identity]: no request, login or versus names it; set target: identity in one of them, or remove it."},
		"a call": {func(s *v1beta1.LoadTestSpec) {
			s.Requests[1].HTTP, s.Requests[1].GRPC = nil, &v1beta1.Call{Method: "a.B/C"}
		}, "spec.requests[1].target: must not be set with grpc: calls of gRPC go to spec.target."},
		"a file of targets": {func(s *v1beta1.LoadTestSpec) {
			s.Requests[1].HTTP.Targets = &v1beta1.Targets{From: v1beta1.Content{ConfigMap: &v1beta1.KeyReference{Name: "a", Key: "b"}}}
		}, "spec.requests[1].target: must not be set with http.targets, whose URLs name spec.target."},
		"vegeta": {func(s *v1beta1.LoadTestSpec) { s.Worker = &v1beta1.Worker{Driver: v1beta1.DriverVegeta} },
			"spec.worker.driver: Vegeta sends to one target; use driver Auto with requests to spec.otherTargets."},
		"a host that is not allowed": {func(s *v1beta1.LoadTestSpec) {
			s.OtherTargets[0].Service, s.OtherTargets[0].URL = nil, "http://127.0.0.1"
		}, "spec.otherTargets[identity].url: host 127.0.0.1 is not allowed: it is a loopback address"},
	} {
		t.Run(name, func(t *testing.T) {
			spec := withIdentity()
			tt.change(spec)
			if _, refusal := plan.New(loadTest(spec), policy.Rules{}); refusal == nil || !strings.HasPrefix(refusal.Message, tt.want) {
				t.Errorf("refusal %+v, want %s", refusal, tt.want)
			}
		})
	}
}

func TestTargetsOfARunThatHasNotBegun(t *testing.T) {
	for spec, want := range map[string]plan.URLs{
		`target: {url: "https://shortener/"}`:              {Target: "https://shortener"},
		"target: {service: {name: shortener, port: 8080}}": {Target: "http://shortener.demo.svc:8080"},
		"target: {service: {name: shortener, port: web}}":  {},
		"{target: {service: {name: shortener, port: web}}, otherTargets: [{name: v3, service: {name: shortener, port: 9090}}], versus: {target: v3}}": {Control: "http://shortener.demo.svc:9090"},
	} {
		same.As(t, "the targets of "+spec, want, plan.TargetURLs(loadTest(yamlSpec(t, spec))))
	}
}
