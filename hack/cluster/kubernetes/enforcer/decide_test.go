package enforcer

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
}

// clusterWith is the cluster of testdata with policies of the namespace shop,
// given as the specs that the API server would return.
func clusterWith(t *testing.T, specs ...string) state {
	t.Helper()
	text, err := os.ReadFile("testdata/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Namespaces []*corev1.Namespace
		Pods       []*corev1.Pod
	}
	decode(t, string(text), &file)
	now := state{pods: file.Pods, namespaces: file.Namespaces}
	for i, spec := range specs {
		now.policies = append(now.policies, policyOf(t, fmt.Sprint(i), spec))
	}
	return now
}

func policyOf(t *testing.T, name, spec string) *networkingv1.NetworkPolicy {
	t.Helper()
	p := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "shop"}}
	decode(t, spec, &p.Spec)
	return p
}

// text is a chain per paragraph, its name and what it lets through.
func text(chains []chain) string {
	var all strings.Builder
	for _, c := range chains {
		fmt.Fprintf(&all, "%s:", c.name())
		for _, m := range c.allowed {
			fmt.Fprintf(&all, " (%s)", strings.TrimSpace(m.conditions("other")))
		}
		all.WriteString("\n")
	}
	return all.String()
}

const (
	web = "198.19.1.2"
	db  = "198.19.2.2"
)

func TestPoliciesIsolateThePodsThatTheySelect(t *testing.T) {
	for name, test := range map[string]struct {
		specs []string
		want  string
	}{
		"none without a policy":    {nil, ""},
		"all of the namespace":     {[]string{`{podSelector: {}, policyTypes: [Ingress]}`}, "ingress-198.19.1.2:\ningress-198.19.2.2:\n"},
		"those with a label":       {[]string{`{podSelector: {matchLabels: {app: db}}, policyTypes: [Egress]}`}, "egress-198.19.2.2:\n"},
		"in both directions":       {[]string{`{podSelector: {matchLabels: {app: db}}, policyTypes: [Ingress, Egress]}`}, "egress-198.19.2.2:\ningress-198.19.2.2:\n"},
		"none with all the labels": {[]string{`{podSelector: {matchLabels: {app: web, tier: data}}, policyTypes: [Ingress]}`}, ""},
		"none, with an expression": {[]string{`{podSelector: {matchExpressions: [{key: tier, operator: NotIn, values: [data]}, {key: app, operator: In, values: [db]}]}, policyTypes: [Ingress]}`}, ""},
		"none, as it is unknown":   {[]string{`{podSelector: {matchExpressions: [{key: app, operator: Like, values: [db]}]}, policyTypes: [Ingress]}`}, ""},
		"a rule of a type that the policy lacks": {
			[]string{`{podSelector: {matchLabels: {app: db}}, policyTypes: [Ingress], egress: [{}]}`}, "ingress-198.19.2.2:\n",
		},
		"rules of several policies add up": {[]string{
			`{podSelector: {matchLabels: {app: db}}, policyTypes: [Ingress], ingress: [{from: [{podSelector: {matchLabels: {app: web}}}]}]}`,
			`{podSelector: {}, policyTypes: [Ingress], ingress: [{ports: [{protocol: TCP, port: 1}]}]}`,
		}, "ingress-198.19.1.2: (tcp dport 1)\ningress-198.19.2.2: (ip other { 198.19.1.2 }) (tcp dport 1)\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, text(decide(clusterWith(t, test.specs...)))); diff != "" {
				t.Errorf("chains (-want +got):\n%s", diff)
			}
		})
	}
}

