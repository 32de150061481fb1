package verdict

import (
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/rungs"
)

// notCompared says what was not compared, as spec.baseline.optional allows; empty: nothing was left out.
func (r run) notCompared() string {
	const allowed = "as spec.baseline.optional allows: "
	if b := r.status.Baseline; b != nil && b.Missing != "" {
		return "Nothing was compared, " + allowed + b.Missing
	}
	message, more := "", 0
	for i := range r.spec.Thresholds {
		t := &r.spec.Thresholds[i]
		for _, step := range r.judgedIn(t, r.ran()) {
			switch why := uncompared(r.spec, r.status, t, step); {
			case why == "":
			case message == "":
				message = fmt.Sprintf("%s of step %s was not compared, %s%s", subject(t), step.Name, allowed, why)
			default:
				more++
			}
		}
	}
	switch more {
	case 0:
	case 1:
		message += " One more comparison was left out."
	default:
		message += fmt.Sprintf(" %d more comparisons were left out.", more)
	}
	return message
}

// judgedIn are the steps in which a threshold on a difference is judged: of repetitions the last.
func (r run) judgedIn(t *v1beta1.Threshold, of []v1beta1.StepStatus) (list []*v1beta1.StepStatus) {
	for i := range of {
		if t.IsRelative() && t.Covers(&of[i], rungs.NameOf(r.status.Steps, &of[i])) && !repeats(r.status.Steps, i) {
			list = append(list, &of[i])
		}
	}
	return list
}

// isLeftOut says whether threshold i of the spec cannot be compared in any of its steps, as
// spec.baseline.optional allows. A step that did not run is no reason to leave it out.
func (r run) isLeftOut(i int) bool {
	t := &r.spec.Thresholds[i]
	steps := r.judgedIn(t, r.status.Steps)
	for _, step := range steps {
		if uncompared(r.spec, r.status, t, step) == "" {
			return false
		}
	}
	return len(steps) > 0
}
