package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// NamesType says whether a threshold names a type of requests: results have then what a
// perfect generator would have measured of it, for which there is not room of every type.
func NamesType(spec *v1beta1.LoadTestSpec, name string) bool {
	return slices.ContainsFunc(spec.Thresholds, func(t v1beta1.Threshold) bool { return slices.Contains(t.Types, name) })
}

// NamesRequest says likewise whether a threshold names a request.
func NamesRequest(spec *v1beta1.LoadTestSpec, name string) bool {
	return slices.ContainsFunc(spec.Thresholds, func(t v1beta1.Threshold) bool { return slices.Contains(t.Requests, name) })
}

// IsAbout says whether a threshold is about the request of that index.
func IsAbout(t *v1beta1.Threshold, requests []v1beta1.RequestStatus, i int) bool {
	if len(t.Journeys)+len(t.Requests)+len(t.Types) == 0 {
		return true
	}
	return len(t.Journeys) == 0 && i < len(requests) &&
		(len(t.Requests) == 0 || slices.Contains(t.Requests, requests[i].Name)) &&
		(len(t.Types) == 0 || slices.Contains(t.Types, requests[i].Type))
}

// requestGroups are groups of requests that no threshold tells apart: of each request the index
// of its group, from 0. nil: each is a group by itself.
func requestGroups(spec *v1beta1.LoadTestSpec) []int32 {
	requests := RequestNames(spec)
	byThresholds := map[string]int32{}
	groups := make([]int32, len(requests))
	for i := range requests {
		thresholds := make([]byte, len(spec.Thresholds))
		for n := range spec.Thresholds {
			if Judges(spec, &spec.Thresholds[n], requests, i) {
				thresholds[n] = 1
			}
		}
		group, ok := byThresholds[string(thresholds)]
		if !ok {
			group = int32(len(byThresholds))
			byThresholds[string(thresholds)] = group
		}
		groups[i] = group
	}
	if len(byThresholds) == len(requests) {
		return nil
	}
	return groups
}

// checkThresholds refuses a threshold that names a step which sends no load, or is none.
func checkThresholds(spec *v1beta1.LoadTestSpec, steps []v1beta1.StepStatus) *Refusal {
	var names []string
	for i := range steps {
		if !steps[i].Load.IsPause() && !slices.Contains(names, steps[i].Name) {
			names = append(names, steps[i].Name)
		}
	}
	for i := range spec.Thresholds {
		for _, name := range spec.Thresholds[i].Steps {
			if !slices.Contains(names, name) {
				return invalid("spec.thresholds[%d].steps: %q is no step that sends load; such steps are %s.", i, name, someOf(names))
			}
		}
	}
	return nil
}

// someOf are names for a sentence, which has no room for all of a long ladder.
func someOf(names []string) string {
	const most = 8
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
