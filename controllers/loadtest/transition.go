package loadtest

import (
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// transition is a change of a run that is worth a line of the log: of the run's phase,
// of a step, or of its workers.
type transition struct {
	of, from, to string
	// step is the step's name; empty: it is not of a step.
	step string
	// reason is that of the condition that says why, if one does.
	reason string
}

// transitions are the differences between two statuses of a run.
func transitions(before, after *v1beta1.LoadTestStatus) []transition {
	var list []transition
	if before.Phase != after.Phase {
		list = append(list, transition{of: "run", from: string(before.Phase), to: string(after.Phase), reason: reasonOfPhase(after)})
	}
	for i := range after.Steps {
		from, s := v1beta1.StepPending, &after.Steps[i]
		if i < len(before.Steps) {
			from = before.Steps[i].State
		}
		if from != s.State {
			list = append(list, transition{of: "step", from: string(from), to: string(s.State), step: s.Name})
		}
	}
	from, to := reasonOf(before, v1beta1.ConditionWorkersReady), reasonOf(after, v1beta1.ConditionWorkersReady)
	if from != to {
		list = append(list, transition{of: "workers", from: from, to: to})
	}
	return list
}

// reasonOfPhase is why a run is where it is.
func reasonOfPhase(s *v1beta1.LoadTestStatus) string {
	switch s.Phase {
	case v1beta1.PhaseQueued:
		return reasonOf(s, v1beta1.ConditionQueued)
	case v1beta1.PhaseFinished:
		return reasonOf(s, v1beta1.ConditionCarriedOut)
	default:
		return ""
	}
}

func reasonOf(s *v1beta1.LoadTestStatus, kind string) string {
	if c := meta.FindStatusCondition(s.Conditions, kind); c != nil {
		return c.Reason
	}
	return ""
}
