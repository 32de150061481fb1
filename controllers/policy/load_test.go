package policy_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func TestLoadRefuses(t *testing.T) {
	for name, tc := range map[string]struct{ document, want string }{
		"no YAML":               {"a: [", "read YAML: "},
		"no object":             {"- a", "read the fields: "},
		"another version":       {"apiVersion: config.loadtest.dev/v1", `apiVersion "config.loadtest.dev/v1": must be config.loadtest.dev/v1alpha1`},
		"another kind":          {"kind: Switch", `kind "Switch": must be OperatorConfiguration`},
		"an unknown field":      {"target: {}", `unknown field "target"`},
		"one in a list":         {"targets: {rules: [{host: a}]}", `unknown field "targets.rules[0].host"`},
		"a field twice":         {"stop: {}\nstop: {}", "stop"},
		"a field of wrong case": {"Stop: {}", `unknown field "Stop"`},
		"two documents":         {"targets: {}\n---\nstop: {}", "must be one document of YAML"},
		"a number that is none": {"limits: {runs: many}", "limits.runs"},
		"no namespace":          {"quietHours: [{}, {namespaces: [a, Team_A]}]", `quietHours[1].namespaces[1]: "Team_A" must be the name of a namespace`},
		"in a rule of targets":  {"targets: {rules: [{hosts: [a], namespaces: [Team_A]}]}", `targets.rules[0].namespaces[0]: "Team_A" must be`},
		"in limits":             {"limits: {namespaces: [{namespaces: [Team_A]}]}", `limits.namespaces[0].namespaces[0]: "Team_A" must be`},
		"in a priority class":   {"priorityClasses: [{name: a, namespaces: [Team_A]}]", `priorityClasses[0].namespaces[0]: "Team_A" must be`},
		"no domain":             {"targets: {clusterDomain: 'a b'}", `targets.clusterDomain: "a b" must be a domain`},
		"no range":              {"targets: {never: [a.example]}", `targets.never: "a.example" must be a range`},
		"a stop of none":        {`stop: {namespaces: [""]}`, `stop.namespaces[0]: "" must be the name of a namespace`},
		"a regular expression":  {"workers: [{namespaces: ['[ab]']}]", `workers[0].namespaces[0]: "[ab]" must be`},
	} {
		t.Run(name, func(t *testing.T) { refused(t, tc.document, tc.want) })
	}
}

func TestLoadTakesWhatIsEmpty(t *testing.T) {
	for _, document := range []string{"", "\n", "# nothing\n", "---\n", "{}", "---\n# a\n---\nstop: null\n"} {
		if _, err := policy.Load([]byte(document)); err != nil {
			t.Errorf("%q: %v", document, err)
		}
	}
}

func TestRulesAreThoseOfTheNamespace(t *testing.T) {
	p := load(t, `targets: {rules: [{namespaces: [team-a, "shop-*"], hosts: [api.example.com]}]}`)
	for namespace, want := range map[string]bool{"team-a": true, "shop-1": true, "shop-": true, "shop": false, "team-ab": false, "my-shop-1": false, "": false} {
		if got := p.For(namespace).Targets.Allows("api.example.com"); got != want {
			t.Errorf("namespace %q: allowed %t, want %t", namespace, got, want)
		}
	}
}

// allows says whether a policy is in force that allows a host.
func allows(p *policy.Policy, host string) bool { return p.For("a").Targets.Allows(host) }

func rule(host string) string { return "targets: {rules: [{hosts: [" + host + "]}]}" }

func TestLastValidDocumentStaysInForce(t *testing.T) {
	p, err := policy.Next(nil, map[string]string{"config.yaml": rule("a.example")})
	if err != nil || !allows(p, "a.example") {
		t.Fatalf("%v", err)
	}
	for _, data := range []map[string]string{
		{"config.yaml": "target: {}"}, {"config.yaml": rule("c.example"), "config.yml": rule("b.example")}, {"stop.yaml": "stop: {}", "config.yaml": "x"},
		{"config.yaml": rule("a.example"), "stop.yaml": "kind: OperatorConfiguration"},
		{"config.yaml": rule("a.example"), "stop.yaml": "stops: [{}, {namespaces: [Team_A]}]"},
	} {
		next, err := policy.Next(p, data)
		if err == nil || strings.Contains(err.Error(), "%!") || !allows(next, "a.example") || next.For("a").Hold(now) != nil {
			t.Errorf("%v: %v; the last one is not in force", data, err)
		}
		p = next
	}
	p, err = policy.Next(p, map[string]string{"config.yaml": rule("b.example")})
	if err != nil || allows(p, "a.example") || !allows(p, "b.example") {
		t.Errorf("%v: the corrected one is not in force", err)
	}
	if p, err = policy.Next(p, nil); err != nil || allows(p, "b.example") {
		t.Errorf("%v: rules of a ConfigMap that is gone are in force", err)
	}
}

func TestNothingBeginsWithoutAValidConfiguration(t *testing.T) {
	p, err := policy.Next(nil, map[string]string{"config.yaml": "target: {}\nlimit: {}", "stop.yaml": "stop: {}"})
	if err == nil {
		t.Fatal("there is no error")
	}
	want := "The operator's configuration is invalid, and no run begins until its administrator corrects it: " +
		`config.yaml: unknown field "limit"; unknown field "target"; stop.yaml: unknown field "stop".`
	for range 2 { // of the second try it is said as of the first
		hold := p.For("a").Hold(now)
		if hold == nil || hold.Cause != policy.Invalid || hold.Ends() || hold.Why != want {
			t.Errorf("got %+v, want %s", hold, want)
		}
		p, _ = policy.Next(p, map[string]string{"config.yaml": "target: {}\nlimit: {}", "stop.yaml": "stop: {}"})
	}
	if p, err = policy.Next(p, map[string]string{}); err != nil || p.For("a").Hold(now) != nil || p.For("a").Hold(now).Ends() {
		t.Errorf("%v: runs are held by a configuration that was corrected", err)
	}
	// A configuration that cannot be read makes no run go on in quiet hours.
	p, _ = policy.Next(nil, map[string]string{"config.yaml": `quietHours: [{from: "00:00", to: "24:00"}]`, "stop.yaml": "stop: {}"})
	if hold := p.For("a").Hold(now); hold == nil || hold.Cause != policy.Quiet || !hold.Ends() {
		t.Errorf("quiet hours beside what cannot be read: %+v", hold)
	}
	unread := policy.Unread().For("a")
	if unread.Hold(now) == nil || unread.Targets.Judge(policy.Place{Host: "a.example"}, policy.Facts{}).Problem == "" {
		t.Error("runs begin before the configuration was read")
	}
}

// What the documentation shows can be applied.
func TestDocumentedConfigurationsAreValid(t *testing.T) {
	block := regexp.MustCompile("(?s)```yaml\n(.*?)```")
	files, err := filepath.Glob("../../docs/*/*.md") // docs/security, docs/design
	must.Succeed(t, err)
	found := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		must.Succeed(t, err)
		for _, example := range block.FindAllStringSubmatch(string(text), -1) {
			switch document := []byte(example[1]); {
			case strings.Contains(example[1], "kind: OperatorConfiguration"):
				found++
				if _, err := policy.Load(document); err != nil {
					t.Errorf("%s: %v\n%s", file, err, document)
				}
			case strings.Contains(example[1], "kind: Switch"):
				found++
				if _, err := policy.LoadSwitch(document); err != nil {
					t.Errorf("%s: %v\n%s", file, err, document)
				}
			}
		}
	}
	if found < 2 {
		t.Error("no document shows a configuration")
	}
}
