package chart_test

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/address"
	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/nevertargets"
)

// The chart has the operator's lists of what can never be a target.
func TestTargetPolicyHasOperatorsLists(t *testing.T) {
	want := map[string][]string{
		"names": append(policy.NeverHosts(), release+"-leader."+namespace+".svc", release+"-metrics."+namespace+".svc"),
	}
	for _, p := range address.Special() {
		want["ranges"] = append(want["ranges"], p.String())
	}
	for _, p := range policy.NeverPorts() {
		want["ports"] = append(want["ports"], fmt.Sprint(p))
	}
	got := map[string][]string{}
	quoted := regexp.MustCompile(`'[^']*'`)
	for _, v := range list(t, find(t, render(t), "ValidatingAdmissionPolicy", release+"-targets"), "spec", "variables") {
		variable := v.(map[string]any)
		if name := variable["name"].(string); want[name] != nil {
			for _, text := range quoted.FindAllString(variable["expression"].(string), -1) {
				got[name] = append(got[name], strings.Trim(text, "'"))
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lists (-operator +chart):\n%s", diff)
	}
}

// otherTargets are those that it stores: the operator decides on them.
var otherTargets = []string{
	"service: {name: api}", "service: {name: kubernetes}", "service: {name: loadtest-operator-leader}",
	"service: {name: api, port: 10250}", "url: 'http://api:10250'", "url: 'http://api.team-b.svc:10250'",
	"url: 'http://10.0.0.1'", "url: 'http://[fd00::7]:8080'", "url: 'http://[64:ff9b::a00:1]'",
	"url: 'http://api'", "url: 'http://metadata'", "url: 'http://localhost.example.com'",
	"url: 'http://kubernetes.default.example.com'", "url: 'https://api.example.com:443'",
	"service: {name: api}, proxy: {url: 'http://proxy:3128'}",
}

func TestTargetsThatNeverAreAllowedAreRefusedWhenApplied(t *testing.T) {
	own, elsewhere := apiserver.Namespace(t), apiserver.Namespace(t)
	installTargetPolicy(t, own)
	for _, target := range nevertargets.Targets(release, own) {
		for _, place := range nevertargets.Places {
			mustRefuse(t, loadTest(t, elsewhere, place.With(target.Fields)), place.Field+"."+target.Says)
		}
	}
	for _, at := range otherTargets {
		must.Report(t, at+" is refused", create(t, loadTest(t, elsewhere, "target: {"+at+"}")))
	}
	other := "target: {service: {name: api}}\notherTargets: [{name: a, service: {name: b}}, {name: identity, %s}]"
	mustRefuse(t, loadTest(t, own, fmt.Sprintf(other, "service: {name: loadtest-operator-leader}")), "spec.otherTargets[identity].service.name: loadtest-operator-leader."+own+".svc can never be a target")
	must.Report(t, "another target is refused", create(t, loadTest(t, elsewhere, fmt.Sprintf(other, "service: {name: c}"))))
	// A Service is meant in the LoadTest's namespace.
	mustRefuse(t, loadTest(t, own, "target: {service: {name: loadtest-operator-leader}}"), "spec.target.service.name: loadtest-operator-leader."+own+".svc can never be a target")
	mustRefuse(t, loadTest(t, own, "target: {url: 'http://loadtest-operator-metrics:8443'}"), "spec.target.url: loadtest-operator-metrics."+own)
	mustRefuse(t, loadTest(t, metav1.NamespaceDefault, "target: {service: {name: kubernetes}}"), "kubernetes.default.svc can never be a target")
}

// What the API server refuses, the operator refuses as well, whatever its configuration
// allows.
func TestOperatorRefusesWhatTheTargetPolicyRefuses(t *testing.T) {
	p, err := policy.Load([]byte("{apiVersion: config.loadtest.dev/v1alpha1, kind: OperatorConfiguration, targets: {rules: [{hosts: ['*'], cidrs: [0.0.0.0/0, '::/0'], proxies: true}]}}"))
	must.Succeed(t, err)
	rules := p.For("team").Targets
	for _, never := range nevertargets.Targets(release, "system") {
		if strings.Contains(never.Fields, release) || strings.Contains(never.Says, "written") {
			continue // the addresses of its Services decide; and a spelling leads where it leads
		}
		target := loadTest(t, "team", "target: {"+never.Fields+"}").Spec.Target
		if target.Proxy != nil {
			target.URL = target.Proxy.URL
		}
		u, err := url.Parse(target.URL)
		must.Succeed(t, err)
		if rules.Refusal(rules.Place(u)) == "" {
			t.Errorf("the operator allows %s", never.Fields)
		}
	}
}

// A LoadTest whose target was stored before the policy can be ended, and its target
// cannot be changed for another of the kind.
func TestTargetPolicyHoldsChangesOfTargetsAlone(t *testing.T) {
	own, elsewhere := apiserver.Namespace(t), apiserver.Namespace(t)
	lt := loadTest(t, elsewhere, "target: {url: 'http://127.0.0.1'}")
	c := apiserver.Client(t)
	must.Succeed(t, c.Create(t.Context(), lt))
	installTargetPolicy(t, own)
	lt.Spec.Suspend = true
	must.Report(t, "a change of another field is refused", c.Update(t.Context(), lt))
	lt.Spec.Target.URL = "http://127.0.0.2"
	must.Say(t, c.Update(t.Context(), lt), "address 127.0.0.2 can never be a target")
}

// installTargetPolicy has the server enforce the policy of a release in a namespace until
// the test ends.
func installTargetPolicy(t *testing.T, own string) {
	t.Helper()
	objects, err := helm(t, release, "--namespace", own)
	must.Succeed(t, err)
	bad := loadTest(t, own, "target: {url: 'http://127.0.0.1'}")
	t.Cleanup(func() { awaitAnswer(t, bad, true) })
	enforce(t, objects, func(o *unstructured.Unstructured) bool { return o.GetName() == release+"-targets" })
	awaitAnswer(t, bad, false)
}

// awaitAnswer waits until the server takes the LoadTest, or refuses it: it reads policies
// some time after it has stored or deleted them.
func awaitAnswer(t *testing.T, lt *v1beta1.LoadTest, taken bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), await.Patience) // that of the test may be over
	defer cancel()
	must.Succeed(t, await.Try(ctx, func(ctx context.Context) error {
		if err := apiserver.Client(t).Create(ctx, lt.DeepCopy(), client.DryRunAll); (err == nil) != taken {
			return fmt.Errorf("the server takes a LoadTest: %t (%w)", !taken, err)
		}
		return nil
	}))
}

// loadTest is one with these fields, which the server takes without the policy.
func loadTest(t *testing.T, namespace, fields string) *v1beta1.LoadTest {
	t.Helper()
	lt := &v1beta1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "tried"}}
	if err := yaml.UnmarshalStrict([]byte("requests: [{name: home, http: {path: /}}]\nsteps: [{name: 1/s, rate: 1, duration: 1s}]\n"+fields), &lt.Spec); err != nil {
		t.Fatalf("%s: %v", fields, err)
	}
	return lt
}

// create creates an object, but does not store it.
func create(t *testing.T, lt *v1beta1.LoadTest) error {
	t.Helper()
	return apiserver.Client(t).Create(t.Context(), lt.DeepCopy(), client.DryRunAll)
}

func mustRefuse(t *testing.T, lt *v1beta1.LoadTest, words string) {
	t.Helper()
	err := create(t, lt)
	if err == nil || !strings.Contains(err.Error(), "ValidatingAdmissionPolicy") || !strings.Contains(err.Error(), words) {
		t.Errorf("%+v: not refused with %q: %v", lt.Spec.Target, words, err)
	}
}
