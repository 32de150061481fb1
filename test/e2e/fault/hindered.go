package fault

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// IsHindered says whether the verdict of a run may not be the right one for no other reason
// than a busy machine: it is Inconclusive, and the status says that the generator displaced
// the load or may have had the time, or that a worker began late; or it is Failed, since the
// target was down. A target that runs beside its test stands still with it. That the machine
// was busy, package pressure says.
func IsHindered(s *v1beta1.LoadTestStatus) bool {
	switch s.Verdict {
	case v1beta1.VerdictInconclusive:
		return Read(s).Limited || BeganLate(s)
	case v1beta1.VerdictFailed:
		met := meta.FindStatusCondition(s.Conditions, v1beta1.ConditionThresholdsMet)
		return met != nil && met.Reason == v1beta1.ReasonTargetDown
	}
	return false
}

// BeganLate says whether a worker began a step too late for it to be complete.
func BeganLate(s *v1beta1.LoadTestStatus) bool {
	return slices.ContainsFunc(s.Steps, func(s v1beta1.StepStatus) bool { return strings.HasPrefix(s.Message, "a worker began the step ") })
}
