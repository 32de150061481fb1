//go:build e2e

package e2e

import (
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
)

// judgementChecks are runs whose truth is known beforehand.
var judgementChecks = []judgementCheck{
	{"a target without the path", checkUnknownPath},
	{"stored", checkStored},
	{"abort", checkAbort},
	{"on time", checkOnTime},
	{"baseline", checkBaseline},
	{"versus", checkVersus},
	{"search", checkSearch},
	{"think time", checkThink},
	{"ramp of users", checkRamp},
	{"environment", checkEnvironment},
	{"loss", checkLoss},
	{"drivers", checkDrivers},
	{"journey", checkJourney},
	{"in repetitions", checkInRepetitions},
	{"traces", checkTraces},
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
	// busy says that the machine was the limit: nothing is wrong, and nothing found.
	busy bool
}

// agree is a judgement that is wrong unless both are the same. If they differ and one of
// the LoadTests calls its generator the limit, the machine was busy.
func agree(truth, found string, of ...*v1alpha1.LoadTest) judgement {
	differ := truth != found
	busy := differ && slices.ContainsFunc(of, func(lt *v1alpha1.LoadTest) bool {
		return lt.Status.Verdict == v1alpha1.VerdictInconclusive && condition(lt, v1alpha1.ConditionGeneratorHealthy).Status == metav1.ConditionFalse
	})
	return judgement{truth: truth, found: found, wrong: differ && !busy, busy: busy}
}

// TestJudgement: what a LoadTest says of its target is true. It prints a line for each
// check, and the summary last. A check that finds the machine busy is made once more.
func TestJudgement(t *testing.T) {
	score := &scores{}
	t.Cleanup(func() {
		fmt.Printf("judgement: %d checks, %d wrong, %d on a busy machine\n", score.all(), score.count("wrong"), score.count("busy"))
	})
	for _, check := range judgementChecks {
		t.Run(check.name, func(t *testing.T) {
			t.Parallel()
			j, outcome := judgement{found: "nothing"}, "wrong"
			defer func() { score.note(outcome, "judgement: %s: truth %s, found %s", check.name, j.truth, j.found) }()
			if j = check.run(t); j.busy {
				j = check.run(t)
			}
			switch {
			case j.wrong || t.Failed():
				t.Errorf("truth %s, found %s", j.truth, j.found)
			case j.busy:
				outcome = "busy"
			default:
				outcome = "right"
			}
		})
	}
}

// checkUnknownPath sends to a path that the target does not have, and names no
// threshold. The last request is due a fifth of a second before the end of the step: a busy
// machine sends it, too.
func checkUnknownPath(t *testing.T) judgement {
	lt := create(t, limiter(t), "unknown-path", `
target: {service: {name: ratelimiter, port: http}}
requests: [{path: /nothing-is-here}]
steps: [{rate: 5, duration: 4s}]
`)
	finish(t, lt, waitTimeout)
	result := lt.Status.Steps[0].Result
	return agree("Failed, 20 of 20 failed", fmt.Sprintf("%s, %d of %d failed", lt.Status.Verdict, result.Failed, result.Sent))
}
