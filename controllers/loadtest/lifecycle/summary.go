package lifecycle

import (
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// summarize writes the line that kubectl get prints, from the next status. Its figures belong
// to the step that it names: the most recent that is no pause. In a comparison they belong to
// the candidate's most recent step.
func (r *pass) summarize() (goesOn bool) {
	s := &r.out.Status
	if s.Phase != v1alpha1.PhaseQueued { // a run that waits has the line with its place
		s.Summary = summaryOf(s)
	}
	return true
}

func summaryOf(s *v1alpha1.LoadTestStatus) v1alpha1.Summary {
	if len(s.Steps) == 0 {
		return v1alpha1.Summary{}
	}
	latest, begun, all := latestLoad(s)
	summary := v1alpha1.Summary{
		Step:    stepOf(s, begun, all),
		Workers: fmt.Sprintf("%d/%d", s.Workers.Ready, s.Workers.Desired),
	}
	result := latest.Result
	if result == nil {
		return summary
	}
	// A reader would take the goodput of some workers for the goodput of all.
	if latest.State != v1alpha1.StepRunning || latest.WorkersReporting+s.Workers.Lost >= s.Workers.Desired {
		summary.Goodput = text.Rate(result.Goodput)
	}
	summary.Errors = text.Percent(result.Failed, result.Sent-result.InFlight)
	if result.ResponseTime != nil && result.ResponseTime.P95 != nil {
		summary.P95 = text.Short(result.ResponseTime.P95.Duration)
	}
	return summary
}

// stepOf is the number of a step and of all steps. While a search goes on, it is not known
// how many there will be.
func stepOf(s *v1alpha1.LoadTestStatus, begun, all int) string {
	if s.Search != nil && s.Verdict == "" {
		return fmt.Sprint(begun)
	}
	return fmt.Sprintf("%d/%d", begun, all)
}

// latestLoad is the most recent step that sends load to the judged target, and how many
// steps of all that send load have begun.
func latestLoad(s *v1alpha1.LoadTestStatus) (latest v1alpha1.StepStatus, number, all int) {
	for _, step := range s.Steps {
		if step.Load.IsPause() {
			continue
		}
		all++
		if step.State == v1alpha1.StepPending || step.State == v1alpha1.StepSkipped {
			continue
		}
		number = all
		if step.Side != v1alpha1.SideControl {
			latest = step
		}
	}
	return latest, number, all
}
