package soak

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/fault"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

const quarter = 15 * time.Minute

func TestPlanFollowsFromTheSeed(t *testing.T) {
	first, second := Plan(1, quarter)
	again, more := Plan(1, quarter)
	if diff := cmp.Diff(first, again) + cmp.Diff(second, more); diff != "" {
		t.Errorf("the same seed gives another plan:\n%s", diff)
	}
	if other, _ := Plan(2, quarter); cmp.Equal(first, other) {
		t.Error("another seed gives the same plan")
	}
}

func TestPlanHasEachActionInItsTime(t *testing.T) {
	first, second := Plan(1, quarter)
	seen := map[What]int{}
	for _, lap := range []struct {
		actions []Action
		length  time.Duration
	}{{first, quarter / 3}, {second, quarter - quarter/3}} {
		var before time.Duration
		for _, a := range lap.actions {
			if a.At < before || a.At >= lap.length {
				t.Errorf("%s at %s, after %s, in a lap of %s", a.What, a.At, before, lap.length)
			}
			before = a.At
			seen[a.What]++
		}
	}
	for _, what := range slices.Concat(changes, keeping, replacing) {
		if seen[what] == 0 {
			t.Errorf("there is no %q", what)
		}
	}
	if n := seen[Create]; n < 200 {
		t.Errorf("%d LoadTests are created, want 200 or more", n)
	}
}

// The process that leads is to be the same at the end of the second lap.
func TestSecondLapReplacesNoLeader(t *testing.T) {
	for seed := range uint64(20) {
		_, second := Plan(seed, quarter)
		for _, a := range second {
			if slices.Contains(replacing, a.What) {
				t.Errorf("seed %d: %s at %s", seed, a.What, a.At)
			}
		}
	}
}

func TestSpecsAreSmallAndWhatTheirNamesSay(t *testing.T) {
	refused := map[string]bool{"refused target": true}
	for _, name := range Loads() {
		spec, err := Spec(name, "some-path", longest)
		if err != nil {
			t.Error(err)
			continue
		}
		lt := &v1beta1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: "soak", Name: "run"}, Spec: spec}
		if _, refusal := plan.New(lt, policy.Rules{}); (refusal != nil) != refused[name] {
			t.Errorf("%s: the operator says %v", name, refusal)
		}
		var requests int64
		for _, s := range plan.Steps(&spec) {
			requests += s.Load.Requests
		}
		if requests > 100 {
			t.Errorf("%s plans %d requests", name, requests)
		}
	}
}

func TestLeaks(t *testing.T) {
	before := Sample{Goroutines: 100, Descriptors: 20, Live: 20 << 20, Resident: 80 << 20}
	for name, tc := range map[string]struct {
		change func(*Sample)
		want   string
	}{
		"none":             {func(*Sample) {}, ""},
		"less":             {func(s *Sample) { *s = Sample{} }, ""},
		"a few goroutines": {func(s *Sample) { s.Goroutines += moreGoroutines }, ""},
		"goroutines":       {func(s *Sample) { s.Goroutines += moreGoroutines + 1 }, "goroutines: 111, before 100; more than 10 more"},
		"descriptors":      {func(s *Sample) { s.Descriptors += moreDescriptors + 1 }, "descriptors: 31, before 20; more than 10 more"},
		"one session":      {func(s *Sample) { s.Sessions = 1 }, "sessions: 1, before 0; more than 0 more"},
		"memory in use":    {func(s *Sample) { s.Live += moreLive + 1<<10 }, "KB in use: 30721, before 20480; more than 10240 more"},
		"memory":           {func(s *Sample) { s.Resident += moreResident + 1<<10 }, "KB resident: 122881, before 81920; more than 40960 more"},
	} {
		after := before
		tc.change(&after)
		if got := strings.Join(Leaks(before, after), "; "); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func TestReport(t *testing.T) {
	r := Report{Runs: 200, Before: Sample{Resident: 80 << 20}, After: Sample{Resident: 90 << 20}}
	if !r.OK() || r.String() != "soak: runs=200 stuck=0 leaks=0 rss-mb-first=80 rss-mb-last=90" || r.Details() != "" {
		t.Errorf("nothing was found, and it says %s %s", r, r.Details())
	}
	r.Stuck, r.Leaked, r.Wrong = []string{"a", "b"}, []string{"c"}, []string{"d"}
	if r.OK() || r.String() != "soak: runs=200 stuck=2 leaks=1 rss-mb-first=80 rss-mb-last=90" {
		t.Errorf("it says %s", r)
	}
	same.As(t, "details", "PROBLEM stuck: a\nPROBLEM stuck: b\nPROBLEM leaked: c\nPROBLEM wrong: d\n", r.Details())
}

func TestJudge(t *testing.T) {
	kept := fault.Outcome{Verdict: fault.Passed, Planned: 20, Due: 20, Sent: 20, Completed: 20, Received: 20}
	for name, tc := range map[string]struct {
		load   string
		change func(*fault.Outcome)
		wrong  bool
	}{
		"passed":                        {"user", func(*fault.Outcome) {}, false},
		"one more received":             {"user", func(o *fault.Outcome) { o.Received++ }, true},
		"passed, and one less received": {"user", func(o *fault.Outcome) { o.Received, o.Completed = 19, 19 }, true},
		"failed, and one less received": {"user", func(o *fault.Outcome) { o.Verdict, o.Received, o.Completed = fault.Failed, 19, 19 }, false},
		"one more, which may be missing": {"user", func(o *fault.Outcome) {
			o.Verdict, o.Missing, o.Received = fault.Inconclusive, new(int64), 21
			*o.Missing = 1
		}, false},
		"canceled before it began":         {"user", func(o *fault.Outcome) { *o = fault.Outcome{Verdict: fault.Canceled} }, false},
		"passed without a request":         {"user", func(o *fault.Outcome) { *o = fault.Outcome{Verdict: fault.Passed} }, true},
		"a path that is not counted":       {"wrong path", func(o *fault.Outcome) { o.Verdict, o.Received = fault.Failed, 0 }, false},
		"passed with a wrong path":         {"wrong path", func(o *fault.Outcome) { o.Received = 0 }, true},
		"requests at a target not allowed": {"refused target", func(o *fault.Outcome) { o.Verdict = fault.Error }, true},
	} {
		got := kept
		tc.change(&got)
		if problems := Judge(tc.load, got); (len(problems) > 0) != tc.wrong {
			t.Errorf("%s: %v", name, problems)
		}
	}
}
