package verdict_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// prober is a search of a target whose limit is known.
type prober struct {
	spec   *v1beta1.LoadTestSpec
	status *v1beta1.LoadTestStatus
}

// probing is a search from 100 to 1000 users, or requests a second.
func probing(probes int32, rate bool) *prober {
	s := spec(atMost("p95", "200ms"))
	s.Search = &v1beta1.Search{Users: &v1beta1.UsersRange{Min: 100, Max: 1000}, Duration: metav1.Duration{Duration: time.Second}}
	if rate {
		s.Search.Users, s.Search.Rate = nil, &v1beta1.RateRange{Min: v1beta1.NewDecimal("100"), Max: v1beta1.NewDecimal("1000")}
	}
	return &prober{spec: s, status: &v1beta1.LoadTestStatus{
		Workers: v1beta1.WorkerCounts{Desired: 1, Ready: 1},
		Search:  &v1beta1.SearchStatus{State: v1beta1.SearchSearching, Precision: "10%", MaxProbes: probes, Rest: &metav1.Duration{Duration: time.Second}},
		// The first probe is planned with the run.
		Steps: []v1beta1.StepStatus{{Name: "first", State: v1beta1.StepPending}},
	}}
}

// probe has a load be probed with that result; inconclusive means that the generator was the
// limit.
func (p *prober) probe(load int64, result v1beta1.ThresholdState) { p.add(load, false, result) }

// add is probe, or a hold.
func (p *prober) add(load int64, hold bool, result v1beta1.ThresholdState) {
	steps := plan.Probe(p.spec, p.status, load)
	if hold {
		steps = plan.Hold(p.spec, p.status, load)
	}
	if len(p.status.Steps) == 1 && p.status.Steps[0].State == v1beta1.StepPending {
		p.status.Steps = nil
		steps = steps[1:]
	}
	for i := range steps {
		steps[i].State = v1beta1.StepComplete
	}
	last := &steps[len(steps)-1]
	last.ThresholdState, last.WorkersReporting = result, 1
	last.Result = &v1beta1.StepResult{Generator: &v1beta1.GeneratorStatus{Healthy: true}}
	p.status.Thresholds = []v1beta1.ThresholdStatus{{Name: "p95", State: result, Step: last.Name, Message: "p95 is " + string(result) + " in " + last.Name + "."}}
	if result == broken {
		p.status.Thresholds[0].Reason = v1beta1.ReasonTargetDown
	}
	if result == inconclusive {
		last.Result.Generator = &v1beta1.GeneratorStatus{Reason: v1beta1.ReasonScheduleLag, Message: last.Name + " was late."}
	}
	p.status.Steps = append(p.status.Steps, steps...)
}

// search tries each load that is next, until the search is over.
func (p *prober) search(t *testing.T, try func(load int64, hold bool)) {
	t.Helper()
	for range 100 {
		s, found := verdict.Searched(p.spec, p.status)
		p.status.Search = &s
		if found.Next == 0 {
			return
		}
		if s.State != v1beta1.SearchSearching || s.Message != "" {
			t.Errorf("it goes on, and is %s: %s", s.State, s.Message)
		}
		try(found.Next, found.Hold)
	}
	t.Fatal("the search does not end")
}

