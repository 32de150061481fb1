package preview_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/preview"
	"github.com/loadtest-dev/loadtest-operator/test/golden"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

var now = time.Date(2026, 11, 20, 10, 15, 0, 0, time.UTC)

func parse(t *testing.T, spec string) *v1beta1.LoadTest {
	t.Helper()
	lt := &v1beta1.LoadTest{}
	lt.Namespace, lt.Name = "shop", "checkout"
	must.Succeed(t, yaml.UnmarshalStrict([]byte(spec), &lt.Spec))
	return lt
}

// TestText compares previews with texts that can be read. go test -update writes them.
func TestText(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			spec := must.ReadFile(t, file)
			p := previewed(t, parse(t, string(spec)), noRules(t))
			golden.Check(t, strings.TrimSuffix(file, ".yaml")+".txt", p.Text())
		})
	}
}

const small = "target: {url: \"https://api.example.com\"}\nrequests: [{name: home, http: {path: /}}]\n"

// What no policy would allow is an error; a target that this one does not allow is said,
// and planned all the same.
func TestPolicyAndRefusal(t *testing.T) {
	lt := parse(t, small+"steps: [{name: 10/s, rate: 10, duration: 1s}]")
	p, err := preview.New(lt, noRules(t), "", now)
	if err != nil || !strings.Contains(p.Policy, "host api.example.com is not allowed") || p.Requests != 10 {
		t.Errorf("%v, policy %q", err, p.Policy)
	}
	allowed := policyOf(t, []byte(`targets: {rules: [{hosts: ["*.example.com"]}]}`))
	if p, err := preview.New(lt, allowed, "", now); err != nil || p.Policy != "" {
		t.Errorf("%v, policy %q of a host that is allowed", err, p.Policy)
	}
	var refusal preview.Refusal
	if _, err := preview.New(parse(t, small+"steps: [{name: pause 1s, pause: 1s}]"), noRules(t), "", now); !errors.As(err, &refusal) || !strings.Contains(refusal.Message, "at least one step must send load") {
		t.Errorf("error %v of a plan that sends nothing", err)
	}
}

// A refusal by one part of the policy does not hide the refusals by other parts.
func TestAllThatThePolicyRefusesIsSaid(t *testing.T) {
	const token = "headers: [{name: A, valueFrom: {secret: {name: loadtest-a, key: token}}}]"
	lt := parse(t, "target: {url: \"https://api.example.com\", "+token+"}\nexpose: Responses\nrequests: [{name: home, http: {path: /}}]\n"+
		"steps: [{name: 10/s, rate: 10, duration: 1s}]\nthresholds: [{metric: Query, query: hits, max: 1}]")
	p := previewed(t, lt, noRules(t))
	for i, want := range []string{"host api.example.com is not allowed", "spec.expose: Responses is not allowed", "there is no query"} {
		if len(p.Refused) != 3 || !strings.Contains(strings.Join(p.Refused, "\n"), want) || !strings.Contains(p.Policy, want) {
			t.Errorf("%d: %q and %q do not say %s", i, p.Refused, p.Policy, want)
		}
	}
}

// What is said of a LoadTest with loads is of the steps of all of them.
func TestSummaryOfLoads(t *testing.T) {
	const users, sessions, burst = "{name: u, users: 1, duration: 2s}", "{name: r, rate: 3, duration: 1s}", "{name: b, users: 3, requestsPerUser: 2}"
	const journey = "journeys: [{name: j, steps: [{request: home}]}]\n"
	for loads, want := range map[string]string{
		journey + "loads: [{name: a, steps: [" + sessions + "]}, {name: b, steps: [" + sessions + ", " + sessions + "]}]": "3 steps in 2 loads, 2 workers, sessions due: 9, requests due: as many as the target answers, duration: 2s; ",
		"loads: [{name: a, steps: [" + burst + "]}]":                                       "1 step in 1 load, 1 worker, requests due: 6, duration: until the last response; ",
		"loads: [{name: a, steps: [" + burst + "]}, {name: b, steps: [" + sessions + "]}]": "2 steps in 2 loads, 2 workers, requests due: 9, duration: 1s and the time of the bursts; ",
		"loads: [{name: a, steps: [" + users + "]}, {name: b, steps: [" + sessions + "]}]": "2 steps in 2 loads, 2 workers, requests due: 3, and as many as the target answers in the steps of users without a rate, duration: 2s; ",
	} {
		p := previewed(t, parse(t, small+loads), noRules(t))
		if got := p.Summary(); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", loads, got, want)
		}
	}
}

// A query is one of the administrator, who has it or not.
func TestQueryIsOfTheAdministrator(t *testing.T) {
	lt := parse(t, "target: {service: {name: api}}\nrequests: [{name: home, http: {path: /}}]\nsteps: [{name: 10/s, rate: 10, duration: 1s}]\nthresholds: [{metric: Query, query: hits, max: 1}]")
	for config, want := range map[string]string{
		"": `spec.thresholds[0].query: there is no query "hits": the operator's configuration has none for this namespace in prometheus.queries.`,
		`prometheus: {url: "https://p", queries: [{name: hits, expression: up}]}`: "",
	} {
		rules := policyOf(t, []byte(config))
		p, err := preview.New(lt, rules, "", now)
		if err != nil || p.Policy != want || p.Requests != 10 || p.Thresholds[0].Text != "query hits at most 1" {
			t.Errorf("%s: %v, policy %q, want %q; thresholds %+v", config, err, p.Policy, want, p.Thresholds)
		}
	}
}

