package v1beta1_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// full is a patch that sets every field that must not change after the start.
const full = `{
  target: {url: http://shortener:8080, timeout: 5s, headers: [{name: A, value: "1"}]},
  preflight: [{http: {path: /version}, expect: {json: [{path: .strategy, equals: lua}]}}],
  requests: [{name: health, http: {path: /health, body: b}, weight: 2, expect: {status: [200]}}],
  steps: [{name: 1 users x 1, users: 1, requestsPerUser: 1}],
  repetitions: 2,
  thresholds: [{metric: p95, max: 1s, requests: [health]}],
  baseline: {name: before},
  audits: [{name: contract, rateLimit: {capacity: 50, refillPerSecond: "10", clientHeader: X-Forwarded-For}}],
  journeys: [{name: visit, steps: [{request: health}]}],
  data: [{name: a, from: {configMap: {name: rows, key: a.csv}}, format: CSV}],
  setup: {fill: {request: health, count: 1}},
  randomSeed: 7,
  parallelism: 2,
  expose: Responses,
  worker: {image: loadtest.dev/worker:dev, nodeSelector: {zone: a}},
  queue: {priorityClass: nightly}
}`

// transitions are changes of a LoadTest whose run has started: valid and invalid
// are patches of the spec of the object that full makes.
var transitions = []validation{
	{name: "target", valid: "{target: {timeout: 5s}}", invalid: "{target: {timeout: 6s}}", want: []string{frozen("target")}},
	{name: "target's headers", valid: "{}", invalid: "{target: {headers: null}}", want: []string{frozen("target")}},
	{name: "preflight", valid: "{}", invalid: "{preflight: [{http: {path: /version}}]}", want: []string{frozen("preflight")}},
	{name: "no preflight", valid: "{}", invalid: "{preflight: null}", want: []string{frozen("preflight")}},
	{name: "requests", valid: "{}", invalid: "{requests: [{name: health, http: {path: /}}]}", want: []string{frozen("requests")}},
	{name: "journeys", valid: "{}", invalid: "{journeys: [{name: visit, steps: [{request: health, times: 2}]}]}", want: []string{frozen("journeys")}},
	{name: "no journeys", valid: "{}", invalid: "{journeys: null}", want: []string{frozen("journeys")}},
	{name: "data", valid: "{}", invalid: "{data: [{name: a, from: {configMap: {name: rows, key: b.csv}}, format: CSV}]}", want: []string{frozen("data")}},
	{name: "no data", valid: "{}", invalid: "{data: null}", want: []string{frozen("data")}},
	{name: "setup", valid: "{}", invalid: "{setup: {fill: {count: 2}}}", want: []string{frozen("setup")}},
	{name: "no setup", valid: "{}", invalid: "{setup: null}", want: []string{frozen("setup")}},
	{name: "queue", valid: "{queue: {priorityClass: nightly}}", invalid: "{queue: {priorityClass: release-gate}}", want: []string{frozen("queue")}},
	{name: "no queue", valid: "{}", invalid: "{queue: null}", want: []string{frozen("queue")}},
	{name: "randomSeed", valid: "{randomSeed: 7}", invalid: "{randomSeed: 8}", want: []string{frozen("randomSeed")}},
	{name: "no randomSeed", valid: "{}", invalid: "{randomSeed: null}", want: []string{frozen("randomSeed")}},
	{name: "steps", valid: "{}", invalid: "{steps: [{name: 2 users x 1, users: 2, requestsPerUser: 1}]}", want: []string{frozen("steps")}},
	{
		name: "loads instead of steps", valid: "{}", invalid: "{steps: null, loads: [" + oneLoad + "]}",
		want: []string{frozen("loads"), "spec.loads: Forbidden: loads must not be set with baseline, versus, audits or repetitions, or with parallelism, which each load has", frozen("steps")},
	},
	{
		name: "ladder instead of steps", valid: "{}", invalid: "{steps: null, ladder: {users: [1], duration: 1s}}",
		want: []string{frozen("ladder"), frozen("steps")},
	},
	{
		name: "search instead of steps", valid: "{}", invalid: "{steps: null, repetitions: 1, search: {users: {min: 1, max: 2}, duration: 1s}}",
		want: []string{frozen("repetitions"), frozen("search"), frozen("steps")},
	},
	{
		name: "replay instead of steps", valid: "{}", invalid: "{steps: null, journeys: null, replay: {from: {configMap: {name: logs, key: a.log}}, duration: 1s}}",
		want: []string{frozen("journeys"), frozen("replay"), frozen("steps")},
	},
	{name: "repetitions", valid: "{repetitions: 2}", invalid: "{repetitions: 3}", want: []string{frozen("repetitions")}},
	{name: "no repetitions, which is one", valid: "{}", invalid: "{repetitions: null}", want: []string{frozen("repetitions")}},
	{name: "thresholds", valid: "{}", invalid: "{thresholds: [{metric: p95, max: 2s, requests: [health]}]}", want: []string{frozen("thresholds")}},
	{name: "no thresholds", valid: "{}", invalid: "{thresholds: null}", want: []string{frozen("thresholds")}},
	{name: "baseline", valid: "{baseline: {name: before}}", invalid: "{baseline: {name: another}}", want: []string{frozen("baseline")}},
	{name: "no baseline", valid: "{}", invalid: "{baseline: null}", want: []string{frozen("baseline")}},
	{
		name: "versus instead of a baseline", valid: "{}", invalid: "{baseline: null, audits: null, otherTargets: [{name: v3, url: 'http://v3:8080'}], versus: {target: v3}}",
		want: []string{frozen("audits"), frozen("baseline"), frozen("otherTargets"), frozen("versus")},
	},
	{name: "other targets", valid: "{}", invalid: "{otherTargets: [{name: a, url: 'http://a'}]}", want: []string{frozen("otherTargets")}},
	{name: "logins", valid: "{}", invalid: "{logins: [{name: a, type: Basic, secretName: a}]}", want: []string{frozen("logins")}},
	{name: "audits", valid: "{}", invalid: "{audits: [{name: contract, rateLimit: {capacity: 51, refillPerSecond: '10', clientHeader: X-Forwarded-For}}]}", want: []string{frozen("audits")}},
	{name: "no audits", valid: "{}", invalid: "{audits: null}", want: []string{frozen("audits")}},
	{name: "parallelism", valid: "{}", invalid: "{parallelism: 3}", want: []string{frozen("parallelism")}},
	{name: "no parallelism", valid: "{}", invalid: "{parallelism: null}", want: []string{frozen("parallelism")}},
	{name: "expose", valid: "{expose: Responses}", invalid: "{expose: None}", want: []string{frozen("expose")}},
	{name: "no expose", valid: "{}", invalid: "{expose: null}", want: []string{frozen("expose")}},
	{name: "worker", valid: "{}", invalid: "{worker: {nodeSelector: {zone: b}}}", want: []string{frozen("worker")}},
	{name: "no worker", valid: "{}", invalid: "{worker: null}", want: []string{frozen("worker")}},
	{
		name: "terminate taken back", valid: "{suspend: true, terminate: true}", invalid: "{terminate: false}",
		want: []string{"spec.terminate: Forbidden: terminate cannot be taken back"},
	},
	{
		name: "terminate removed", valid: "{terminate: true}", invalid: "{terminate: null}",
		want: []string{"spec.terminate: Forbidden: terminate cannot be taken back"},
	},
	{
		name:    "what may change, beside something that may not",
		valid:   "{suspend: true, startDeadlineSeconds: 1, activeDeadlineSeconds: 2, ttlSecondsAfterFinished: 3}",
		invalid: "{suspend: false, parallelism: 1}", want: []string{frozen("parallelism")},
	},
	{
		name:    "what may change, taken back",
		valid:   "{suspend: null, startDeadlineSeconds: null, activeDeadlineSeconds: null, ttlSecondsAfterFinished: null}",
		invalid: "{worker: {image: other}}", want: []string{frozen("worker")},
	},
}

