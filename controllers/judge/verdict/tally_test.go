package verdict_test

import (
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// repeat carries out the steps of a spec, one for each letter: p kept the threshold on p95
// (n narrowly), f breached it, i had too few samples, and - was cut before it was judged.
// It ends where a step stops the run.
func repeat(s *v1beta1.LoadTestSpec, letters string) *v1beta1.LoadTestStatus {
	status := &v1beta1.LoadTestStatus{Requests: plan.RequestNames(s), Steps: plan.Steps(s), Workers: v1beta1.WorkerCounts{Desired: 1}}
	status.Thresholds = verdict.Thresholds(s, status.Requests, status.Steps)
	outcomes := map[rune]outcome{
		'p': sent(0, 0, slow(100, 10*ms)), 'n': sent(0, 0, slow(100, 900*ms)), 'f': sent(0, 0, slow(100, 2*time.Second)), 'i': sent(1, 0), '-': sent(1, 0),
	}
	rest := []rune(letters)
	for i := range status.Steps {
		step := &status.Steps[i]
		if len(rest) == 0 {
			break
		}
		if step.State = v1beta1.StepComplete; step.Load.IsPause() {
			continue
		}
		letter := rest[0]
		rest = rest[1:]
		if letter == '-' {
			step.State = v1beta1.StepCut
			continue
		}
		if complete(s, status, i, outcomes[letter]).Stop {
			for n := i + 1; n < len(status.Steps); n++ {
				status.Steps[n].State = v1beta1.StepSkipped
			}
			break
		}
	}
	return status
}

// inFour is a ladder of five repetitions, of which four must keep p95.
func inFour(users ...int32) *v1beta1.LoadTestSpec {
	s := ladder(users...)
	s.Repetitions, s.Thresholds = 5, []v1beta1.Threshold{atMost("p95", "1s")}
	s.Thresholds[0].InRepetitions = ptr(int32(4))
	return s
}

func TestThresholdMustBeKeptInSomeRepetitions(t *testing.T) {
	const rule = ", and must be kept in 4; at most 1s is allowed."
	for name, tc := range map[string]struct {
		letters string
		state   v1beta1.ThresholdState
		step    string
		message string
	}{
		"all kept":                    {"ppppp", v1beta1.ThresholdPassed, "10", "p95 was kept in 5 of 5 repetitions of step 10" + rule},
		"one breached":                {"ppfpp", v1beta1.ThresholdPassed, "10", "p95 was kept in 4 of 5 repetitions of step 10" + rule + " It is 2.000895s in repetition 3."},
		"the narrowest is named":      {"ppfnp", v1beta1.ThresholdPassed, "10 (4)", "p95 was kept in 4 of 5 repetitions of step 10" + rule + " It is 2.000895s in repetition 3."},
		"one unknown":                 {"ppipp", v1beta1.ThresholdPassed, "10", "p95 was kept in 4 of 5 repetitions of step 10" + rule + " It is unknown in repetition 3."},
		"two breached":                {"pfpfp", v1beta1.ThresholdFailed, "10 (2)", "p95 was kept in 3 of 5 repetitions of step 10" + rule + " It is 2.000895s in repetition 2 and 2.000895s in repetition 4."},
		"two unknown":                 {"pipip", v1beta1.ThresholdInconclusive, "10 (2)", "p95 was kept in 3 of 5 repetitions of step 10" + rule + " It is unknown in repetitions 2 and 4."},
		"one breached, one unknown":   {"pfpip", v1beta1.ThresholdInconclusive, "10 (4)", "p95 was kept in 3 of 5 repetitions of step 10" + rule + " It is 2.000895s in repetition 2. It is unknown in repetition 4."},
		"one cut, one breached":       {"pfp-p", v1beta1.ThresholdInconclusive, "10 (4)", "p95 was kept in 3 of 5 repetitions of step 10" + rule + " It is 2.000895s in repetition 2. It is unknown in repetition 4."},
		"kept before the last":        {"pppp", v1beta1.ThresholdPassed, "10", "p95 was kept in 4 of 5 repetitions of step 10 so far" + rule},
		"breached before the last":    {"ffp", v1beta1.ThresholdFailed, "10", "p95 was kept in 1 of 5 repetitions of step 10 so far" + rule + " It is 2.000895s in repetition 1 and 2.000895s in repetition 2."},
		"after the first":             {"p", v1beta1.ThresholdPending, "", "p95 was kept in 1 of 5 repetitions of step 10 so far" + rule},
		"not decided":                 {"pfp", v1beta1.ThresholdPending, "", "p95 was kept in 2 of 5 repetitions of step 10 so far" + rule + " It is 2.000895s in repetition 2."},
		"doubtful before the last":    {"iip", v1beta1.ThresholdInconclusive, "10", "p95 was kept in 1 of 5 repetitions of step 10 so far" + rule + " It is unknown in repetitions 1 and 2."},
		"as many as a sentence names": {"ffffp", v1beta1.ThresholdFailed, "10", "p95 was kept in 1 of 5 repetitions of step 10" + rule + " It is 2.000895s in repetition 1, 2.000895s in repetition 2, 2.000895s in repetition 3 and 2.000895s in repetition 4."},
		"more than a sentence names":  {"fffff", v1beta1.ThresholdFailed, "10", "p95 was kept in 0 of 5 repetitions of step 10" + rule + " It is 2.000895s in repetition 1, 2.000895s in repetition 2, 2.000895s in repetition 3, 2.000895s in repetition 4 and 1 more."},
	} {
		t.Run(name, func(t *testing.T) {
			got := repeat(inFour(10), tc.letters).Thresholds[0]
			got.Observed = ""
			same.As(t, "threshold", v1beta1.ThresholdStatus{Name: "p95", Metric: "p95", Limit: "1s", State: tc.state, Step: tc.step, Message: tc.message}, got)
		})
	}
}

// Each rung needs its own repetitions: breaches of one rung do not add up with those of
// another, and the worst rung counts.
func TestRepetitionsAreCountedRungByRung(t *testing.T) {
	for letters, want := range map[string]string{
		"fppfpppppp": "Passed", // one of each rung
		"fpfppppppp": "Failed 10",
		"pfpfpppppp": "Failed 20",
		"pppppppf":   "Pending",   // while the first rung has kept it
		"nppppppppp": "Passed 10", // the narrower of those that kept it
		"pnpppppppp": "Passed 20",
		"fnpppppppp": "Passed 10", // the one with more exceptions
		"pppfpppppp": "Passed 20",
		"ffffpfpppp": "Failed 10", // the first, whatever comes after it
	} {
		got := repeat(inFour(10, 20), letters).Thresholds[0]
		if text := string(got.State) + " " + got.Step; !strings.HasPrefix(text, want) {
			t.Errorf("%s: %s, want %s", letters, text, want)
		}
	}
}

// A breach stops the run once so many repetitions breach the threshold that it cannot be
// kept any more, and not before.
func TestBreachStopsOnceTooFewRepetitionsAreLeft(t *testing.T) {
	for letters, want := range map[string]bool{"fpppp": false, "ppppf": false, "ff": true, "pfpf": true, "iip": false} {
		for _, onBreach := range []v1beta1.BreachAction{v1beta1.BreachStopLadder, v1beta1.BreachContinue} {
			s := inFour(10)
			s.Thresholds[0].OnBreach = onBreach
			status := repeat(s, letters)
			stopped := status.Steps[len(status.Steps)-1].State == v1beta1.StepSkipped
			if stopped != (want && onBreach == v1beta1.BreachStopLadder) {
				t.Errorf("%s with onBreach %s: stopped is %t", letters, onBreach, stopped)
			}
		}
	}
}

// A run passes, and sustains its load, with a breach that is allowed. Other thresholds
// hold in each repetition.
func TestVerdictAllowsForRepetitions(t *testing.T) {
	for name, tc := range map[string]struct {
		letters   string
		edit      func(*v1beta1.LoadTestSpec)
		verdict   v1beta1.Verdict
		sustained int32
	}{
		"one breach of each rung": {"fppfpppppp", nil, v1beta1.VerdictPassed, 20},
		"two of the second rung":  {"pfpfpppppp", nil, v1beta1.VerdictFailed, 10},
		"two unknown":             {"ipippppppp", nil, v1beta1.VerdictInconclusive, 0},
		"one that is not about all": {"pppppppppp", func(s *v1beta1.LoadTestSpec) {
			failures, down, small := s.Thresholds[0], s.Thresholds[0], s.Thresholds[0]
			failures.Metric, failures.Max = "failureRate", atMost("failureRate", "1%").Max
			down.Metric, down.Max, small.UpToUsers = "downtime", failures.Max, ptr(int32(10))
			s.Thresholds = []v1beta1.Threshold{failures, down, small}
		}, v1beta1.VerdictPassed, 20},
		"another threshold": {"fppfpppppp", func(s *v1beta1.LoadTestSpec) { s.Thresholds = append(s.Thresholds, atMost("longest", "1s")) }, v1beta1.VerdictFailed, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := inFour(10, 20)
			if tc.edit != nil {
				tc.edit(s)
			}
			got := verdict.Final(s, repeat(s, tc.letters))
			if got.Verdict != tc.verdict || deref(got.Sustained.Users) != tc.sustained {
				t.Errorf("%s, %d users sustained: %s\nwant %s, %d", got.Verdict, deref(got.Sustained.Users), got.Message, tc.verdict, tc.sustained)
			}
		})
	}
}