// A LoadTest without a namespace is judged as one of the namespace default.
func TestRulesWithoutANamespace(t *testing.T) {
	lt := parse(t, "target: {service: {name: api}}\nrequests: [{name: home, http: {path: /, headers: [{name: A, valueFrom: {secret: {name: api, key: token}}}]}}]\nsteps: [{name: 10/s, rate: 10, duration: 1s}]")
	lt.Namespace = ""
	for config, want := range map[string]string{
		"": "spec names Secret api: its use is not allowed in namespace default; leave it out, use loadtest-*, or ask the administrator to add it to secrets of a rule in workers of the operator's configuration.",
		`workers: [{namespaces: [default], secrets: [api]}]`: "",
	} {
		rules := policyOf(t, []byte(config))
		p, err := preview.New(lt, rules, "", now)
		if err != nil || p.Policy != want {
			t.Errorf("%s: %v, policy %q, want %q", config, err, p.Policy, want)
		}
	}
}

// The image of the release is allowed by any configuration, once it is known.
func TestImageOfTheReleaseIsAllowed(t *testing.T) {
	lt := parse(t, "target: {service: {name: api}}\nrequests: [{name: home, http: {path: /}}]\nsteps: [{name: 10/s, rate: 10, duration: 1s}]\nworker: {image: registry.example.com/worker:v1}")
	for release, refused := range map[string]bool{"": true, "registry.example.com/worker:v2": true, "registry.example.com/worker:v1": false} {
		p, err := preview.New(lt, noRules(t), release, now)
		if err != nil || strings.Contains(p.Policy, "spec.worker.image") != refused {
			t.Errorf("release %q: %v, policy %q, want refused %t", release, err, p.Policy, refused)
		}
	}
}

// Whatever holds a run, what it will do is shown, and what holds it.
func TestPreviewOfWhatIsHeld(t *testing.T) {
	lt := parse(t, small+"suspend: true\nactiveDeadlineSeconds: 5\nsteps: [{name: 10/s, rate: 10, duration: 10s}]")
	before := lt.DeepCopy()
	p, err := preview.New(lt, noRules(t), "", now)
	if err != nil || p.Requests != 100 {
		t.Fatalf("%v, %d requests", err, p.Requests)
	}
	notes := strings.Join(p.Notes, "\n")
	for _, want := range []string{"spec.suspend is true", "5s will pass before the steps end, which take 10s"} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes do not say %q:\n%s", want, notes)
		}
	}
	if diff := cmp.Diff(before, lt); diff != "" {
		t.Errorf("the LoadTest was changed:\n%s", diff)
	}
}

// Before it runs, a LoadTest says what it waits for, and when it is not compared.
func TestPreviewOfABaseline(t *testing.T) {
	for field, want := range map[string]string{
		"{name: before}":                           "the run begins once LoadTest before has finished, and is refused if its steps or its traffic differ.",
		"{name: before, optional: true}":           "the run begins once LoadTest before has finished, and is compared with nothing if it does not exist, or its steps or its traffic differ.",
		"{selector: {b: x, a: z}}":                 "the run is compared with the last LoadTest that passed and has labels a=z,b=x, and is refused if there is none, or its steps or its traffic differ.",
		"{selector: {b: x, a: z}, optional: true}": "the run is compared with the last LoadTest that passed and has labels a=z,b=x, and is compared with nothing if there is none, or its steps or its traffic differ.",
		"{schedule: nightly}":                      "the run is compared with the level of schedule nightly, and is refused if fewer than 3 of its LoadTests passed with these steps and this traffic.",
		"{schedule: nightly, optional: true}":      "the run is compared with the level of schedule nightly, and is compared with nothing if fewer than 3 of its LoadTests passed with these steps and this traffic.",
	} {
		p, err := preview.New(parse(t, small+"steps: [{name: 10/s, rate: 10, duration: 1s}]\nbaseline: "+field), noRules(t), "", now)
		if err != nil || !slices.Contains(p.Notes, "spec.baseline: "+want) {
			t.Errorf("%s: %v, %q", field, err, p.Notes)
		}
	}
}

// A relative threshold names what it compares with: an earlier run, or the other target.
func TestThresholdNamesWhatItComparesWith(t *testing.T) {
	const relative = "steps: [{name: 10/s, rate: 10, duration: 1s}]\nthresholds: [{metric: p95, maxIncrease: 5%}]\n"
	for other, want := range map[string]string{
		"baseline: {name: before}": "p95 at most 5% above the baseline",
		"otherTargets: [{name: v3, service: {name: api-v3}}]\nversus: {target: v3}": "p95 at most 5% above the control",
	} {
		p := previewed(t, parse(t, small+relative+other), noRules(t))
		same.As(t, other, want, p.Thresholds[0].Text)
	}
}

func noRules(t *testing.T) *preview.Policy { return policyOf(t, nil) }

func policyOf(t *testing.T, config []byte) *preview.Policy {
	t.Helper()
	p, err := preview.LoadPolicy(config)
	must.Succeed(t, err)
	return p
}

// previewed is the preview of a LoadTest that is planned.
func previewed(t *testing.T, lt *v1beta1.LoadTest, rules *preview.Policy) *preview.Preview {
	t.Helper()
	p, err := preview.New(lt, rules, "", now)
	must.Succeed(t, err)
	return p
}