func frozen(field string) string {
	return "spec." + field + ": Forbidden: " + field + " cannot change once the run has started; create another LoadTest instead"
}

func TestASpecStaysOnceTheRunHasStarted(t *testing.T) {
	namespace, c := apiserver.Namespace(t), strictClient(t)
	for i, test := range transitions {
		t.Run(test.name, func(t *testing.T) {
			object := loadTest(t, namespace, full)
			object.SetName(fmt.Sprintf("row-%d", i))
			must.Succeed(t, c.Create(t.Context(), object))
			start(t, c, object)
			must.Report(t, test.valid+" is refused", patch(t, c, object, test.valid))
			err := patch(t, c, object, test.invalid)
			same.As(t, "refusals of "+test.invalid, test.want, refusals(t, err))
		})
	}
}

// TestASpecMayChangeBeforeTheStart makes the same changes, all of which are good as long as
// the run has not started, but for taking back a termination.
func TestASpecMayChangeBeforeTheStart(t *testing.T) {
	namespace, c := apiserver.Namespace(t), strictClient(t)
	object := loadTest(t, namespace, full)
	must.Succeed(t, c.Create(t.Context(), object))
	for _, test := range transitions {
		if test.want[0] != frozen(firstField(t, test.invalid)) {
			continue
		}
		dryRun := client.NewDryRunClient(c)
		must.Report(t, test.name+" before the start is refused", patch(t, dryRun, object.DeepCopy(), test.invalid))
	}
	must.Succeed(t, patch(t, c, object, "{terminate: true}"))
	if err := patch(t, c, object, "{terminate: null}"); err == nil {
		t.Error("terminate can be taken back before the start")
	}
}

