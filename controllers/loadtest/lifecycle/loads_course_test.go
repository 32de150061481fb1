package lifecycle_test

import (
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// CarriedOut says of a run that failed which load did not go to its end.
func TestHowFarLoadsWent(t *testing.T) {
	for name, c := range map[string]struct {
		act  func(*family)
		want string
	}{
		"one could not be carried out": {func(f *family) {
			f.end("readers", v1beta1.VerdictFailed, v1beta1.ReasonStoppedOnBreach)
			f.pass()
			f.end("noise", v1beta1.VerdictError, v1beta1.ReasonNoWorkers)
			f.pass()
			f.end("late", v1beta1.VerdictCanceled, v1beta1.ReasonTerminated)
		}, "True LoadsEnded: Load noise could not be carried out. The others were ended."},
		"the last could not be carried out": {func(f *family) {
			f.end("noise", v1beta1.VerdictFailed, v1beta1.ReasonStoppedOnBreach)
			f.end("readers", v1beta1.VerdictPassed, v1beta1.ReasonAllStepsRan)
			f.pass()
			f.end("late", v1beta1.VerdictError, v1beta1.ReasonNoWorkers)
		}, "True LoadsEnded: Load late could not be carried out."},
		"one was aborted": {func(f *family) {
			f.end("readers", v1beta1.VerdictFailed, v1beta1.ReasonAborted)
			f.pass()
			f.end("late", v1beta1.VerdictCanceled, v1beta1.ReasonTerminated)
			f.end("noise", v1beta1.VerdictCanceled, v1beta1.ReasonTerminated)
		}, "True Aborted: Load readers was aborted by a threshold. The others were ended."},
		"the background was cut as planned": {func(f *family) {
			f.end("readers", v1beta1.VerdictFailed, v1beta1.ReasonStoppedOnBreach)
			f.pass()
			f.end("late", v1beta1.VerdictPassed, v1beta1.ReasonAllStepsRan)
			f.pass()
			f.end("noise", v1beta1.VerdictCanceled, v1beta1.ReasonTerminated)
		}, "True AllStepsRan: All loads ran."},
	} {
		t.Run(name, func(t *testing.T) {
			f := begun(t)
			c.act(f)
			f.pass()
			same.As(t, "verdict", v1beta1.VerdictFailed, f.parent.Status.Verdict)
			same.As(t, "CarriedOut", c.want, said(f.parent.Status, v1beta1.ConditionCarriedOut))
		})
	}
}

// A run whose loads were ended by a deadline that is put off meanwhile did not go to its end, though a load had
// passed.
func TestLoadsThatWereCutByADeadlineThatWasPutOff(t *testing.T) {
	f := begun(t)
	f.end("readers", v1beta1.VerdictPassed, v1beta1.ReasonAllStepsRan)
	f.pass()
	f.now, f.parent.Spec.ActiveDeadlineSeconds = began.Add(10*time.Second), ptr.To[int64](10)
	f.pass()
	f.parent.Spec.ActiveDeadlineSeconds = ptr.To[int64](100)
	f.end("late", v1beta1.VerdictCanceled, v1beta1.ReasonTerminated)
	f.end("noise", v1beta1.VerdictCanceled, v1beta1.ReasonTerminated)
	f.pass()
	same.As(t, "verdict", v1beta1.VerdictError, f.parent.Status.Verdict)
}
