package fault

import (
	"slices"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// often are the cases that run on every change.
func often() []Case {
	return slices.DeleteFunc(Cases(1), func(c Case) bool { return c.Full })
}

// Each kind of load is disturbed from one side on every change, and each protocol from one of them; the
// full suite has all of them together for two disturbances, and each of them for the others.
func TestCasesCoverAllLoadsAndProtocols(t *testing.T) {
	type key struct{ pattern, protocol string }
	whole := map[Disturbance]map[key]int{}
	for _, c := range Cases(1) {
		if whole[c.Disturbance] == nil {
			whole[c.Disturbance] = map[key]int{}
		}
		whole[c.Disturbance][key{c.Pattern, c.Protocol}]++
		whole[c.Disturbance][key{pattern: c.Pattern}]++
		whole[c.Disturbance][key{protocol: c.Protocol}]++
	}
	for d, all := range whole {
		want := len(patterns()) + len(Protocols) - 1
		if d == WorkerStopped || d == TargetPaused {
			want = len(patterns()) * len(Protocols)
		}
		if want += len(patterns()) + len(Protocols); len(all) != want {
			t.Errorf("%s: %d kinds of load, protocols and pairs of them; want %d", d, len(all), want)
		}
	}
	if len(whole) != 5 {
		t.Errorf("%d disturbances, want 5", len(whole))
	}
	patternsOf, protocolsOf, n := map[string]int{}, map[string]int{}, map[Disturbance]int{}
	for _, c := range often() {
		n[c.Disturbance]++
		if c.Disturbance == WorkerStopped || c.Disturbance == TargetPaused {
			patternsOf[c.Pattern]++
			protocolsOf[c.Protocol]++
		}
	}
	for _, p := range patterns() {
		same.As(t, "runs of "+p.name+" on every change", 1, patternsOf[p.name])
	}
	same.As(t, "protocols on every change", len(Protocols), len(protocolsOf))
	want := map[Disturbance]int{WorkerStopped: 4, TargetPaused: 4, WorkerFrozen: 1, WorkerThrottled: 1, TargetHangs: 1}
	same.As(t, "runs on every change", want, n)
}

// A target that stands still for 14 of 20 s is Failed, and says itself that it did. One worker
// that is stopped for 4 s of 20 s never makes a run Failed: it displaces a part of the load.
func TestCasesExpectWhatTheIssueSays(t *testing.T) {
	for _, c := range Cases(1) {
		length, right := c.Load.Steps[0].Length, c.Want.Verdicts
		if length != 20*time.Second || c.After < 500*time.Millisecond || c.After+c.Lasts > length-500*time.Millisecond {
			t.Errorf("%s of %s: %s from %s on, of %s", c.Disturbance, c.Run(), c.Lasts, c.After, length)
		}
		lasts, verdicts := 4*time.Second, []string{Inconclusive}
		switch c.Disturbance {
		case TargetPaused, TargetHangs:
			lasts, verdicts = 14*time.Second, []string{Failed}
			if c.Want.Silent != lasts || c.Want.Stood < 13*time.Second && c.Want.Slowest < 4*time.Second {
				t.Errorf("%s of %s: the target need not have been silent", c.Disturbance, c.Run())
			}
		case WorkerThrottled:
			verdicts = []string{Passed, Inconclusive}
			if !c.Want.Throttled {
				t.Errorf("%s of %s: the status need not say so", c.Disturbance, c.Run())
			}
		default:
			if c.Want.Reason != "LoadDisplaced:" {
				t.Errorf("%s of %s: any reason is right", c.Disturbance, c.Run())
			}
		}
		if c.Lasts != lasts || !slices.Equal(right, verdicts) || c.Load.Workers < 2 {
			t.Errorf("%s of %s for %s: %v is right", c.Disturbance, c.Run(), c.Lasts, right)
		}
	}
}

// All moments come on every change, for either side, and a seed draws the same ones again.
func TestCasesComeAtDrawnMoments(t *testing.T) {
	moments := map[Disturbance]map[time.Duration]bool{WorkerStopped: {}, TargetPaused: {}}
	for _, c := range often() {
		if at := moments[c.Disturbance]; at != nil && !c.Drawn {
			at[c.After] = true
		}
	}
	for d, at := range moments {
		if len(at) != 3 {
			t.Errorf("%s: %d fixed moments, want 3", d, len(at))
		}
	}
	one, again, another := Cases(1), Cases(1), Cases(2)
	drawn := map[time.Duration]int{}
	for i, c := range one {
		if c.After != again[i].After || (c.After == another[i].After) == c.Drawn {
			t.Errorf("%s of %s comes at %s, %s and %s", c.Disturbance, c.Run(), c.After, again[i].After, another[i].After)
		}
		if c.Drawn {
			drawn[c.After]++
		}
	}
	if len(drawn) < 20 {
		t.Errorf("%d moments are drawn, want one for each of about a quarter of %d runs", len(drawn), len(one))
	}
}

// The target counts each run apart from the others.
func TestCasesHaveNamesOfTheirOwn(t *testing.T) {
	names := map[string]bool{}
	for _, c := range Cases(1) {
		name := Name(string(c.Disturbance), c.Run())
		if names[name] || len(name) >= 52 {
			t.Errorf("the name %s is cut, or another's", name)
		}
		names[name] = true
	}
}

func TestName(t *testing.T) {
	for want, of := range map[string][2]string{
		"worker-stopped-a-burst-http11":                        {"worker stopped", "a burst, HTTP/1.1"},
		"operators-node-stopped-the-gate":                      {"operator's node stopped", "the gate"},
		"a-name-that-has-more-than-fifty-two-characters-in-it": {"A name that has more than fifty-two characters in it", "run"},
		"a-name-that-has-more-than-fifty-one-characters-in-i":  {"a name that has more than fifty-one characters in i", "t"},
	} {
		same.As(t, "name", want, Name(of[0], of[1]))
	}
}

func TestCasesArePlannedAsTheOperatorPlans(t *testing.T) {
	for _, c := range Cases(1) {
		spec := c.Load.Spec("run", "counter")
		steps := plan.Steps(&spec)
		got, planned := c.Load.Planned(), steps[0].Load.Requests
		if c.Pattern == "a ramp" && planned > 780 && planned < 820 { // about 20 users, who send 40 each
			planned = 0
		}
		if len(steps) != 1 || planned != got {
			t.Errorf("%s of %s: planned are %d, the operator plans %+v", c.Disturbance, c.Run(), got, steps)
		}
		if isJourney := c.Pattern == "journeys"; (len(spec.Journeys) > 0) != isJourney {
			t.Errorf("%s has journeys: %t", c.Pattern, !isJourney)
		}
	}
}

func TestPrompt(t *testing.T) {
	for name, tt := range map[string]struct {
		steps []Step
		want  time.Duration
	}{
		"the shortest step":  {[]Step{users(8 * time.Second), users(4 * time.Second), users(6 * time.Second)}, 10 * time.Millisecond},
		"no pause":           {[]Step{{Length: time.Second}, {Rate: 1, Length: 20 * time.Second}}, 50 * time.Millisecond},
		"nothing is sent":    {[]Step{{Length: time.Second}}, 0},
		"there are no steps": {nil, 0},
	} {
		same.As(t, name, tt.want, (Load{Steps: tt.steps}).Prompt())
	}
}