// A verdict that passes names the exception, in the rung that has one.
func TestVerdictNamesTheException(t *testing.T) {
	s := inFour(10, 20)
	s.Thresholds = append([]v1beta1.Threshold{atMost("longest", "10s")}, s.Thresholds...)
	got := verdict.Final(s, repeat(s, "npppfppppp"))
	want := "All 4 thresholds were kept, defaults included. p95 was kept in 4 of 5 repetitions of step 10, and must be kept in 4; at most 1s is allowed. It is 2.000895s in repetition 3."
	if got.Message != want {
		t.Errorf("%s\nwant %s", got.Message, want)
	}
	if got, want := verdict.Final(s, repeat(s, "pppppppppp")).Message, "All 4 thresholds were kept, defaults included."; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// What too few repetitions ran to decide is in doubt, whatever the other rungs kept.
func TestRepetitionsThatDidNotRunAreInDoubt(t *testing.T) {
	s := inFour(10)
	status := repeat(s, "ppp")
	for i := range status.Steps {
		if status.Steps[i].State == v1beta1.StepPending {
			status.Steps[i].State = v1beta1.StepSkipped
		}
	}
	got := verdict.Final(s, status)
	want := "p95 was kept in 3 of 5 repetitions of step 10 so far, and must be kept in 4; at most 1s is allowed. The other repetitions did not run to their end."
	if got.Verdict != v1beta1.VerdictInconclusive || got.Message != want {
		t.Errorf("%s: %s\nwant Inconclusive: %s", got.Verdict, got.Message, want)
	}
}
