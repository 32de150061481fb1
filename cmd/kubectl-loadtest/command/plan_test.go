package command_test

import (
	"encoding/json"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/preview"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

const ladderSpec = `  target: {service: {name: shortener, port: http}}
  requests: [{name: health, http: {path: /health}}]
  ladder: {users: [10, 6000], ratePerUser: 1, duration: 10s, warmUp: 2s, rest: 5s}
`

func TestPlanInEachForm(t *testing.T) {
	file := write(t, "a.yaml", testHead+ladderSpec)
	text := alone(t.Context(), t, "plan", "-f", file)
	contains(t, "the plan", text.out, "LoadTest hello\n", "Workers             3, computed from the largest step\n",
		"Requests due        60100\n", "Duration            29s; ", "6000 users          17s        2s     10s          60000   1/s each", "failureRate (default)   failureRate at most 1%")
	text.exits(t, 0)
	read := map[string]func([]byte, any) error{"json": json.Unmarshal, "yaml": func(b []byte, v any) error { return yaml.UnmarshalStrict(b, v) }}
	for form, unmarshal := range read {
		var p preview.Preview
		got := alone(t.Context(), t, "plan", "-f", file, "-o", form)
		if err := unmarshal([]byte(got.out), &p); err != nil || p.Requests != 60100 || p.Workers != 3 || len(p.Steps) != 3 || *p.Steps[2].Requests != 60000 {
			t.Errorf("%s: %v, exit code %d:\n%s", form, err, got.code, got.out)
		}
	}
	alone(t.Context(), t, "plan", "-f", file, "-o", "pdf").fails(t, "--output must be one of text, json, yaml")
}

// What is planned beforehand is what runs.
func TestPlanIsWhatRuns(t *testing.T) {
	url, asked := answering(t, 200)
	file := write(t, "a.yaml", localTest("url: "+url))
	var p preview.Preview
	got := alone(t.Context(), t, "plan", "-f", file, "-o", "json", "--config", allHosts(t))
	if err := json.Unmarshal([]byte(got.out), &p); err != nil {
		t.Fatalf("%v: %s", err, got.err)
	}
	var lt v1beta1.LoadTest
	ran := alone(t.Context(), t, "run", "--local", "-f", file, "-o", "yaml")
	must.Succeed(t, yaml.Unmarshal([]byte(ran.out), &lt))
	if p.Requests != asked.Load() || p.Workers != lt.Status.Workers.Desired || len(p.Steps) != len(lt.Status.Steps) {
		t.Errorf("planned %d requests, %d workers, %d steps; ran %d, %d, %d", p.Requests, p.Workers, len(p.Steps),
			asked.Load(), lt.Status.Workers.Desired, len(lt.Status.Steps))
	}
}

// A plan that the policy refuses is shown all the same, and said to be refused.
func TestPlanSaysWhatThePolicySays(t *testing.T) {
	file := write(t, "a.yaml", testHead+strings.Replace(ladderSpec, "service: {name: shortener, port: http}", `url: "https://api.example.com"`, 1))
	got := alone(t.Context(), t, "plan", "-f", file, "--config", write(t, "config.yaml", ""))
	got.exits(t, 1)
	contains(t, "the plan", got.out, "Not allowed         spec.target.url: host api.example.com is not allowed", "Requests due        60100")
}

func TestPlanAsksTheCluster(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	spec := ladderSpec + "  data: [{name: users, format: CSV, from: {configMap: {name: rows, key: users.csv}}}]\n"
	file := write(t, "a.yaml", testHead+spec)
	got := p.run("plan", "--server", "-f", file)
	got.exits(t, 1)
	contains(t, "the output", got.err, "spec.target.service.name: Service shortener is not in namespace "+p.namespace,
		"ConfigMap rows is not in namespace "+p.namespace+"; the LoadTest needs key users.csv of ConfigMap rows")
	contains(t, "the plan", got.out, "LoadTest "+p.namespace+"/hello", "Requests due        60100")

	p.apply("apiVersion: v1\nkind: Service\nmetadata: {name: shortener}\nspec: {ports: [{name: web, port: 80}]}\n")
	p.apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: rows}\n")
	got = p.run("plan", "--server", "-f", file)
	contains(t, "the output", got.err, "spec.target.service.port: Service shortener has no port http")
	if strings.Contains(got.err, "ConfigMap") {
		t.Errorf("a ConfigMap that is there is missed: %s", got.err)
	}
	p.run("plan", "--server", "-f", write(t, "b.yaml", testHead+strings.Replace(ladderSpec, "http", "web", 1))).exits(t, 0)
	p.create(running)
	if got := p.run("plan", "--server", "-f", file); !strings.Contains(got.err, "metadata.name: a LoadTest of that name exists already") {
		t.Errorf("the output does not say that the name is taken: %s", got.err)
	}
}

// Each target is shown, and its Service is asked for.
func TestPlanShowsAllTargets(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	p.apply("apiVersion: v1\nkind: Service\nmetadata: {name: shop}\nspec: {ports: [{port: 80}]}\n")
	const spec = `
  target: {service: {name: shop}}
  otherTargets: [{name: identity, service: {name: keycloak, port: http}}]
  requests: [{name: cart, http: {path: /}}, {name: token, target: identity, http: {path: /}}]
  steps: [{name: one, users: 1, duration: 1s}]
`
	got := p.run("plan", "--server", "-f", write(t, "a.yaml", testHead+spec))
	contains(t, "the output", got.err, "spec.otherTargets[0].service.name: Service keycloak is not in namespace "+p.namespace)
	contains(t, "the plan", got.out, "Other targets       identity, ")
	if got.code != 1 || strings.Contains(got.err, "shop") {
		t.Errorf("exit code %d, want 1 for the other Service alone: %s", got.code, got.err)
	}
}
