package command_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtestschedule/decision"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// scheduleNightly is a schedule that compares.
const scheduleNightly = `
apiVersion: loadtest.dev/v1beta1
kind: LoadTestSchedule
metadata: {name: nightly}
spec:
  schedule: "30 2 * * *"
  suspend: true
  template:
    metadata: {labels: {team: shop}}
    spec:
      target: {url: "http://shortener:8080"}
      parallelism: 2
      requests: [{name: health, http: {path: /health}}]
      steps: [{name: 10 users, users: 10, duration: 5s}]
      thresholds: [{metric: p99, max: 200ms}, {metric: p99, maxIncrease: 10%}]
`

// schedule creates one, with a status as the operator writes it.
func (p *testUser) schedule(status string) *v1beta1.LoadTestSchedule {
	p.t.Helper()
	s := &v1beta1.LoadTestSchedule{}
	must.Succeed(p.t, yaml.UnmarshalStrict([]byte(scheduleNightly), s))
	s.Namespace = p.namespace
	must.Succeed(p.t, p.client.Create(p.t.Context(), s))
	p.scheduleStatus(s, status)
	return s
}

func (p *testUser) scheduleStatus(s *v1beta1.LoadTestSchedule, status string) {
	p.t.Helper()
	s.Status = v1beta1.LoadTestScheduleStatus{}
	must.Succeed(p.t, yaml.UnmarshalStrict([]byte(status), &s.Status))
	for i := range s.Status.Conditions {
		s.Status.Conditions[i].LastTransitionTime = metav1.Now()
	}
	must.Succeed(p.t, p.client.Status().Update(p.t.Context(), s))
}

// TestRunFromASchedule: the LoadTest is one of the schedule's runs, ends with its own verdict,
// and is compared with the last that passed.
func TestRunFromASchedule(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	verdict := "Passed"
	p.operator(func(*v1beta1.LoadTest) []string { return []string{running, finished(verdict)} })
	s := p.schedule("{}")
	got := p.run("run", "--from", "schedule/nightly", "--name", "by-hand")
	if got.code != 0 {
		t.Fatalf("exit code %d: %s", got.code, got.err)
	}
	contains(t, "the log", got.err, "LoadTest "+p.namespace+"/by-hand runs the template of schedule/nightly")
	contains(t, "the report", got.out, "LoadTest "+p.namespace+"/by-hand", "Verdict             Passed")
	first := p.get("by-hand")
	if !metav1.IsControlledBy(first, s) || len(first.Spec.Thresholds) != 1 || first.Spec.Baseline != nil || first.Spec.Suspend {
		t.Errorf("it is %+v of %v", first.Spec, first.OwnerReferences)
	}
	labels := map[string]string{"team": "shop", "loadtest.dev/schedule": "nightly"}
	same.As(t, "labels", labels, first.Labels)
	if why := first.Annotations["loadtest.dev/started-by"]; why != "kubectl loadtest run --from schedule/nightly" {
		t.Errorf("it was started by %q", why)
	}
	p.run("run", "--from", "ldts/nightly", "--name", "by-hand").fails(t, "exists already; choose another name")

	first.Status.Steps[0].WorkersReporting = 2 // so that it can be compared
	must.Succeed(t, p.client.Status().Update(t.Context(), first))
	verdict = "Failed"
	p.scheduleStatus(s, "{lastPassed: {name: by-hand}}")
	got = p.run("run", "--from", "loadtestschedule.loadtest.dev/nightly")
	got.exits(t, 1)
	name, _, _ := strings.Cut(got.err[strings.Index(got.err, "/nightly-")+1:], " ")
	if second := p.get(name); second.Spec.Baseline == nil || second.Spec.Baseline.Name != "by-hand" || len(second.Spec.Thresholds) != 2 {
		t.Errorf("the second is compared with %v: %v", second.Spec.Baseline, second.Annotations)
	}
}

func TestRunFromRefuses(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	s := p.schedule("{active: [nightly-29384760]}")
	// The operator has not written yet that this one runs.
	hourly := s.DeepCopy()
	hourly.ObjectMeta = metav1.ObjectMeta{Namespace: p.namespace, Name: "hourly"}
	must.Succeed(t, p.client.Create(t.Context(), hourly))
	must.Succeed(t, p.client.Create(t.Context(), decision.Run(hourly, "hourly-1", "", decision.Earlier{})))
	file := p.file(manifest("hello"))
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"nothing":           {nil, "at least one of the flags in the group [filename from] is required"},
		"another kind":      {[]string{"--from", "cronjob/nightly"}, `--from must be schedule/NAME, not "cronjob/nightly"`},
		"no name":           {[]string{"--from", "schedule/"}, "--from must be schedule/NAME"},
		"a file as well":    {[]string{"--from", "schedule/nightly", "-f", file}, "--filename has no meaning with --from"},
		"on this machine":   {[]string{"--from", "schedule/nightly", "--local"}, "--local has no meaning with --from"},
		"a name for a file": {[]string{"-f", file, "--name", "other"}, "--name needs --from"},
		"one that is not":   {[]string{"--from", "schedule/weekly"}, "kubectl loadtest list --all-namespaces lists the existing ones"},
		"beside another":    {[]string{"--from", "schedule/nightly"}, "concurrencyPolicy is Forbid: two runs at once would disturb each other; follow it with kubectl loadtest watch nightly-29384760"},
		"beside a new one":  {[]string{"--from", "schedule/hourly"}, "LoadTest hourly-1 of schedule " + p.namespace + "/hourly has not finished"},
	} {
		t.Run(name, func(t *testing.T) { p.run(append([]string{"run"}, tt.args...)...).fails(t, tt.want) })
	}
	if names := p.names(); len(names) != 1 {
		t.Errorf("there are LoadTests %q, want hourly-1 alone", names)
	}
}

func TestListShowsSchedules(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	s := p.schedule(`{lastRun: {name: nightly-1}, summary: {schedule: 30 2 * * *, verdict: Failed, trend: "p99 41ms, +30%", next: 2026-11-24 02:30 UTC}}`)
	if got := p.run("list"); got.code != 0 || !strings.HasPrefix(got.out, "SCHEDULE ") {
		t.Errorf("a list without LoadTests: %d, %q", got.code, got.out)
	}
	p.createNamed("one", running)
	contains(t, "the list", p.run("list").out, "\n\nSCHEDULE   STARTS BY    LAST RUN   VERDICT   TREND            NEXT RUN   ATTENTION\n",
		"\nnightly    30 2 * * *              Failed    p99 41ms, +30%   2026-11-24 02:30 UTC\n")
	p.scheduleStatus(s, `{conditions: [{type: Ready, status: "False", reason: InvalidSchedule, message: the schedule cannot be read}]}`)
	contains(t, "the list", p.run("list", "-A", "-o", "wide").out, "NAMESPACE", "the schedule cannot be read\n")
	for _, args := range [][]string{{"-o", "name"}, {"-o", "json"}, {"-l", "team=none"}} {
		if got := p.run(append([]string{"list"}, args...)...); strings.Contains(got.out, "SCHEDULE ") || strings.Contains(got.out, "30 2 * * *") {
			t.Errorf("list %v: %s", args, got.out)
		}
	}
}
