package fault

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/controllers/plan"
)

// often are the cases that run on every change.
func often() []Case {
	return slices.DeleteFunc(Cases(), func(c Case) bool { return c.Full })
}

// Each kind of load and each protocol is disturbed from either side on every change; the full
// suite has all of them together.
func TestCasesCoverAllLoadsAndProtocols(t *testing.T) {
	type key struct{ disturbance, pattern, protocol string }
	whole := map[key]int{}
	for _, c := range Cases() {
		whole[key{string(c.Disturbance), c.Pattern, c.Protocol}]++
	}
	if want := 5 * len(patterns()) * len(Protocols); len(whole) != want || len(Cases()) != want {
		t.Errorf("%d cases, %d of them different; want %d", len(Cases()), len(whole), want)
	}
	patternsOf, protocolsOf, n := map[Disturbance]map[string]int{}, map[Disturbance]map[string]int{}, map[Disturbance]int{}
	for _, c := range often() {
		if patternsOf[c.Disturbance] == nil {
			patternsOf[c.Disturbance], protocolsOf[c.Disturbance] = map[string]int{}, map[string]int{}
		}
		patternsOf[c.Disturbance][c.Pattern]++
		protocolsOf[c.Disturbance][c.Protocol]++
		n[c.Disturbance]++
	}
	for _, d := range []Disturbance{WorkerStopped, TargetPaused} {
		if got := slices.Sorted(maps.Values(patternsOf[d])); len(got) != len(patterns()) || slices.Max(got) > 1 {
			t.Errorf("%s: kinds of load %v, want each once", d, patternsOf[d])
		}
		if len(protocolsOf[d]) != len(Protocols) {
			t.Errorf("%s: protocols %v, want all", d, protocolsOf[d])
		}
	}
	want := map[Disturbance]int{WorkerStopped: 6, TargetPaused: 6, WorkerFrozen: 1, WorkerThrottled: 1, TargetHangs: 1}
	if diff := cmp.Diff(want, n); diff != "" {
		t.Errorf("runs on every change (-want +got):\n%s", diff)
	}
}

// A target that stands still for 14 of 20 s is Failed, and says itself that it did. One worker
// that is stopped for 4 s of 20 s never makes a run Failed: it displaces a part of the load.
func TestCasesExpectWhatTheIssueSays(t *testing.T) {
	for _, c := range Cases() {
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

// The target counts each run apart from the others.
func TestCasesHaveNamesOfTheirOwn(t *testing.T) {
	names := map[string]bool{}
	for _, c := range Cases() {
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
		if got := Name(of[0], of[1]); got != want {
			t.Errorf("name %s, want %s", got, want)
		}
	}
}

func TestCasesArePlannedAsTheOperatorPlans(t *testing.T) {
	for _, c := range Cases() {
		spec := c.Load.Spec("run", "counter")
		steps := plan.Steps(&spec)
		if got := c.Load.Planned(); len(steps) != 1 || steps[0].Load.Requests != got {
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
		if got := (Load{Steps: tt.steps}).Prompt(); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}
