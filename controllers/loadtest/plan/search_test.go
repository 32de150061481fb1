package plan_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func usersSearch(low, high int32) v1beta1.Search {
	return v1beta1.Search{Users: &v1beta1.UsersRange{Min: low, Max: high}}
}

func rateSearch(low, high string) v1beta1.Search {
	return v1beta1.Search{Rate: &v1beta1.RateRange{Min: v1beta1.NewDecimal(low), Max: v1beta1.NewDecimal(high)}}
}

func TestSearchesThatAreNoneAreRefused(t *testing.T) {
	const (
		users     = "spec.search.users: min must be greater than 0 and less than max."
		rate      = "spec.search.rate: min must be greater than 0 and less than max."
		precision = "spec.search.precision: must be a percentage from 1% to 50%, such as 5%."
		alone     = "spec.search: must not be set with ladder, steps or repetitions, and must have one of users and rate."
	)
	within := func(precision string) v1beta1.Search {
		s := usersSearch(1, 100)
		s.Precision = precision
		return s
	}
	held := usersSearch(1, 100)
	held.Duration, held.Hold = metav1.Duration{Duration: 10 * time.Second}, duration(500*time.Millisecond)
	both := usersSearch(1, 2)
	both.Rate = rateSearch("1", "2").Rate
	for name, tt := range map[string]struct {
		search v1beta1.Search
		want   string
	}{
		"users from 1 on":      {usersSearch(1, 2), ""},
		"users from 0 on":      {usersSearch(0, 2), users},
		"users, a single one":  {usersSearch(2, 2), users},
		"the smallest rate":    {rateSearch("0.000001", "1"), ""},
		"a rate from 0 on":     {rateSearch("0", "1"), rate},
		"a single rate":        {rateSearch("1.5", "1.5"), rate},
		"users and a rate":     {both, alone},
		"neither":              {v1beta1.Search{}, rate},
		"the finest":           {within("1%"), ""},
		"too fine":             {within("0.5%"), precision},
		"the coarsest":         {within("50%"), ""},
		"too coarse":           {within("51%"), precision},
		"no number":            {within("fine"), precision},
		"a hold that is short": {held, "spec.search.hold: must be 0s, or at least duration."},
	} {
		t.Run(name, func(t *testing.T) {
			same.As(t, "refusal", tt.want, refusalOf(loadTest(spec(search(tt.search))), policy.Everything()))
		})
	}
}

// The API server refuses these, but it has not seen the spec of a load that has a search.
func TestThresholdsThatAProbeCannotKeepAreRefused(t *testing.T) {
	const after = " of slow must not be set with search, whose thresholds hold for every probe; remove it or, with spec.loads, set loads of the threshold to those without a search."
	for field, edit := range map[string]func(*v1beta1.Threshold){
		"":              func(threshold *v1beta1.Threshold) { threshold.OnBreach = v1beta1.BreachContinue },
		"onBreach":      func(threshold *v1beta1.Threshold) { threshold.OnBreach = v1beta1.BreachAbort },
		"upToUsers":     func(threshold *v1beta1.Threshold) { threshold.UpToUsers = ptr(int32(5)) },
		"steps":         func(threshold *v1beta1.Threshold) { threshold.Steps = []string{"1 users"} },
		"inRepetitions": func(threshold *v1beta1.Threshold) { threshold.InRepetitions = ptr(int32(1)) },
		"maxIncrease":   func(threshold *v1beta1.Threshold) { threshold.MaxIncrease = "10%" },
		"maxDecrease":   func(threshold *v1beta1.Threshold) { threshold.MaxDecrease = "10%" },
	} {
		want := ""
		if field != "" {
			want = "spec.thresholds: " + field + after
		}
		threshold := v1beta1.Threshold{Name: "slow", Metric: "p95"}
		edit(&threshold)
		searching := spec(search(usersSearch(1, 100)))
		searching.Thresholds = []v1beta1.Threshold{threshold}
		same.As(t, field+": refusal", want, refusalOf(loadTest(searching), policy.Everything()))
	}
	searching := spec(search(usersSearch(1, 100)))
	searching.Worker = &v1beta1.Worker{OnLoss: v1beta1.LossContinue}
	const want = "spec.worker.onLoss: must not be Continue with search, which needs all of the load that it asks for."
	same.As(t, "refusal of onLoss", want, refusalOf(loadTest(searching), policy.Everything()))
}

// A probe that is appended follows a rest, unless there is none, and takes as long as the
// first may; its name is its own.
func TestStepsOfTheNextProbe(t *testing.T) {
	for name, tt := range map[string]struct {
		edit func(*v1beta1.Search)
		want []v1beta1.StepStatus
	}{
		"after the rest that is the default": {func(*v1beta1.Search) {}, []v1beta1.StepStatus{pause("rest", 2, 5*time.Second), {Name: "10 users (2)", Rung: 3}}},
		"after a rest": {func(s *v1beta1.Search) { s.Rest = duration(time.Minute) }, []v1beta1.StepStatus{
			pause("rest", 2, time.Minute), {Name: "10 users (2)", Rung: 3},
		}},
		"at once": {func(s *v1beta1.Search) { s.Rest = duration(0) }, []v1beta1.StepStatus{{Name: "10 users (2)", Rung: 2}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := spec(search(usersSearch(10, 100)))
			tt.edit(s.Search)
			lt := accepted(t, s)
			got := plan.Probe(&lt.Spec, &lt.Status, 10)
			last := len(got) - 1
			first := lt.Status.Steps[0]
			tt.want[last].Load, tt.want[last].State, tt.want[last].TimeLimit = first.Load, v1beta1.StepPending, first.TimeLimit
			same.As(t, "steps", tt.want, got)
		})
	}
}