func TestSearchSaysWhatItFound(t *testing.T) {
	limit := func(most int64) func(int64, int) v1beta1.ThresholdState {
		return func(load int64, _ int) v1beta1.ThresholdState {
			if load > most {
				return broken
			}
			return passed
		}
	}
	unclear := func(from, to int) func(int64, int) v1beta1.ThresholdState {
		return func(load int64, n int) v1beta1.ThresholdState {
			if n >= from && n < to {
				return inconclusive
			}
			return limit(450)(load, n)
		}
	}
	for name, tc := range map[string]struct {
		probes  int32
		rate    bool
		result  func(load int64, n int) v1beta1.ThresholdState
		search  string // its state, and what it found
		verdict string
	}{
		"the limit": {
			24, false, limit(450), "Found from 420 to 462: p95 is Failed in 462 users (2).",
			"Passed: Kept up to 420 users: for 1s, the time of a probe, and not held for longer (spec.search.hold is 0s). Not kept at 462 users: p95 is Failed in 462 users (2).",
		},
		"the limit of a rate": {
			24, true, limit(450_000_000), "Found from 421.2 to 463.3: p95 is Failed in 463.3/s (2).",
			"Passed: Kept up to 421.2/s: for 1s, the time of a probe, and not held for longer (spec.search.hold is 0s). Not kept at 463.3/s: p95 is Failed in 463.3/s (2).",
		},
		"the limit, though the load that was found was breached once": {
			24, true, func(_ int64, n int) v1beta1.ThresholdState {
				return map[byte]v1beta1.ThresholdState{'k': passed, 'b': broken}["kkbbbkkbbkbbbkk"[n]]
			}, "Found from 256.9 to 282.5: p95 is Failed in 282.5/s (2).",
			"Passed: Kept up to 256.9/s: for 1s, the time of a probe, and not held for longer (spec.search.hold is 0s). Not kept at 282.5/s: p95 is Failed in 282.5/s (2).",
		},
		"the limit, though a lower load was breached last": {
			24, false, func(_ int64, n int) v1beta1.ThresholdState {
				return map[byte]v1beta1.ThresholdState{'k': passed, 'b': broken}["kbbkkkbkkk"[n]]
			}, "Found from 182 to 200: ",
			"Passed: Kept up to 182 users: for 1s, the time of a probe, and not held for longer (spec.search.hold is 0s). Not kept at 200 users.",
		},
		"the limit, though a probe said nothing": {
			24, false, unclear(1, 2), "Found from 420 to 462: p95 is Failed in 462 users (2).",
			"Passed: Kept up to 420 users: for 1s, the time of a probe, and not held for longer (spec.search.hold is 0s). Not kept at 462 users: p95 is Failed in 462 users (2).",
		},
		"no limit": {24, false, limit(1000), "BeyondMax from 1000 to : ",
			"Passed: Kept up to 1000 users, the max of the search: for 1s, the time of a probe, and not held for longer (spec.search.hold is 0s). The limit is higher."},
		"a limit below the least": {24, false, limit(99), "BelowMin from  to 100: p95 is Failed in 100 users (2).",
			"Failed: Not kept at 100 users, the min of the search: p95 is Failed in 100 users (2)."},
		"too few probes": {3, false, limit(450), "GivenUp from 100 to 1000: p95 is Failed in 1000 users (2).",
			"Inconclusive: The search ended without a result: 3 probes did not find the limit to within 10%. Kept for 1s at 100 users, and not kept at 1000 users."},
		"nothing more, after a breach": {
			24, false, func(_ int64, n int) v1beta1.ThresholdState {
				if n == 0 {
					return broken
				}
				return inconclusive
			}, "GivenUp from  to 100: p95 is Failed in 100 users.",
			"Inconclusive: The search ended without a result at 100 users, which was tried again. 100 users (4) was late. The limit is unknown.",
		},
		"a target that is not steady": {
			24, false, func(_ int64, n int) v1beta1.ThresholdState {
				if n == 1 || n == 4 {
					return broken
				}
				return passed
			}, "GivenUp from 100 to : p95 is Failed in 200 users (3).",
			"Inconclusive: The search ended without a result: again and again, the target breached a threshold at one load and kept it at a higher one. Kept for 1s at 100 users.",
		},
		"nothing, as the generator is the limit": {24, false, unclear(0, 24), "GivenUp from  to : ",
			"Inconclusive: The search ended without a result at 100 users, which was tried again. 100 users (3) was late. The limit is unknown."},
		"nothing more, as the generator is the limit": {24, false, unclear(1, 24), "GivenUp from 100 to : ",
			"Inconclusive: The search ended without a result at 200 users, which was tried again. 200 users (3) was late. Kept for 1s at 100 users."},
	} {
		t.Run(name, func(t *testing.T) {
			p := probing(tc.probes, tc.rate)
			var loads []int64
			p.search(t, func(load int64, hold bool) {
				p.add(load, hold, tc.result(load, len(loads)))
				loads = append(loads, load)
			})
			s := p.status.Search
			if got := fmt.Sprintf("%s from %s to %s: %s", s.State, s.Low, s.High, s.Breach); got != tc.search {
				t.Errorf("after %v: %s, want %s", loads, got, tc.search)
			}
			j := verdict.Final(p.spec, p.status)
			same.As(t, "verdict", tc.verdict, string(j.Verdict)+": "+j.Message)
			want := s.Low
			if s.State == v1beta1.SearchGivenUp {
				want = "" // the probes kept it, and the search found nothing
			}
			if got := sustained(j); got != want || (j.Sustained.Rate != "") != (got != "" && tc.rate) {
				t.Errorf("sustained %q, want %q: %+v", got, want, j.Sustained)
			}
			if healthy := p.status.Steps[len(p.status.Steps)-1].Result.Generator.Healthy; j.Generator.Healthy != healthy {
				t.Errorf("the generator of the latest probe is healthy: %v, of the run: %v", healthy, j.Generator.Healthy)
			}
		})
	}
}

