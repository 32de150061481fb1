package verdict_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
)

// busy has every step of that name use so much of 500m.
func busy(s *v1beta1.LoadTestStatus, name, cpu string) {
	for i := range s.Steps {
		if step := &s.Steps[i]; step.Name == name {
			step.Environment = &v1beta1.StepEnvironment{Usage: &v1beta1.StepUsage{Containers: []v1beta1.ContainerUsage{
				{Name: "app", Readings: 1, CPU: cpu, MostCPU: cpu, CPULimit: "500m"},
			}}}
		}
	}
}

// The first step of the target that was not kept is told of, beside those below it that were.
func TestWhyOfALadder(t *testing.T) {
	first := func(edit func(*v1beta1.StepLoad)) func(*v1beta1.LoadTestStatus) {
		return func(s *v1beta1.LoadTestStatus) {
			busy(s, "10", "500m")
			setState(s, "10", broken)
			edit(&s.Steps[0].Load)
		}
	}
	last := func(edit func(*v1beta1.LoadTestStatus)) func(*v1beta1.LoadTestStatus) {
		return func(s *v1beta1.LoadTestStatus) {
			busy(s, "10", "100m")
			busy(s, "1000", "500m")
			setState(s, "1000", broken)
			edit(s)
		}
	}
	for name, tc := range map[string]struct {
		edit func(*v1beta1.LoadTestStatus)
		want string
	}{
		"all was kept": {func(s *v1beta1.LoadTestStatus) { busy(s, "1000", "500m") }, ""},
		"the last was breached": {func(s *v1beta1.LoadTestStatus) {
			busy(s, "100", "100m")
			busy(s, "1000", "500m")
			setState(s, "1000", broken)
		}, "Kept up to 100 users; from there shop's CPU is at its limit of 500m."},
		"the first was breached": {first(func(*v1beta1.StepLoad) {}), "Not kept at 10 users, where shop's CPU is at its limit of 500m."},
		"the first is a ramp":    {first(func(l *v1beta1.StepLoad) { l.RampTo = ptr(v1beta1.NewDecimal("20")) }), "Not kept at step 10, where shop's CPU is at its limit of 500m."},
		"the first is a rate":    {first(func(l *v1beta1.StepLoad) { l.Users, l.Rate = 0, ptr(v1beta1.NewDecimal("7.5")) }), "Not kept at 7.5/s, where shop's CPU is at its limit of 500m."},
		"the first is one user":  {first(func(l *v1beta1.StepLoad) { l.Users = 1 }), "Not kept at 1 user, where shop's CPU is at its limit of 500m."},
		"a lower rung ran later": {func(s *v1beta1.LoadTestStatus) {
			s.Steps[4].Rung = s.Steps[0].Rung - 1
			busy(s, "10", "400m")
			busy(s, "1000", "500m")
			setState(s, "10", broken)
			setState(s, "1000", broken)
		}, "Not kept at 1000 users, where shop's CPU is at its limit of 500m."},
		"outstanding requests grew": {func(s *v1beta1.LoadTestStatus) {
			busy(s, "100", "100m")
			busy(s, "1000", "500m")
			s.Steps[4].Result.Outstanding = &v1beta1.OutstandingResult{Trend: v1beta1.OutstandingGrowing, Growth: "1.0"}
		}, "Kept up to 100 users; from there shop's CPU is at its limit of 500m."},
		"one below is undecided": {last(func(s *v1beta1.LoadTestStatus) { setState(s, "100", inconclusive) }), "Kept up to 10 users; at 1000 users shop's CPU is at its limit of 500m."},
		"one below was cut":      {last(func(s *v1beta1.LoadTestStatus) { s.Steps[2].State = v1beta1.StepCut }), "Kept up to 10 users; at 1000 users shop's CPU is at its limit of 500m."},
		"one below may have grown": {last(func(s *v1beta1.LoadTestStatus) {
			s.Steps[2].Result.Outstanding = &v1beta1.OutstandingResult{Trend: v1beta1.OutstandingUncertain, Growth: "1.0", WithoutGenerator: "0.0"}
		}), "Kept up to 10 users; at 1000 users shop's CPU is at its limit of 500m."},
		"it was kept in another repetition": {last(func(s *v1beta1.LoadTestStatus) {
			busy(s, "100", "500m")
			s.Steps[2].Rung = s.Steps[4].Rung
		}), "Kept up to 10 users; from there shop's CPU is at its limit of 500m."},
		"it is undecided": {last(func(s *v1beta1.LoadTestStatus) { setState(s, "1000", inconclusive) }), ""},
		"the target was changed in it": {last(func(s *v1beta1.LoadTestStatus) {
			s.Steps[4].Environment.Changes = []v1beta1.EnvironmentChange{{Reason: v1beta1.TargetScaled, Spoils: v1beta1.SpoiledStep}}
		}), ""},
		"it is the control": {last(func(s *v1beta1.LoadTestStatus) { s.Steps[4].Side = v1beta1.SideControl }), ""},
	} {
		t.Run(name, func(t *testing.T) {
			spec := ladder(10, 100, 1000)
			spec.Target.Service = &v1beta1.ServiceReference{Name: "shop"}
			if got := verdict.Final(spec, done(tc.edit)).Why; got != tc.want {
				t.Errorf("%s\nwant %s", got, tc.want)
			}
		})
	}
}

