//go:build e2e

package e2e

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/fault"
	"github.com/loadtest-dev/loadtest-operator/test/pressure"
)

// excuses counts the single runs that were excused. TestFaults and TestJudgement count theirs.
var excuses pressure.Excuses

// isPassed checks that a run is Passed. It is excused if the status says that the load was
// displaced, or that it is not known whose time it was, and the machine, which was asked
// before the run, that it was busy.
func isPassed(t *testing.T, lt *v1alpha1.LoadTest, machine pressure.Meter) {
	t.Helper()
	if lt.Status.Verdict == v1alpha1.VerdictPassed {
		excuses.Right()
		return
	}
	if reading := machine.Read(); !excuses.Takes(t.Name(), isUndecided(lt), reading) {
		t.Errorf("verdict %s, want Passed: %s (%s)", lt.Status.Verdict, condition(lt, v1alpha1.ConditionFinished).Message, reading)
	}
}

// isUndecided says whether a run has no verdict for the generator's sake.
func isUndecided(lt *v1alpha1.LoadTest) bool {
	return lt.Status.Verdict == v1alpha1.VerdictInconclusive && fault.Read(&lt.Status).Limited
}