// sustained is the load that was sustained; empty: none.
func sustained(j verdict.Judgement) string {
	if users := j.Sustained.Users; users != nil {
		return fmt.Sprint(*users)
	}
	return j.Sustained.Rate
}

// outstanding has the latest step leave so many requests outstanding.
func (p *prober) outstanding(mean, growth string) {
	step := &p.status.Steps[len(p.status.Steps)-1]
	step.Result.Outstanding = &v1beta1.OutstandingResult{Mean: mean, Growth: growth, Trend: v1beta1.OutstandingSteady}
	if growth != "" {
		step.Result.Outstanding.Trend = v1beta1.OutstandingGrowing
	}
	step.Result.Throughput = "400.0"
}

// A load that keeps its thresholds is breached if its outstanding requests grow, and the
// one that was found is held. Those of a load of 100/s more grow by 4 in a second.
func TestSearchHoldsWhatItFound(t *testing.T) {
	for name, tc := range map[string]struct {
		probed, held int64 // up to which probes and holds are steady
		unclear      int64 // up to which holds have no result
		rate         bool
		sustained    string
		want         string
	}{
		"kept": {450, 1000, 0, true, "421.2",
			"Kept up to 421.2/s: held for 1m, outstanding requests steady at 41. " +
				"Not kept at 463.3/s: Outstanding requests grew by 4/s in step 463.3/s (2); at that rate p95 passes 200ms after 19s of this load."},
		"taken back": {450, 400, 0, true, "382.9",
			"Kept up to 382.9/s: held for 1m, outstanding requests steady at 41. " +
				"Not kept at 421.2/s: Outstanding requests grew by 0.5/s in step hold 421.2/s; at that rate p95 passes 200ms after 133s of this load."},
		"taken back to the last": {450, 1, 0, true, "",
			"The search ended without a result: 5 loads, each lower than the one before by the precision of 10%, were not kept for 1m. Kept for 1s at 200/s. " +
				"Not kept at 287.5/s: Outstanding requests grew by 0.5/s in step hold 287.5/s; at that rate p95 passes 200ms after 133s of this load."},
		"taken back without a result": {450, 1, 400, true, "",
			"The search ended without a result at 382.9/s, which was held again. hold 382.9/s (3) was late. Kept for 1s at 400/s. Not kept for 1m at 421.2/s."},
		"taken back without a result at the last": {450, 1, 300, true, "",
			"The search ended without a result at 287.5/s, which was held. hold 287.5/s was late. Kept for 1s at 200/s. Not kept for 1m at 316.3/s."},
		"held without a result": {450, 1, 500, true, "",
			"The search ended without a result at 421.2/s, which was held again. hold 421.2/s (3) was late. Kept for 1s at 421.2/s, and not kept at 463.3/s."},
		"users who wait": {450, 1000, 0, false, "420",
			"Kept up to 420 users: held for 1m. These users wait for each response, so nothing piles up: with more users, responses become slower. " +
				"Not kept at 462 users: p95 is Failed in 462 users (2)."},
	} {
		t.Run(name, func(t *testing.T) {
			p, unit := probing(24, tc.rate), int64(1)
			if tc.rate {
				unit = 1_000_000
			}
			p.status.Search.Hold = &metav1.Duration{Duration: time.Minute}
			p.search(t, func(load int64, hold bool) {
				switch {
				case !tc.rate && load > tc.probed:
					p.add(load, hold, broken)
					return
				case hold && load <= tc.unclear*unit:
					p.add(load, true, inconclusive)
					return
				}
				p.add(load, hold, passed)
				switch {
				case hold && load > tc.held*unit:
					p.outstanding("30.0", "0.5")
				case !hold && load > tc.probed*unit:
					p.outstanding("8.0", "4.0")
				default:
					p.outstanding("41.0", "")
				}
			})
			s := p.status.Search
			if s.Message != tc.want {
				t.Errorf("(-want +got):\n%s", cmp.Diff(tc.want, s.Message))
			}
			same.As(t, "sustained", tc.sustained, sustained(verdict.Final(p.spec, p.status)))
		})
	}
}

