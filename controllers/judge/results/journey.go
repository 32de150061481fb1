package results

import (
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// journeyResults are what became of the journeys of the spec, in its order.
func journeyResults(spec *v1beta1.LoadTestSpec, load *v1beta1.StepLoad, merged *measure.Measurement) ([]v1beta1.JourneyResult, error) {
	if n := len(merged.Journeys); n != len(spec.Journeys) {
		return nil, fmt.Errorf("measured %d journeys, the spec has %d", n, len(spec.Journeys))
	}
	var list []v1beta1.JourneyResult
	for i := range merged.Journeys {
		j := &merged.Journeys[i]
		r := v1beta1.JourneyResult{
			Name: spec.Journeys[i].Name, Started: j.Started, Completed: j.Completed, Failed: j.Failed, FailedIn: failuresOf(&spec.Journeys[i], j),
			LeftOut: leftOutOf(&spec.Journeys[i], j), Unfinished: j.UnderWay(), Time: latency(j.Time),
		}
		if load.Sessions != nil {
			r.Due = j.Due
		}
		list = append(list, r)
	}
	return list, nil
}

// failuresOf are the steps of a journey in which some failed.
func failuresOf(spec *v1beta1.Journey, measured *measure.Journey) []v1beta1.JourneyFailures {
	var list []v1beta1.JourneyFailures
	for i, n := range measured.FailedIn {
		if n > 0 && i < len(spec.Steps) {
			f := v1beta1.JourneyFailures{Step: int32(i + 1), Request: spec.Steps[i].RequestName(), Failed: n}
			if i < len(measured.ByCondition) && measured.ByCondition[i] > 0 && i < len(measured.Because) {
				f.ByCondition, f.Because = measured.ByCondition[i], text.Truncate(measured.Because[i], maxBecause)
			}
			list = append(list, f)
		}
	}
	return list
}

// maxBecause is the longest reason that a status has, in characters.
const maxBecause = 512

// leftOutOf are the steps of a journey that were left out.
func leftOutOf(spec *v1beta1.Journey, measured *measure.Journey) []v1beta1.JourneyLeftOut {
	var list []v1beta1.JourneyLeftOut
	for i, n := range measured.LeftOut {
		if n > 0 && i < len(spec.Steps) {
			list = append(list, v1beta1.JourneyLeftOut{Step: int32(i + 1), Request: spec.Steps[i].RequestName(), Times: n})
		}
	}
	return list
}

// sessions are those of a rate; nil: the load has none.
func sessions(load *v1beta1.StepLoad, merged *measure.Measurement) *v1beta1.SessionsResult {
	if load.Sessions == nil {
		return nil
	}
	return &v1beta1.SessionsResult{Due: merged.Sessions.Due, Started: merged.Sessions.Started}
}
