package verdict

import (
	"fmt"
	"slices"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// missing is a sentence on a journey of the plan that was not completed in a step that went to
// its end, or on a request that was never sent, if the threshold is about it; empty: there is
// none. What was never tried may be what is slow. Audits are not about requests of the plan, but
// about clients.
func (s sample) missing(spec *v1beta1.LoadTestSpec, requests []v1beta1.RequestStatus) string {
	t := s.threshold
	switch {
	case s.step.State != v1beta1.StepComplete, s.metric.Unit == metric.Count:
		return ""
	case len(t.Requests)+len(t.Types) > 0:
		return s.missingRequest(spec, requests)
	}
	if message := s.missingJourney(spec); message != "" {
		return message
	}
	return s.missingRequest(spec, requests)
}

func (s sample) missingJourney(spec *v1beta1.LoadTestSpec) string {
	for i := range min(len(spec.Journeys), len(s.merged.Journeys)) {
		j, name := &s.merged.Journeys[i], spec.Journeys[i].Name
		if j.Completed > 0 || len(s.threshold.Journeys) > 0 && !slices.Contains(s.threshold.Journeys, name) {
			continue
		}
		if j.Started == 0 {
			return fmt.Sprintf("Journey %s never began in step %s: make the step longer, or raise the weight of the journey.", name, s.step.Name)
		}
		message := fmt.Sprintf("Journey %s was completed 0 of %d times in step %s, and failed %d times", name, j.Started, s.step.Name, j.Failed)
		if j.Failed == 0 {
			return message + ": make the step longer than a journey takes."
		}
		if n, because := endedByConditions(j); n > 0 {
			return fmt.Sprintf("%s: conditions ended %d of them, such as: %s.", message, n, because)
		}
		return message + ": each ended at a request without an expected response, or at its time limit. The errors of the step say why."
	}
	return ""
}

// endedByConditions is how many journeys conditions ended, and why one of them.
func endedByConditions(j *measure.Journey) (n int64, because string) {
	for step := range min(len(j.ByCondition), len(j.Because)) {
		if n += j.ByCondition[step]; because == "" {
			because = j.Because[step]
		}
	}
	return n, because
}

// missingRequest is about a request that has conditions before it only if the threshold names it: that none
// held may be as it should.
func (s sample) missingRequest(spec *v1beta1.LoadTestSpec, requests []v1beta1.RequestStatus) string {
	for i := range min(len(spec.Requests), len(s.merged.Requests), len(requests)) {
		r := &spec.Requests[i]
		if s.merged.Requests[i].Sent > 0 || !s.judges(i) || !plan.IsSent(spec, r) {
			continue
		}
		switch {
		case !plan.HasConditions(spec, r):
			return fmt.Sprintf("Request %s was never sent in step %s: make the step longer, or raise the weight of the request.", requests[i].Name, s.step.Name)
		case len(s.threshold.Requests) > 0:
			return fmt.Sprintf("Request %s was never sent in step %s: no condition of a step that sends it held.", requests[i].Name, s.step.Name)
		}
	}
	return ""
}