// A min that keeps its thresholds and grows, twice when it is held, fails no run; one that
// breaches a threshold the second time does.
func TestSearchWhoseMinIsNotKept(t *testing.T) {
	const grew = "Not kept at 100/s, the min of the search: Outstanding requests grew by 0.5/s in step %s; at that rate p95 passes 200ms after %ds of this load. " +
		"Every threshold was kept meanwhile; a threshold on drift would make this growth a breach."
	for name, tc := range map[string]struct {
		probes, holds []v1beta1.ThresholdState // kept, and growing, or breached
		reason, want  string
	}{
		"growing in probes":          {[]v1beta1.ThresholdState{passed, passed}, nil, v1beta1.ReasonLoadNotKept, "Inconclusive: " + fmt.Sprintf(grew, "100/s (2)", 101)},
		"growing in holds":           {nil, []v1beta1.ThresholdState{passed, passed}, v1beta1.ReasonLoadNotKept, "Inconclusive: " + fmt.Sprintf(grew, "hold 100/s (2)", 133)},
		"breached, and then growing": {nil, []v1beta1.ThresholdState{broken, passed}, v1beta1.ReasonLoadNotKept, "Inconclusive: " + fmt.Sprintf(grew, "hold 100/s (2)", 133)},
		"growing, and then breached": {nil, []v1beta1.ThresholdState{passed, broken}, v1beta1.ReasonThresholdBreached, "Failed: Not kept at 100/s, the min of the search: p95 is Failed in hold 100/s (2)."},
		"breached in probes":         {[]v1beta1.ThresholdState{broken, broken}, nil, v1beta1.ReasonThresholdBreached, "Failed: Not kept at 100/s, the min of the search: p95 is Failed in 100/s (2)."},
	} {
		t.Run(name, func(t *testing.T) {
			p := probing(24, true)
			p.status.Search.Hold = &metav1.Duration{Duration: time.Minute}
			p.search(t, func(load int64, hold bool) {
				next := &tc.probes
				if hold {
					next = &tc.holds
				}
				switch {
				case len(*next) > 0:
					p.add(load, hold, (*next)[0])
					if (*next)[0] == passed {
						p.outstanding("30.0", "0.5")
					}
					*next = (*next)[1:]
				case load > 100_000_000:
					p.add(load, hold, broken)
				default:
					p.add(load, hold, passed)
				}
			})
			j := verdict.Final(p.spec, p.status)
			if got := string(j.Verdict) + ": " + j.Message; got != tc.want || j.Reason != tc.reason || sustained(j) != "" {
				t.Errorf("reason %s, sustained %q (-want +got):\n%s", j.Reason, sustained(j), cmp.Diff(tc.want, got))
			}
		})
	}
}

// A search is over without a result if the run is ended, before its first probe as well.
func TestSearchThatIsEndedIsInconclusive(t *testing.T) {
	p := probing(24, false)
	for range 2 {
		if j := verdict.Final(p.spec, p.status); j.Verdict != v1beta1.VerdictInconclusive || j.Reason != v1beta1.ReasonInconclusive {
			t.Errorf("%d steps: %s, %s", len(p.status.Steps), j.Verdict, j.Message)
		}
		p.probe(100, passed)
	}
	p.status.Steps[0].State = v1beta1.StepComplete
	if j := verdict.Final(p.spec, p.status); j.Message != "The search ended before it found the limit." {
		t.Errorf("%s: %s", j.Verdict, j.Message)
	}
}

// Without a fault of the generator, the threshold says why it has no result.
func TestSearchInDoubtSaysWhy(t *testing.T) {
	p := probing(24, false)
	p.probe(100, passed)
	for range 3 {
		p.probe(200, inconclusive)
		p.status.Steps[len(p.status.Steps)-1].Result.Generator = nil
	}
	kept := v1beta1.ThresholdStatus{Name: "failureRate", State: passed, Message: "failureRate is kept."}
	p.status.Thresholds = append([]v1beta1.ThresholdStatus{kept}, p.status.Thresholds...)
	want := "The search ended without a result at 200 users, which was tried again. p95 is Inconclusive in 200 users (3). Kept for 1s at 100 users."
	if s, _ := verdict.Searched(p.spec, p.status); s.Message != want {
		t.Errorf("%s, want %s", s.Message, want)
	}
}

