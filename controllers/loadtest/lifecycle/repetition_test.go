package lifecycle_test

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/same"
	"github.com/loadtest-dev/loadtest-operator/test/world"
)

// repetitions are a ladder of two rungs that is run twice; the second
// repetition begins 12.7 s after the run was taken up. Each is told in a golden
// file, too; want is what is left of it.
var repetitions = map[string]struct {
	script func(*world.World)
	want   remains
}{
	"one-is-slower": {
		func(w *world.World) { w.After(12*time.Second, func() { w.Latency = 60 * time.Millisecond }) },
		remains{
			Verdict: v1beta1.VerdictPassed, Summary: "4/4", Sustained: 1000,
			Steps:  "100 Complete, rest Complete, 1000 Complete, rest Complete, 100 (2) Complete, rest Complete, 1000 (2) Complete",
			Spread: []v1beta1.DurationSpread{upTo(60), upTo(60)},
		},
	},
	"one-breaches": {func(w *world.World) {
		w.After(12*time.Second, func() { w.Latency = 300 * time.Millisecond })
		w.After(17*time.Second, func() { w.Latency = 20 * time.Millisecond })
	},
		remains{
			Verdict: v1beta1.VerdictFailed, Summary: "4/4", Threshold: "100 (2)",
			Steps:  "100 Complete, rest Complete, 1000 Complete, rest Complete, 100 (2) Complete, rest Complete, 1000 (2) Complete",
			Spread: []v1beta1.DurationSpread{upTo(300), upTo(20)},
		}},
	"one-of-two-may-breach": {
		func(w *world.World) {
			w.LoadTest().Spec.Thresholds[0].InRepetitions = ptr.To[int32](1)
			w.LoadTest().Spec.Ladder.StopOnBreach = true
			w.After(7*time.Second, func() { w.Latency = 300 * time.Millisecond })
			w.After(17*time.Second, func() { w.Latency = 20 * time.Millisecond })
		},
		remains{
			Verdict: v1beta1.VerdictPassed, Summary: "4/4", Sustained: 1000,
			Steps:  "100 Complete, rest Complete, 1000 Complete, rest Complete, 100 (2) Complete, rest Complete, 1000 (2) Complete",
			Spread: []v1beta1.DurationSpread{upTo(300), upTo(300)},
		},
	},
	"the-first-stops-all": {func(w *world.World) {
		w.LoadTest().Spec.Ladder.StopOnBreach = true
		w.After(7*time.Second, func() { w.Latency = 300 * time.Millisecond })
	},
		remains{
			Verdict: v1beta1.VerdictFailed, Summary: "2/4", Sustained: 100, Threshold: "1000",
			Steps: "100 Complete, rest Complete, 1000 Complete, rest Skipped, 100 (2) Skipped, rest Skipped, 1000 (2) Skipped",
		}},
	"the-second-stops": {
		func(w *world.World) {
			w.LoadTest().Spec.Ladder, w.LoadTest().Spec.Steps = nil, []v1beta1.Step{
				{Name: "few", Users: ptr.To[int32](100), Duration: &metav1.Duration{Duration: 3 * time.Second}},
				{Name: "many", Users: ptr.To[int32](1000), Duration: &metav1.Duration{Duration: 3 * time.Second}},
			}
			w.LoadTest().Spec.Thresholds[0].OnBreach = v1beta1.BreachStopLadder
			w.After(10*time.Second, func() { w.Latency = 300 * time.Millisecond })
		},
		remains{
			Verdict: v1beta1.VerdictFailed, Summary: "3/4", Threshold: "few (2)",
			Steps:  "few Complete, many Complete, few (2) Complete, many (2) Skipped",
			Spread: []v1beta1.DurationSpread{upTo(300)},
		},
	},
	"the-second-is-cut": {
		func(w *world.World) { w.After(20*time.Second, func() { w.LoadTest().Spec.Terminate = true }) },
		remains{
			Verdict: v1beta1.VerdictCanceled, Summary: "4/4",
			Steps:  "100 Complete, rest Complete, 1000 Complete, rest Complete, 100 (2) Complete, rest Complete, 1000 (2) Cut",
			Spread: []v1beta1.DurationSpread{upTo(20)},
		},
	},
	// The worker has reported of the step in which it dies, but not all of it.
	"the-second-loses-a-worker": {func(w *world.World) {
		w.LoadTest().Spec.Parallelism = ptr.To[int32](2)
		w.SetWorkers(2)
		w.After(19200*time.Millisecond, func() { w.Workers[1].Die("OOMKilled, exit code 137") })
	},
		remains{
			Verdict: v1beta1.VerdictInconclusive, Summary: "4/4", Sustained: 100,
			Steps:  "100 Complete, rest Complete, 1000 Complete, rest Complete, 100 (2) Complete, rest Complete, 1000 (2) Cut",
			Spread: []v1beta1.DurationSpread{upTo(20)},
		}},
	"the-deadline-comes": {
		func(w *world.World) { w.LoadTest().Spec.ActiveDeadlineSeconds = ptr.To[int64](12) },
		remains{
			Verdict: v1beta1.VerdictError, Summary: "2/4",
			Steps: "100 Complete, rest Complete, 1000 Complete, rest Cut, 100 (2) Skipped, rest Skipped, 1000 (2) Skipped",
		},
	},
	"held-between-two": {func(w *world.World) {
		w.After(8*time.Second, func() { w.LoadTest().Spec.Suspend = true })
		w.After(30*time.Second, func() { w.LoadTest().Spec.Suspend = false })
	},
		remains{
			Verdict: v1beta1.VerdictPassed, Summary: "4/4", Sustained: 1000,
			Steps:  "100 Complete, rest Complete, 1000 Complete, rest Complete, 100 (2) Complete, rest Complete, 1000 (2) Complete",
			Spread: []v1beta1.DurationSpread{upTo(20), upTo(20)},
		}},
}