func TestIngressIsWhatThePoliciesAllow(t *testing.T) {
	for name, test := range map[string]struct{ rule, want string }{
		"an empty rule lets all in":   {`{}`, " ()"},
		"pods of the own namespace":   {`{from: [{podSelector: {matchLabels: {app: web}}}]}`, " (ip other { 198.19.1.2 })"},
		"all pods of the own one":     {`{from: [{podSelector: {}}]}`, " (ip other { 198.19.1.2, 198.19.2.2 })"},
		"all pods of other ones":      {`{from: [{namespaceSelector: {matchLabels: {team: ops}}}]}`, " (ip other { 198.19.3.2, 198.19.3.3 })"},
		"all pods there are":          {`{from: [{namespaceSelector: {}}]}`, " (ip other { 198.19.1.2, 198.19.2.2, 198.19.3.2, 198.19.3.3 })"},
		"some pods of other ones":     {`{from: [{namespaceSelector: {matchLabels: {team: ops}}, podSelector: {matchLabels: {app: web}}}]}`, " (ip other { 198.19.3.3 })"},
		"one peer or the other":       {`{from: [{podSelector: {matchLabels: {app: db}}}, {namespaceSelector: {}, podSelector: {matchLabels: {app: probe}}}]}`, " (ip other { 198.19.2.2, 198.19.3.2 })"},
		"an unknown operator":         {`{from: [{podSelector: {matchExpressions: [{key: app, operator: Like}]}}]}`, ""},
		"peers that select no pod":    {`{from: [{podSelector: {matchLabels: {app: none}}}]}`, ""},
		"no peer but a port":          {`{from: [{podSelector: {matchLabels: {app: none}}}], ports: [{protocol: TCP, port: 80}]}`, ""},
		"a block":                     {`{from: [{ipBlock: {cidr: 10.1.2.3/8, except: [10.1.0.0/16, 10.2.0.0/16]}}]}`, " (ip other 10.0.0.0/8 ip other != 10.1.0.0/16 ip other != 10.2.0.0/16)"},
		"a block of IPv6":             {`{from: [{ipBlock: {cidr: "2001:db8::/32"}}]}`, ""},
		"pods and a block":            {`{from: [{podSelector: {matchLabels: {app: db}}}, {ipBlock: {cidr: 10.0.0.0/8}}]}`, " (ip other { 198.19.2.2 }) (ip other 10.0.0.0/8)"},
		"a port":                      {`{ports: [{protocol: UDP, port: 53}]}`, " (udp dport 53)"},
		"ports":                       {`{ports: [{protocol: TCP, port: 80}, {protocol: SCTP, port: 8000, endPort: 8010}]}`, " (tcp dport 80) (sctp dport 8000-8010)"},
		"ports that overlap":          {`{ports: [{protocol: TCP, port: 80, endPort: 90}, {protocol: TCP, port: 85}]}`, " (tcp dport 80-90) (tcp dport 85)"},
		"a protocol":                  {`{ports: [{protocol: TCP}]}`, " (meta l4proto tcp)"},
		"a protocol that is not":      {`{ports: [{protocol: drop, port: 1}]}`, " (meta l4proto 255)"},
		"a name, of the pod's own":    {`{ports: [{protocol: TCP, port: sql}]}`, " (tcp dport 5432)"},
		"a name that it lacks":        {`{ports: [{protocol: TCP, port: http}]}`, ""},
		"a name of another protocol":  {`{ports: [{protocol: UDP, port: sql}]}`, ""},
		"peers and ports":             {`{from: [{podSelector: {matchLabels: {app: web}}}], ports: [{protocol: TCP, port: sql}]}`, " (ip other { 198.19.1.2 } tcp dport 5432)"},
		"each peer at each port":      {`{from: [{podSelector: {matchLabels: {app: web}}}, {ipBlock: {cidr: 10.0.0.0/8}}], ports: [{protocol: TCP, port: 1}, {protocol: TCP, port: 2}]}`, " (ip other { 198.19.1.2 } tcp dport 1) (ip other { 198.19.1.2 } tcp dport 2) (ip other 10.0.0.0/8 tcp dport 1) (ip other 10.0.0.0/8 tcp dport 2)"},
		"no name of the peer's ports": {`{from: [{podSelector: {matchLabels: {app: web}}}], ports: [{protocol: TCP, port: metrics}]}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			spec := `{podSelector: {matchLabels: {app: db}}, policyTypes: [Ingress], ingress: [` + test.rule + `]}`
			want := "ingress-" + db + ":" + test.want + "\n"
			if diff := cmp.Diff(want, text(decide(clusterWith(t, spec)))); diff != "" {
				t.Errorf("chains (-want +got):\n%s", diff)
			}
		})
	}
}

// Out of a pod a port's name is that of a port of the peer.
func TestEgressIsWhatThePoliciesAllow(t *testing.T) {
	for name, test := range map[string]struct{ rule, want string }{
		"an empty rule":           {`{}`, " ()"},
		"a peer":                  {`{to: [{podSelector: {matchLabels: {app: db}}}]}`, " (ip other { 198.19.2.2 })"},
		"a number at any peer":    {`{ports: [{protocol: TCP, port: 80}]}`, " (tcp dport 80)"},
		"a name, of the peer's":   {`{to: [{podSelector: {}}], ports: [{protocol: TCP, port: sql}]}`, " (ip other { 198.19.2.2 } tcp dport 5432)"},
		"a name of several peers": {`{to: [{namespaceSelector: {}}], ports: [{protocol: TCP, port: http}]}`, " (ip other { 198.19.1.2 } tcp dport 8080) (ip other { 198.19.3.2 } tcp dport 80)"},
		"a name at any peer":      {`{ports: [{protocol: UDP, port: http}]}`, " (ip other { 198.19.3.3 } udp dport 53)"},
		"a name and a number":     {`{to: [{podSelector: {matchLabels: {app: db}}}], ports: [{protocol: TCP, port: sql}, {protocol: TCP, port: 1}]}`, " (ip other { 198.19.2.2 } tcp dport 1) (ip other { 198.19.2.2 } tcp dport 5432)"},
		"a name at a block":       {`{to: [{ipBlock: {cidr: 10.0.0.0/8}}], ports: [{protocol: TCP, port: sql}]}`, ""},
		"a name that no peer has": {`{to: [{podSelector: {}}], ports: [{protocol: TCP, port: none}]}`, ""},
		"a name of the pod's own": {`{to: [{podSelector: {matchLabels: {app: db}}}], ports: [{protocol: TCP, port: metrics}]}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			spec := `{podSelector: {matchLabels: {app: web}}, policyTypes: [Egress], egress: [` + test.rule + `]}`
			want := "egress-" + web + ":" + test.want + "\n"
			if diff := cmp.Diff(want, text(decide(clusterWith(t, spec)))); diff != "" {
				t.Errorf("chains (-want +got):\n%s", diff)
			}
		})
	}
}

// nft refuses a map in which one address has two chains.
func TestTwoPodsWithOneAddressHaveOneChainPerDirection(t *testing.T) {
	now := clusterWith(t, `{podSelector: {}, policyTypes: [Ingress, Egress]}`)
	second := now.pods[0].DeepCopy()
	second.Name = "second"
	now.pods = append(now.pods, second)
	want := "egress-198.19.1.2:\ningress-198.19.1.2:\negress-198.19.2.2:\ningress-198.19.2.2:\n"
	if diff := cmp.Diff(want, text(decide(now))); diff != "" {
		t.Errorf("chains (-want +got):\n%s", diff)
	}
}
