package verdict_test

import (
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
)

// A run that went on without a worker never passes; its verdict says how much of the plan
// was measured.
func TestVerdictOfARunThatWentOnSaysItsCoverage(t *testing.T) {
	measured := func(step int, planned, due int64, missing *int64) func(*v1beta1.LoadTestStatus) {
		return func(s *v1beta1.LoadTestStatus) {
			at := &s.Steps[step]
			at.Load.Requests, at.Result.Due, at.MissingAtMost = planned, due, missing
			if due < planned {
				at.State, at.WorkersReporting = v1beta1.StepCut, 3
			}
		}
	}
	whole, first, second := measured(0, 1000, 1000, nil), measured(2, 1000, 900, ptr(int64(12))), measured(4, 2000, 1500, ptr(int64(0)))
	const coverage = "1 of 4 workers was lost, and the run went on with the others: 85% of the planned requests were measured; at most 12 requests are missing from the result. Step 100 was cut before its end."
	for name, tc := range map[string]struct {
		status  *v1beta1.LoadTestStatus
		verdict v1beta1.Verdict
		message string
	}{
		"kept":     {done(lost(1), whole, first, second), v1beta1.VerdictInconclusive, coverage},
		"breached": {done(lost(1), whole, first, second, breached(1, "100")), v1beta1.VerdictFailed, "fast is too much in step 100. " + coverage},
		"no number is planned": {
			done(lost(1), whole, first, measured(4, 0, 77, nil), func(s *v1beta1.LoadTestStatus) { s.Steps[4].State = v1beta1.StepCut }), v1beta1.VerdictInconclusive,
			"1 of 4 workers was lost, and the run went on with the others; the result may lack requests that were sent, and it is not known how many. Step 100 was cut before its end.",
		},
		"a step was not measured": {
			done(lost(1), whole, first, measured(4, 1000, 0, ptr(int64(0))), func(s *v1beta1.LoadTestStatus) { s.Steps[4].Result = nil }), v1beta1.VerdictInconclusive,
			strings.NewReplacer("85%", "63.33%").Replace(coverage),
		},
		"breached, and no worker was lost": {done(whole, breached(1, "100")), v1beta1.VerdictFailed, "fast is too much in step 100."},
		"no worker was lost":               {done(whole, measured(2, 1000, 1000, nil), measured(4, 2000, 2000, nil)), v1beta1.VerdictPassed, "Both thresholds were kept."},
	} {
		t.Run(name, func(t *testing.T) {
			spec := ladder(10, 100, 1000)
			spec.Worker = &v1beta1.Worker{OnLoss: v1beta1.LossContinue}
			if got := verdict.Final(spec, tc.status); got.Verdict != tc.verdict || got.Message != tc.message {
				t.Errorf("%s: %s\nwant %s: %s", got.Verdict, got.Message, tc.verdict, tc.message)
			}
			spec.Worker.OnLoss = ""
			if got := verdict.Final(spec, tc.status); strings.Contains(got.Message, "went on") {
				t.Errorf("a run that ends with the loss of a worker: %s", got.Message)
			}
		})
	}
}
