//go:build e2e

package judgement

import (
	"fmt"
	"slices"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/pressure"
)

// judgementChecks are runs whose truth is known beforehand. Go starts the first of parallel tests, and then from the
// last one back: those that take the longest are there, so that the others run beside them.
var judgementChecks = []judgementCheck{
	{"baseline", checkBaseline},
	{"a target without the path", checkUnknownPath},
	{"stored", checkStored},
	{"abort", checkAbort},
	{"on time", checkOnTime},
	{"other targets", checkOtherTargets},
	{"think time", checkThink},
	{"ramp of users", checkRamp},
	{"loss", checkLoss},
	{"drivers", checkDrivers},
	{"journey", checkJourney},
	{"login", checkLogin},
	{"traces", checkTraces},
	{"environment", checkEnvironment},
	{"in repetitions", checkInRepetitions},
	{"search", checkSearch},
	{"versus", checkVersus},
}

// judgementCheck runs LoadTests in a namespace of its own, and says what is true
// beside what they say.
type judgementCheck struct {
	name string
	run  func(t *testing.T) judgement
}

// judgement is what is true, and what was found.
type judgement struct {
	truth, found string
	wrong        bool
	// hindered says that it is wrong, or late, for the generator's sake, if the machine was
	// busy.
	hindered bool
}

// agree is a judgement that is wrong unless both are the same. If they differ and one of
// the LoadTests has no verdict for the generator's sake, the machine may have been busy.
func agree(truth, found string, of ...*v1beta1.LoadTest) judgement {
	differ := truth != found
	return judgement{truth: truth, found: found, wrong: differ, hindered: differ && slices.ContainsFunc(of, cluster.IsUndecided)}
}

// TestJudgement: what a LoadTest says of its target is true. It prints a line for each
// check, and the summary last. A check that is hindered is made once more. What is hindered
// then is wrong, unless the machine itself says that it was busy; and of a suite of which
// more than a third is excused, nothing is known.
func TestJudgement(t *testing.T) {
	score := &cluster.Scores{}
	t.Cleanup(func() {
		fmt.Printf("judgement: %d checks, %d wrong, %d on a busy machine\n", score.All(), score.Count("wrong"), score.Count("busy"))
		cluster.Suites.Note(t.Name(), score.Count("busy"), score.All())
	})
	for _, check := range judgementChecks {
		t.Run(check.name, func(t *testing.T) {
			t.Parallel()
			j, outcome := judgement{found: "nothing"}, "wrong"
			machine := pressure.Start()
			defer func() {
				score.Note(outcome, "judgement: %s: truth %s, found %s (%s, %s)", check.name, j.truth, j.found, outcome, machine.Read())
			}()
			if j = check.run(t); j.hindered {
				machine = pressure.Start()
				j = check.run(t)
			}
			switch {
			case t.Failed():
			case j.hindered && machine.Read().Busy():
				outcome = "busy"
			case j.wrong || j.hindered:
				t.Errorf("truth %s, found %s (%s)", j.truth, j.found, machine.Read())
			default:
				outcome = "right"
			}
		})
	}
}

// fading is a load of 320 requests. A hiccup of 0.2 s displaces less than 1% of them, and the last
// is due 0.6 s before its end: a busy machine sends it, too.
const fading = "rate: 39, rampTo: 1, duration: 16s"

// checkUnknownPath sends to a path that the target does not have, and names no
// threshold.
func checkUnknownPath(t *testing.T) judgement {
	lt := cluster.Create(t, cluster.Limiter(t), "unknown-path", fmt.Sprintf(`
target: {service: {name: ratelimiter, port: http}}
requests: [{name: nothing-is-here, http: {path: /nothing-is-here}}]
steps: [{name: load, %s}]
`, fading))
	cluster.Finish(t, lt)
	result := lt.Status.Steps[0].Result
	return agree("Failed, 320 of 320 failed", fmt.Sprintf("%s, %d of %d failed", lt.Status.Verdict, result.Failed, result.Sent))
}
