package lifecycle

import (
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/format"
)

// summarize writes the line that kubectl get prints. Its figures are those of the
// step that it names: the latest that has begun, pauses left out. Of a comparison they are
// those of the candidate's latest step.
func (r *run) summarize() {
	s := &r.out.Status
	switch {
	case s.Phase == v1alpha1.PhaseQueued: // the line has its place
		return
	case len(s.Steps) == 0:
		s.Summary = v1alpha1.Summary{}
		return
	}
	latest, begun, all := r.latestLoad()
	s.Summary = v1alpha1.Summary{
		Step:    r.stepOf(begun, all),
		Workers: fmt.Sprintf("%d/%d", s.Workers.Ready, s.Workers.Desired),
	}
	result := latest.Result
	if result == nil {
		return
	}
	// The goodput of some of the workers would read as that of all.
	if latest.State != v1alpha1.StepRunning || latest.WorkersReporting+s.Workers.Lost >= s.Workers.Desired {
		s.Summary.Goodput = format.Rate(result.Goodput)
	}
	s.Summary.Errors = format.Percent(result.Failed, result.Sent-result.InFlight)
	if result.ResponseTime != nil && result.ResponseTime.P95 != nil {
		s.Summary.P95 = format.Short(result.ResponseTime.P95.Duration)
	}
}

// stepOf is the number of a step, and that of all: of a search that goes on, it is not
// known how many there will be.
func (r *run) stepOf(begun, all int) string {
	if s := &r.out.Status; s.Search != nil && s.Verdict == "" {
		return fmt.Sprint(begun)
	}
	return fmt.Sprintf("%d/%d", begun, all)
}

// latestLoad is the latest step that sends load to the judged target and has begun, and
// how many of all that send load have.
func (r *run) latestLoad() (latest v1alpha1.StepStatus, number, all int) {
	for _, step := range r.out.Status.Steps {
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
