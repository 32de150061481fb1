package verdict

import (
	"cmp"
	"slices"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/why"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// why is what was at its limit in the first step of the target that was certainly not kept. What the
// generator may have caused, and steps of a target that was changed, say nothing of it.
func (r run) why() string {
	steps := r.upwards()
	first := slices.IndexFunc(steps, func(i int) bool { return r.broke(&r.status.Steps[i]) })
	if first < 0 {
		return ""
	}
	broke := &r.status.Steps[steps[first]]
	told := why.Run{UpTo: r.upTo(), Broke: broke, Load: loadOf(broke)}
	if s := r.spec.Target.Service; s != nil {
		told.Service = s.Name
	}
	for _, i := range steps[:first] {
		switch step := &r.status.Steps[i]; {
		case r.order(step, broke) == 0: // another repetition
		case r.isWhole(i) && !isUncertain(step) && step.ThresholdState == v1beta1.ThresholdPassed:
			told.Kept = append(told.Kept, step)
		default:
			told.Between = true
		}
	}
	return why.Sentence(told)
}

// upwards are the indices of the steps of the target that ran, from the lowest load of a search, or
// the first rung, up.
func (r run) upwards() (list []int) {
	for i, step := range r.ran() {
		if step.Side != v1beta1.SideControl && step.Result != nil {
			list = append(list, i)
		}
	}
	slices.SortStableFunc(list, func(a, b int) int { return r.order(&r.status.Steps[a], &r.status.Steps[b]) })
	return list
}

func (r run) order(a, b *v1beta1.StepStatus) int {
	if r.status.Search != nil {
		return cmp.Compare(plan.SearchLoad(&a.Load), plan.SearchLoad(&b.Load))
	}
	return cmp.Compare(a.Rung, b.Rung)
}

// broke says whether the load of a step was certainly not kept, by the target that it began with.
func (r run) broke(step *v1beta1.StepStatus) bool {
	return !step.TargetChanged() && (step.ThresholdState == v1beta1.ThresholdFailed || grows(step))
}

// upTo is the highest load that was kept, in words; empty: none was.
func (r run) upTo() string {
	switch s := r.sustained(); {
	case s.Users != nil:
		return text.Plural(int64(*s.Users), "user")
	case s.Rate != "":
		return s.Rate + "/s"
	}
	return ""
}

// loadOf is the load of a step in words, or its name.
func loadOf(step *v1beta1.StepStatus) string {
	switch l := &step.Load; {
	case l.RampTo != nil:
		return "step " + step.Name
	case l.Users > 0:
		return text.Plural(int64(l.Users), "user")
	case l.Rate != nil:
		return l.Rate.String() + "/s"
	}
	return "step " + step.Name
}