// A hold is a probe for longer, by default a minute at least and ten times the duration.
func TestStepsOfAHold(t *testing.T) {
	for name, tt := range map[string]struct {
		probe time.Duration
		hold  *metav1.Duration
		want  time.Duration
	}{
		"a minute": {2 * time.Second, nil, time.Minute}, "ten probes": {20 * time.Second, nil, 200 * time.Second},
		"as it is set": {20 * time.Second, duration(30 * time.Second), 30 * time.Second}, "none": {20 * time.Second, duration(0), 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := spec(search(usersSearch(10, 100)))
			s.Search.Duration, s.Search.Hold, s.Search.WarmUp = metav1.Duration{Duration: tt.probe}, tt.hold, duration(time.Second)
			lt := accepted(t, s)
			if holds := plan.SearchRange(&lt.Spec, lt.Status.Search).Holds; tt.want == 0 {
				if lt.Status.Search.Hold != nil || holds != 0 {
					t.Errorf("held for %v, %d times", lt.Status.Search.Hold, holds)
				}
				return
			} else if holds == 0 {
				t.Error("nothing is held")
			}
			first := lt.Status.Steps[0]
			load := first.Load
			load.Duration = &metav1.Duration{Duration: tt.want}
			want := []v1beta1.StepStatus{pause("rest", 2, 5*time.Second), {
				Name: "hold 10 users", Rung: 3, Hold: true, State: v1beta1.StepPending, Load: load,
				TimeLimit: &metav1.Duration{Duration: first.TimeLimit.Duration + tt.want - tt.probe},
			}}
			same.As(t, "steps", want, plan.Hold(&lt.Spec, &lt.Status, 10))
		})
	}
}

// Once a load is held, there are no more probes.
func TestForeseenStepsOfASearch(t *testing.T) {
	s := spec(search(usersSearch(10, 100)))
	s.Search.Rest = duration(0)
	lt := accepted(t, s)
	same.As(t, "foreseen steps", 24+5, len(plan.Foreseen(&lt.Spec, &lt.Status)))
	rested := accepted(t, spec(search(usersSearch(10, 100))))
	rested.Status.Steps = append(rested.Status.Steps, plan.Probe(&rested.Spec, &rested.Status, 10)...)
	same.As(t, "foreseen steps, with rests", 2*(24+5)-1, len(plan.Foreseen(&rested.Spec, &rested.Status)))
	lt.Status.Steps = append(lt.Status.Steps, plan.Hold(&lt.Spec, &lt.Status, 10)...)
	same.As(t, "foreseen steps in the first hold", 1+5, len(plan.Foreseen(&lt.Spec, &lt.Status)))
}

// Workers are assigned the steps that are planned; how long the run may take counts all
// probes and holds of a search.
func TestProbesThatAreNotPlannedAreNotAssigned(t *testing.T) {
	s := spec(search(usersSearch(10, 100)))
	s.Search.Rest = duration(0)
	lt := accepted(t, s)
	steps := plan.Assignments(lt)[0].GetSteps()
	if len(steps) != len(lt.Status.Steps) {
		t.Fatalf("%d steps are assigned, %d are planned", len(steps), len(lt.Status.Steps))
	}
	each := lt.Status.Steps[0].TimeLimit.Duration
	if got, want := time.Duration(steps[0].GetRemainingNanos()), (24+5)*each+5*lt.Status.Search.Hold.Duration-5*s.Search.Duration.Duration; got != want {
		t.Errorf("the run may take %v, want %v", got, want)
	}
}

func TestRangeAndLoadsOfASearch(t *testing.T) {
	for name, tt := range map[string]struct {
		search    v1beta1.Search
		low, high int64
		load      int64
		text      string
	}{
		"users":   {usersSearch(10, 100), 10, 100, 40, "40"},
		"a rate":  {rateSearch("0.5", "20"), 500_000, 20_000_000, 2_500_000, "2.5"},
		"a whole": {rateSearch("1", "20"), 1_000_000, 20_000_000, 10_000_000, "10"},
	} {
		t.Run(name, func(t *testing.T) {
			tt.search.Precision = "4%"
			lt := accepted(t, spec(search(tt.search)))
			got := plan.SearchRange(&lt.Spec, lt.Status.Search)
			if got.Min != tt.low || got.Max != tt.high || got.Precision != 0.04 || got.MaxProbes != int(lt.Status.Search.MaxProbes) {
				t.Errorf("the range is %+v", got)
			}
			probe := plan.Probe(&lt.Spec, &lt.Status, tt.load)
			same.As(t, "load of a probe", tt.load, plan.SearchLoad(&probe[len(probe)-1].Load))
			if got := plan.LoadText(&lt.Spec, tt.load); got != tt.text {
				t.Errorf("%d is %q, want %q", tt.load, got, tt.text)
			}
		})
	}
}
