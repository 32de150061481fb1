package lifecycle

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// summarize writes the line that kubectl get prints, from the next status. Its figures belong
// to the step that it names: the most recent that is no pause. In a comparison they belong to
// the candidate's most recent step.
func (r *pass) summarize() (goesOn bool) {
	s := &r.out.Status
	if s.Phase != v1beta1.PhaseQueued { // a run that waits has the line with its place
		s.Summary = summaryOf(s)
		s.Summary.Sustained, s.Summary.Reason = sustained(r.spec, s), reasonOf(s.Conditions)
	}
	return true
}

func summaryOf(s *v1beta1.LoadTestStatus) v1beta1.Summary {
	if len(s.Loads) > 0 {
		return summaryOfLoads(s)
	}
	if len(s.Steps) == 0 {
		return v1beta1.Summary{}
	}
	latest, begun, all := latestLoad(s)
	summary := v1beta1.Summary{
		Step:    stepOf(s, begun, all),
		Workers: fmt.Sprintf("%d/%d", s.Workers.Ready, s.Workers.Desired),
	}
	result := latest.Result
	if result == nil {
		return summary
	}
	// A reader would take the goodput of some workers for the goodput of all.
	if latest.State != v1beta1.StepRunning || latest.WorkersReporting+s.Workers.Lost >= s.Workers.Desired {
		summary.Goodput = text.Rate(result.Goodput)
	}
	summary.Errors = text.Percent(result.Failed-result.Undecided, result.Sent-result.InFlight)
	summary.Unsent = text.Percent(result.Offered())
	if t := result.ResponseTime; t != nil {
		summary.P95, summary.P99 = short(t.P95), short(t.P99)
	}
	return summary
}

// short is a time in a few digits; empty: it is not known.
func short(d *metav1.Duration) string {
	if d == nil {
		return ""
	}
	return text.Short(d.Duration)
}

// sustained is the largest load that was kept, so far.
func sustained(spec *v1beta1.LoadTestSpec, s *v1beta1.LoadTestStatus) string {
	switch {
	case s.MaxSustainedUsers != nil:
		return text.Plural(int64(*s.MaxSustainedUsers), "user")
	case s.MaxSustainedRate != "":
		return text.Rate(s.MaxSustainedRate)
	case s.Search == nil || s.Search.Low == "" || s.Verdict != "":
		return ""
	case spec.Search != nil && spec.Search.Users != nil:
		return s.Search.Low + " users"
	}
	return text.Rate(s.Search.Low)
}

// reasonOf is why a run waits, could not go to its end, or was judged as it was.
func reasonOf(conditions []metav1.Condition) string {
	for _, c := range []struct {
		kind   string
		status metav1.ConditionStatus
	}{
		{v1beta1.ConditionCarriedOut, metav1.ConditionFalse}, {v1beta1.ConditionThresholdsMet, metav1.ConditionFalse},
		{v1beta1.ConditionThresholdsMet, metav1.ConditionUnknown},
		{v1beta1.ConditionSuspended, metav1.ConditionTrue}, {v1beta1.ConditionWorkersReady, metav1.ConditionFalse},
	} {
		if found := meta.FindStatusCondition(conditions, c.kind); found != nil && found.Status == c.status {
			return found.Reason
		}
	}
	return ""
}

// stepOf is the number of a step and of all steps. While a search goes on, it is not known
// how many there will be.
func stepOf(s *v1beta1.LoadTestStatus, begun, all int) string {
	if s.Search != nil && s.Verdict == "" {
		return fmt.Sprint(begun)
	}
	return fmt.Sprintf("%d/%d", begun, all)
}

// latestLoad is the most recent step that sends load to the judged target, and how many
// steps of all that send load have begun.
func latestLoad(s *v1beta1.LoadTestStatus) (latest v1beta1.StepStatus, number, all int) {
	for _, step := range s.Steps {
		if step.Load.IsPause() {
			continue
		}
		all++
		if step.State == v1beta1.StepPending || step.State == v1beta1.StepSkipped {
			continue
		}
		number = all
		if step.Side != v1beta1.SideControl {
			latest = step
		}
	}
	return latest, number, all
}