// The probes of a search come in any order: the lowest load that was not kept is told of.
func TestWhyOfASearch(t *testing.T) {
	p := probing(20, true)
	p.spec.Target.Service = &v1beta1.ServiceReference{Name: "shop"}
	for _, probe := range []struct {
		load   int64
		result v1beta1.ThresholdState
		cpu    string
	}{{100, passed, "50m"}, {1000, broken, "500m"}, {500, broken, "495m"}, {300, passed, "300m"}} {
		p.probe(probe.load*1_000_000, probe.result)
		last := &p.status.Steps[len(p.status.Steps)-1]
		last.Result.ResponseTime = &v1beta1.Latency{P95: &metav1.Duration{Duration: time.Second}}
		busy(p.status, last.Name, probe.cpu)
	}
	p.status.Search.State, p.status.Search.Low = v1beta1.SearchFound, "300"
	if got, want := verdict.Final(p.spec, p.status).Why, "Kept up to 300/s; from there shop's CPU is at its limit of 500m."; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// A query is judged by its answer, to three digits behind the point or as many as the bound has.
func TestQuery(t *testing.T) {
	for name, tc := range map[string]struct {
		queries  []v1beta1.QueryResult
		state    v1beta1.ThresholdState
		observed string
		message  string
	}{
		"kept":         {[]v1beta1.QueryResult{{Name: "other", Value: "99"}, {Name: "database connections", Value: "19.5"}}, passed, "19.5", "query database connections is 19.5 in step peak; at most 20 is allowed."},
		"breached":     {[]v1beta1.QueryResult{{Name: "database connections", Value: "20.0001"}}, broken, "20.001", "query database connections is 20.001 in step peak; at most 20 is allowed."},
		"negative":     {[]v1beta1.QueryResult{{Name: "database connections", Value: "-3"}}, passed, "-3", "query database connections is -3 in step peak; at most 20 is allowed."},
		"not asked":    {nil, inconclusive, "", "query database connections of step peak cannot be judged: no Prometheus was asked."},
		"not answered": {[]v1beta1.QueryResult{{Name: "database connections", Problem: "Prometheus: the server did not answer in time."}}, inconclusive, "", "query database connections of step peak cannot be judged. Prometheus: the server did not answer in time."},
		"no number":    {[]v1beta1.QueryResult{{Name: "database connections", Value: "many"}}, inconclusive, "", "query database connections of step peak cannot be judged: its answer has no value."},
	} {
		t.Run(name, func(t *testing.T) {
			threshold := atMost("Query", "20")
			threshold.Query = "database connections"
			step := v1beta1.StepStatus{Name: "peak", State: v1beta1.StepComplete, Queries: tc.queries, Load: v1beta1.StepLoad{Users: 1, Duration: &metav1.Duration{Duration: time.Second}}}
			got := judge(spec(threshold), nil, step, sent(1000, 0)).Thresholds[0]
			if got.State != tc.state || got.Observed != tc.observed || got.Message != tc.message {
				t.Errorf("%s, %q: %s\nwant %s, %q: %s", got.State, got.Observed, got.Message, tc.state, tc.observed, tc.message)
			}
		})
	}
}
