package v1beta1_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// baseSchedule is a LoadTestSchedule without a fault.
const baseSchedule = `
apiVersion: loadtest.dev/v1beta1
kind: LoadTestSchedule
metadata: {name: nightly}
spec:
  schedule: "30 2 * * *"
  template:
    spec:
      target: {url: http://shortener:8080}
      requests: [{name: health, http: {path: /health}}]
      steps: [{name: 1 users x 1, users: 1, requestsPerUser: 1}]
`

// scheduleWith returns the base after a merge patch of its spec, in YAML.
func scheduleWith(t *testing.T, namespace, specPatch string) *unstructured.Unstructured {
	t.Helper()
	return patched(t, baseSchedule, namespace, specPatch)
}

const badSchedule = `spec.schedule: Invalid value: "%": spec.schedule in body should match '^(@(yearly|annually|monthly|weekly|daily|midnight|hourly)|[0-9A-Za-z*/,?-]+( +[0-9A-Za-z*/,?-]+){4})$'`

// scheduleValidations has a row for every CEL rule of a schedule beside those of its
// template's spec, and for patterns and bounds.
var scheduleValidations = []validation{
	{name: "a time zone without a schedule", valid: "{schedule: null}",
		invalid: "{schedule: null, timeZone: Europe/Berlin}",
		want:    []string{"spec.timeZone: Forbidden: timeZone must not be set without schedule"}},
	{name: "the machine's time zone", valid: "{timeZone: America/Argentina/Buenos_Aires}",
		invalid: "{timeZone: Local}",
		want:    []string{`spec.timeZone: Invalid value: "Local": timeZone must be a name such as Europe/Berlin: Local is the time zone of the operator's machine`}},
	{name: "a time zone that is a path", valid: "{timeZone: Etc/GMT+5}",
		invalid: "{timeZone: ../etc/passwd}",
		want:    []string{`spec.timeZone: Invalid value: "../etc/passwd": spec.timeZone in body should match '^[A-Za-z0-9+_/-]+$'`}},
	{name: "a deadline without a schedule", valid: "{startingDeadlineSeconds: 10}",
		invalid: "{schedule: null, onRollout: {kind: Deployment, name: shop}, startingDeadlineSeconds: 10}",
		want:    []string{"spec.startingDeadlineSeconds: Forbidden: startingDeadlineSeconds must not be set without schedule: a rollout or a change is tested however late"}},
	{name: "a deadline that no operator keeps", valid: "{startingDeadlineSeconds: 10}",
		invalid: "{startingDeadlineSeconds: 9}",
		want:    []string{"spec.startingDeadlineSeconds: Invalid value: 9: spec.startingDeadlineSeconds in body should be greater than or equal to 10"}},
	{name: "an interval", valid: `{schedule: "@hourly"}`,
		invalid: `{schedule: "@every 90s"}`,
		want:    []string{strings.ReplaceAll(badSchedule, "%", "@every 90s")}},
	{name: "a time zone in the schedule", valid: `{schedule: "*/5 0-6,22,23 ? JAN-MAR mon"}`,
		invalid: `{schedule: "TZ=Europe/Berlin 0 2 * * *"}`,
		want:    []string{strings.ReplaceAll(badSchedule, "%", "TZ=Europe/Berlin 0 2 * * *")}},
	{name: "seconds", valid: `{schedule: "0  2 * * *"}`,
		invalid: `{schedule: "0 0 2 * * *"}`,
		want:    []string{strings.ReplaceAll(badSchedule, "%", "0 0 2 * * *")}},
	{name: "the rollout of what has none", valid: "{onRollout: {kind: StatefulSet, name: shop}}",
		invalid: "{onRollout: {kind: Job, name: shop}}",
		want:    []string{`spec.onRollout.kind: Unsupported value: "Job": supported values: "Deployment", "StatefulSet", "DaemonSet"`}},
	{name: "a workload by a path", valid: "{onRollout: {kind: DaemonSet, name: shop.v2}}",
		invalid: "{onRollout: {kind: Deployment, name: ../secrets/shop}}",
		want:    []string{`spec.onRollout.name: Invalid value: "../secrets/shop": spec.onRollout.name in body should match '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$'`}},
	{name: "a policy that is none", valid: "{concurrencyPolicy: Replace}",
		invalid: "{concurrencyPolicy: Queue}",
		want:    []string{`spec.concurrencyPolicy: Unsupported value: "Queue": supported values: "Allow", "Forbid", "Replace"`}},
	{name: "a template that is suspended", valid: "{suspend: true, template: {spec: {suspend: false}}}",
		invalid: "{template: {spec: {suspend: true}}}",
		want:    []string{"spec.template.spec.suspend: Forbidden: suspend must not be set in a template; set spec.suspend of the schedule"}},
	{name: "a template that is terminated", valid: "{template: {spec: {terminate: false}}}",
		invalid: "{template: {spec: {terminate: true}}}",
		want:    []string{"spec.template.spec.terminate: Forbidden: terminate must not be set in a template"}},
	{name: "a template that deletes itself", valid: "{successfulRunsHistoryLimit: 0, failedRunsHistoryLimit: 100}",
		invalid: "{template: {spec: {ttlSecondsAfterFinished: 60}}}",
		want:    []string{"spec.template.spec.ttlSecondsAfterFinished: Forbidden: ttlSecondsAfterFinished must not be set in a template; successfulRunsHistoryLimit and failedRunsHistoryLimit say how many LoadTests are kept"}},
	{name: "a label of the operator's", valid: `{template: {metadata: {labels: {team: shop, example.com/stage: ""}}}}`,
		invalid: "{template: {metadata: {labels: {loadtest.dev/schedule: other}}}}",
		want:    []string{"spec.template.metadata.labels: Invalid value: labels must have keys of at most 317 characters that do not begin with loadtest.dev/"}},
	{name: "a difference without a baseline is that from the last run that passed", valid: "{template: {spec: {thresholds: [{metric: p95, maxIncrease: 10%}]}}}",
		invalid: "{template: {spec: {thresholds: [{metric: p95}]}}}",
		want:    []string{"spec.template.spec.thresholds[0]: Invalid value: exactly one of max, min, maxIncrease and maxDecrease must be set"}},
	{name: "rules of a LoadTest hold in the template", valid: "{template: {spec: {steps: null, ladder: {users: [1], duration: 1s}}}}",
		invalid: "{template: {spec: {ladder: {users: [1], duration: 1s}}}}",
		want:    []string{"spec.template.spec: Invalid value: exactly one of ladder, steps, search, replay and loads must be set"}},
}