// remains is what a run leaves.
type remains struct {
	Verdict   v1beta1.Verdict
	Summary   string
	Steps     string
	Sustained int32
	// Threshold is the step that broke the threshold.
	Threshold string
	// Spread is the spread of p95.
	Spread []v1beta1.DurationSpread
}

// upTo is a spread of two that begins at 20 ms, in milliseconds as the histogram
// says them.
func upTo(high int) v1beta1.DurationSpread {
	recorded := map[int]time.Duration{20: 20_015, 60: 60_031, 300: 300_031}
	in := func(n int) metav1.Duration { return metav1.Duration{Duration: recorded[n] * time.Microsecond} }
	return v1beta1.DurationSpread{Min: in(20), Median: in(20), Max: in(high)}
}

func remainsOf(s v1beta1.LoadTestStatus) remains {
	r := remains{Verdict: s.Verdict, Summary: s.Summary.Step, Sustained: ptr.Deref(s.MaxSustainedUsers, 0)}
	for i, step := range s.Steps {
		if i > 0 {
			r.Steps += ", "
		}
		r.Steps += step.Name + " " + string(step.State)
	}
	for _, t := range s.Thresholds {
		if t.State == v1beta1.ThresholdFailed {
			r.Threshold = t.Step
		}
	}
	for _, spread := range s.Spread {
		r.Spread = append(r.Spread, *spread.P95)
	}
	return r
}

// twice is the ladder, run twice by one worker.
func twice() v1beta1.LoadTestSpec {
	spec := ladder()
	spec.Repetitions, spec.Parallelism = 2, ptr.To[int32](1)
	return spec
}

func TestRepetitions(t *testing.T) {
	for name, tc := range repetitions {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, twice())
			tc.script(w)
			checkStory(t, w, "repetitions", name)
			same.As(t, "what is left", tc.want, remainsOf(w.LoadTest().Status))
		})
	}
}

// The status says of each step which repetition it is part of, from the beginning.
func TestStepsHaveTheirRepetition(t *testing.T) {
	rungs := []int32{100, 0, 1000, 0, 100, 0, 1000}
	for count, want := range map[int32][]int32{0: {0, 0, 0}, 1: {0, 0, 0}, 2: {1, 1, 1, 1, 2, 2, 2}} {
		lt := &v1beta1.LoadTest{Spec: twice()}
		lt.Spec.Repetitions = count
		var got, users []int32
		for _, s := range lifecycle.Decide(lt, policy.Rules{}, lifecycle.Observed{}, began).Status.Steps {
			got, users = append(got, s.Repetition), append(users, s.Load.Users)
		}
		if !slices.Equal(users, rungs[:len(users)]) {
			t.Errorf("repetitions %d: the steps are of %v users, want %v", count, users, rungs[:len(users)])
		}
		if !slices.Equal(got, want) {
			t.Errorf("repetitions %d: the steps are of %v, want %v", count, got, want)
		}
	}
}

// More steps than a status can hold are no run.
func TestTooManyRepetitionsAreRefused(t *testing.T) {
	lt := &v1beta1.LoadTest{Spec: twice()}
	lt.Spec.Repetitions = 100
	s := lifecycle.Decide(lt, policy.Rules{}, lifecycle.Observed{}, began).Status
	if s.Verdict != v1beta1.VerdictError || len(s.Steps) != 0 {
		t.Errorf("verdict %s with %d steps, want Error with none", s.Verdict, len(s.Steps))
	}
}