// The least load there can be is a load.
// A LoadTest that was stored before the API refused inRepetitions with search may have it: each
// probe is judged by itself.
func TestProbeIsJudgedWithInRepetitions(t *testing.T) {
	p := probing(10, false)
	p.spec.Thresholds[0].InRepetitions = ptr(int32(1))
	p.status.Steps = plan.Probe(p.spec, p.status, 100)[1:]
	p.status.Thresholds = verdict.Thresholds(p.spec, nil, p.status.Steps)
	slowly := sent(0, 0, slow(1000, 2*time.Second))
	if got := complete(p.spec, p.status, 0, slowly); got.Step != v1beta1.ThresholdFailed || len(got.Repeated) > 0 {
		t.Errorf("p95 is 2s, and 200ms are allowed: %q, repeated %v", got.Step, got.Repeated)
	}
}

func TestSearchOfOneUser(t *testing.T) {
	for result, want := range map[v1beta1.ThresholdState]string{passed: "1 to ", broken: " to 1"} {
		p := probing(24, false)
		p.spec.Search.Users.Min = 1
		p.probe(1, result)
		if s, _ := verdict.Searched(p.spec, p.status); s.Low+" to "+s.High != want {
			t.Errorf("%s: %s to %s, want %s", result, s.Low, s.High, want)
		}
	}
}

// Where it is the growth that is uncertain, that is said first.
func TestSearchThatMayGrowSaysWhy(t *testing.T) {
	const grew = "The search ended without a result at 200 users, which was tried again. " +
		"Outstanding requests grew by 5/s in step 200 users (3), and by 0/s without the generator's own delay. "
	for want, healthy := range map[string]bool{
		grew + "Kept for 1s at 100 users.":                         true,
		grew + "200 users (3) was late. Kept for 1s at 100 users.": false,
	} {
		p := probing(24, false)
		p.probe(100, passed)
		for range 3 {
			p.probe(200, inconclusive)
			step := &p.status.Steps[len(p.status.Steps)-1]
			step.ThresholdState, step.Result.Generator.Healthy = passed, healthy
			step.Result.Outstanding = &v1beta1.OutstandingResult{Mean: "45.0", Trend: v1beta1.OutstandingUncertain, Growth: "5.0", WithoutGenerator: "0.0"}
		}
		p.status.Thresholds = nil
		if s, _ := verdict.Searched(p.spec, p.status); s.Message != want {
			t.Errorf("(-want +got):\n%s", cmp.Diff(want, s.Message))
		}
	}
}

// A probe that was cut, or of which a worker's measurement is missing, is tried again.
func TestProbeInDoubtIsTriedAgain(t *testing.T) {
	for name, doubt := range map[string]func(*v1beta1.StepStatus){
		"kept, and cut":                func(s *v1beta1.StepStatus) { s.State = v1beta1.StepCut },
		"kept, without a worker":       func(s *v1beta1.StepStatus) { s.WorkersReporting = 0 },
		"breached, and cut":            func(s *v1beta1.StepStatus) { s.State, s.ThresholdState = v1beta1.StepCut, broken },
		"no threshold could be judged": func(s *v1beta1.StepStatus) { s.ThresholdState = inconclusive },
		"nothing was judged":           func(s *v1beta1.StepStatus) { s.ThresholdState = "" },
		"kept, and the growth may be the generator's": func(s *v1beta1.StepStatus) {
			s.Result.Outstanding = &v1beta1.OutstandingResult{Mean: "45.0", Trend: v1beta1.OutstandingUncertain, Growth: "5.0", WithoutGenerator: "0.0"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := probing(24, false)
			p.probe(100, passed)
			p.probe(200, passed)
			doubt(&p.status.Steps[2])
			if s, next := verdict.Searched(p.spec, p.status); next.Next != 200 || s.Low != "100" || s.Breach != "" || s.High != "" {
				t.Errorf("next %d, kept up to %s; want 200 again", next.Next, s.Low)
			}
		})
	}
}