func TestEveryRuleOfASchedule(t *testing.T) {
	holdValidations(t, baseSchedule, scheduleValidations)
}

func TestNamesOfSchedulesFitThoseOfTheirLoadTests(t *testing.T) {
	holdNames(t, baseSchedule, map[string][]string{
		strings.Repeat("n", 41): nil,
		strings.Repeat("n", 42): {"metadata: Invalid value: name must be at most 41 characters, so that the names of its LoadTests fit"},
		"nightly.shop":          {"metadata: Invalid value: name must not contain a dot: the names of its LoadTests begin with it"},
	})
}

func TestScheduleSchemaKeepsTheRules(t *testing.T) {
	schema := *generatedCRD(t, "loadtestschedules").Spec.Versions[0].Schema.OpenAPIV3Schema
	for _, violation := range violationsOf(reflect.TypeFor[v1beta1.LoadTestSchedule](), schema) {
		t.Error(violation)
	}
	seen := map[string]bool{}
	walk(node{schema: schema, typ: reflect.TypeFor[v1beta1.LoadTestSchedule]()}, func(n node) { seen[n.path] = true })
	for _, path := range []string{"spec.onRollout.name", "spec.template.metadata.labels{}", "spec.template.spec.worker.nodeSelector{}", "status.considered.until", "status.active[]"} {
		if !seen[path] {
			t.Errorf("%s is not walked", path)
		}
	}
}

func TestTheSmallestScheduleGetsTheDefaults(t *testing.T) {
	object, c := scheduleWith(t, apiserver.Namespace(t), "{}"), strictClient(t)
	must.Succeed(t, c.Create(t.Context(), object))
	var got v1beta1.LoadTestSchedule
	must.Succeed(t, c.Get(t.Context(), client.ObjectKeyFromObject(object), &got))
	want := v1beta1.LoadTestScheduleSpec{
		Schedule: "30 2 * * *", ConcurrencyPolicy: v1beta1.ForbidConcurrent,
		SuccessfulRunsHistoryLimit: new(int32(3)), FailedRunsHistoryLimit: new(int32(1)),
		Template: v1beta1.LoadTestTemplate{Spec: got.Spec.Template.Spec},
	}
	same.As(t, "spec with defaults", want, got.Spec)
	same.As(t, "observedGeneration of a schedule that was not seen", -1, got.Status.ObservedGeneration)
}

// scheduleColumns is what kubectl get prints, without the age.
const scheduleColumns = `
NAME      SCHEDULE              SUSPENDED   LAST RUN   VERDICT   TREND             NEXT RUN
fresh                           false
nightly   30 2 * * *, rollout   true        15m        Passed    p99 41.2ms, +3%   11-23 02:30 UTC
`

func TestKubectlPrintsTheColumnsOfASchedule(t *testing.T) {
	namespace, c := apiserver.Namespace(t), apiserver.Client(t)
	for name, status := range map[string]v1beta1.LoadTestScheduleStatus{
		"fresh": {},
		"nightly": {
			LastRun: &v1beta1.RunOfSchedule{Name: "nightly-29384760", StartTime: &metav1.Time{Time: time.Now().Add(-15 * time.Minute)}},
			Summary: v1beta1.ScheduleSummary{Schedule: "30 2 * * *, rollout", Verdict: "Passed", Trend: "p99 41.2ms, +3%", Next: "11-23 02:30 UTC"},
		},
	} {
		object := scheduleWith(t, namespace, "{}")
		object.SetName(name)
		must.Succeed(t, unstructured.SetNestedField(object.Object, name == "nightly", "spec", "suspend"))
		must.Succeed(t, c.Create(t.Context(), object))
		var schedule v1beta1.LoadTestSchedule
		must.Succeed(t, c.Get(t.Context(), client.ObjectKeyFromObject(object), &schedule))
		schedule.Status = status
		must.Succeed(t, c.Status().Update(t.Context(), &schedule))
	}
	output, err := apiserver.Kubectl(t)("", "get", "lts", "--namespace", namespace)
	if err != nil {
		t.Fatalf("kubectl get: %v: %s", err, output)
	}
	same.As(t, "kubectl get", strings.TrimSpace(scheduleColumns), withoutAge(t, output))
	if output, err = apiserver.Kubectl(t)("", "get", "loadtesting", "--namespace", namespace, "--output", "name"); err != nil || !strings.Contains(output, "loadtestschedule.loadtest.dev/nightly") {
		t.Errorf("kubectl get loadtesting: %v: %s", err, output)
	}
}
