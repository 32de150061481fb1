package lifecycle

import (
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/results"
)

// summarize writes the line that kubectl get prints.
func (r *run) summarize() {
	s := &r.out.Status
	if len(s.Steps) == 0 {
		return
	}
	s.Summary = v1alpha1.Summary{
		Step:    fmt.Sprintf("%d/%d", r.stepNumber(), len(s.Steps)),
		Workers: fmt.Sprintf("%d/%d", s.Workers.Ready, s.Workers.Desired),
	}
	var sent, failed int64
	for i := range s.Steps {
		result := s.Steps[i].Result
		if result == nil {
			continue
		}
		sent += result.Sent
		failed += result.Failed
		// Both are of the latest step, even where it has too few samples to tell.
		s.Summary.Rate, s.Summary.P95 = results.Rate(result.Throughput), ""
		if result.ResponseTime != nil && result.ResponseTime.P95 != nil {
			s.Summary.P95 = results.Short(result.ResponseTime.P95.Duration)
		}
	}
	s.Summary.Failed = results.Percent(failed, sent)
}

// stepNumber counts the steps that have begun.
func (r *run) stepNumber() int {
	n := 0
	for _, step := range r.out.Status.Steps {
		if step.State != v1alpha1.StepPending && step.State != v1alpha1.StepSkipped {
			n++
		}
	}
	return n
}
