package chart_test

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
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

// neverTargets are targets that the API server refuses, and a part of what it says.
var neverTargets = map[string]string{
	"url: 'http://127.0.0.1:8080'":                                "spec.target.url: address 127.0.0.1 can never be a target",
	"url: 'http://127.8.9.1'":                                     "address 127.8.9.1",
	"url: 'http://[::1]:8080'":                                    "address ::1 can never be a target",
	"url: 'http://0.0.0.0'":                                       "address 0.0.0.0",
	"url: 'http://169.254.169.254'":                               "address 169.254.169.254",
	"url: 'http://169.254.169.254.'":                              "address 169.254.169.254",
	"url: 'http://[fe80::1]'":                                     "address fe80::1",
	"url: 'http://[fd00:ec2::254]'":                               "address fd00:ec2::254",
	"url: 'http://[FD00:EC2::254]'":                               "address fd00:ec2::254",
	"url: 'http://[fd00:0ec2:0:0::254]'":                          "can never be a target",
	"url: 'http://100.100.100.200'":                               "address 100.100.100.200",
	"url: 'http://[64:ff9b::a9fe:a9fe]'":                          "address 64:ff9b::a9fe:a9fe",
	"url: 'http://[2002:7f00:1::]'":                               "address 2002:7f00:1::",
	"url: 'http://224.0.0.1'":                                     "address 224.0.0.1",
	"url: 'http://255.255.255.255'":                               "address 255.255.255.255",
	"url: 'http://[::ffff:169.254.169.254]'":                      "::ffff:169.254.169.254 is not how an address is written",
	"url: 'http://[::ffff:a9fe:a9fe]'":                            "is not how an address is written",
	"url: 'http://[fe80::1%25eth0]'":                              "is not how an address is written",
	"url: 'http://2852039166'":                                    "2852039166 is not how an address is written",
	"url: 'http://0x7f.1'":                                        "0x7f.1 is not how an address is written",
	"url: 'http://127.000.000.001'":                               "is not how an address is written",
	"url: 'http://localhost:8080'":                                "localhost can never be a target",
	"url: 'http://LocalHost.'":                                    "localhost can never be a target",
	"url: 'http://a.localhost'":                                   "a.localhost can never be a target",
	"url: 'https://kubernetes.default'":                           "kubernetes.default can never be a target",
	"url: 'https://kubernetes.default.svc'":                       "kubernetes.default.svc can never be a target",
	"url: 'https://kubernetes.default.svc.cluster.local.'":        "kubernetes.default.svc can never be a target",
	"url: 'http://metadata.google.internal'":                      "metadata.google.internal can never be a target",
	"url: 'http://metadata.google.internal:8080'":                 "metadata.google.internal can never be a target",
	"url: 'http://loadtest-operator-leader.OWN.svc:9443'":         "loadtest-operator-leader.OWN.svc can never be a target",
	"url: 'http://loadtest-operator-metrics.OWN.svc'":             "loadtest-operator-metrics.OWN.svc can never be a target",
	"url: 'https://10.0.0.1:10250'":                               "port 10250 of host 10.0.0.1 can never be a target",
	"url: 'https://node-1.example.com:10255'":                     "port 10255 of host node-1.example.com",
	"service: {name: api}, proxy: {url: 'http://localhost:3128'}": "spec.target.proxy.url: localhost can never be a target",
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
	for _, at := range slices.Sorted(maps.Keys(neverTargets)) {
		words := strings.ReplaceAll(neverTargets[at], "OWN", own)
		mustRefuse(t, loadTest(t, elsewhere, "target: {"+strings.ReplaceAll(at, "OWN", own)+"}"), words)
	}
	for _, at := range otherTargets {
		must.Report(t, at+" is refused", create(t, loadTest(t, elsewhere, "target: {"+at+"}")))
	}
	versus := "target: {service: {name: api}}\nversus: {target: {%s}}"
	mustRefuse(t, loadTest(t, elsewhere, fmt.Sprintf(versus, "url: 'http://127.0.0.1'")), "spec.versus.target.url: address 127.0.0.1")
	mustRefuse(t, loadTest(t, elsewhere, fmt.Sprintf(versus, "service: {name: b}, proxy: {url: 'http://127.0.0.1'}")), "spec.versus.target.proxy.url: address")
	other := "target: {service: {name: api}}\notherTargets: [{name: a, service: {name: b}}, {name: identity, %s}]"
	mustRefuse(t, loadTest(t, elsewhere, fmt.Sprintf(other, "url: 'http://169.254.169.254'")), "spec.otherTargets[identity].url: address 169.254.169.254")
	mustRefuse(t, loadTest(t, elsewhere, fmt.Sprintf(other, "service: {name: b}, proxy: {url: 'http://127.0.0.1'}")), "spec.otherTargets[identity].proxy.url: address")
	mustRefuse(t, loadTest(t, own, fmt.Sprintf(other, "service: {name: loadtest-operator-leader}")), "spec.otherTargets[identity].service.name: loadtest-operator-leader."+own+".svc can never be a target")
	must.Report(t, "another target is refused", create(t, loadTest(t, elsewhere, fmt.Sprintf(other, "service: {name: c}"))))
	// A Service is meant in the LoadTest's namespace.
	mustRefuse(t, loadTest(t, own, "target: {service: {name: loadtest-operator-leader}}"), "spec.target.service.name: loadtest-operator-leader."+own+".svc can never be a target")
	mustRefuse(t, loadTest(t, own, "target: {url: 'http://loadtest-operator-metrics:8443'}"), "spec.target.url: loadtest-operator-metrics."+own)
	mustRefuse(t, loadTest(t, own, fmt.Sprintf(versus, "service: {name: loadtest-operator-leader}")), "spec.versus.target.service.name")
	mustRefuse(t, loadTest(t, metav1.NamespaceDefault, "target: {service: {name: kubernetes}}"), "kubernetes.default.svc can never be a target")
}

// What the API server refuses, the operator refuses as well, whatever its configuration
// allows.
func TestOperatorRefusesWhatTheTargetPolicyRefuses(t *testing.T) {
	p, err := policy.Load([]byte("{apiVersion: config.loadtest.dev/v1alpha1, kind: OperatorConfiguration, targets: {rules: [{hosts: ['*'], cidrs: [0.0.0.0/0, '::/0'], proxies: true}]}}"))
	must.Succeed(t, err)
	rules := p.For("team").Targets
	for at := range neverTargets {
		if strings.Contains(at, "OWN") || strings.Contains(neverTargets[at], "written") {
			continue // the addresses of its Services decide; and a spelling leads where it leads
		}
		target := loadTest(t, "team", "target: {"+at+"}").Spec.Target
		if target.Proxy != nil {
			target.URL = target.Proxy.URL
		}
		u, err := url.Parse(target.URL)
		must.Succeed(t, err)
		if rules.Refusal(rules.Place(u)) == "" {
			t.Errorf("the operator allows %s", at)
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
	if err := c.Update(t.Context(), lt); err == nil || !strings.Contains(err.Error(), "address 127.0.0.2 can never be a target") {
		t.Errorf("a change of the target is not refused: %v", err)
	}
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
