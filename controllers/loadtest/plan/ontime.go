package plan

import (
	"slices"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// OnTime are the times within which a threshold asks for answers, ascending,
// each once. Workers count the requests that are: what a histogram counts is known to a
// tenth of a percent only.
func OnTime(spec *v1beta1.LoadTestSpec) []time.Duration {
	var list []time.Duration
	for i := range spec.Thresholds {
		if within := spec.Thresholds[i].Within; within != nil {
			list = append(list, within.Duration)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func onTimeNanos(spec *v1beta1.LoadTestSpec) []int64 {
	var list []int64
	for _, within := range OnTime(spec) {
		list = append(list, int64(within))
	}
	return list
}