// TestStatusIsWrittenApartFromTheSpec says that neither side writes the other's half.
func TestStatusIsWrittenApartFromTheSpec(t *testing.T) {
	namespace, c := apiserver.Namespace(t), strictClient(t)
	object := loadTest(t, namespace, "{}")
	must.Succeed(t, unstructured.SetNestedField(object.Object, "Passed", "status", "verdict"))
	must.Succeed(t, c.Create(t.Context(), object))
	unseen := map[string]any{"observedGeneration": int64(-1), "phase": "Pending"}
	same.As[any](t, "status of a LoadTest that was created with one", unseen, object.Object["status"])
	object.Object["status"] = map[string]any{"verdict": "Splendid"}
	want := []string{`status.verdict: Unsupported value: "Splendid": supported values: "Passed", "Failed", "Inconclusive", "Canceled", "Error"`}
	same.As(t, "refusals of an unknown verdict", want, refusals(t, c.Status().Update(t.Context(), object)))
}

// start writes the status that a started run has.
func start(t *testing.T, c client.Client, object *unstructured.Unstructured) {
	t.Helper()
	status := []byte(`{"status":{"startTime":"2026-11-20T10:15:00Z"}}`)
	must.Succeed(t, c.Status().Patch(t.Context(), object, client.RawPatch(types.MergePatchType, status)))
}

// patch changes the spec by a merge patch in YAML.
func patch(t *testing.T, c client.Client, object *unstructured.Unstructured, spec string) error {
	t.Helper()
	text, err := yaml.YAMLToJSON([]byte("spec: " + spec))
	must.Succeed(t, err)
	return c.Patch(t.Context(), object, client.RawPatch(types.MergePatchType, text))
}

// firstField returns the name of a patch's only field, or nothing.
func firstField(t *testing.T, spec string) string {
	t.Helper()
	var fields map[string]any
	must.Succeed(t, yaml.Unmarshal([]byte(spec), &fields))
	if len(fields) == 1 {
		for name := range fields {
			return name
		}
	}
	return ""
}
