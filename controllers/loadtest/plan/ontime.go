package plan

import (
	"slices"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// OnTime are the times within which a threshold asks for answers, ascending,
// each once. Workers count the requests that are: what a histogram counts is known to a
// tenth of a percent only.
func OnTime(spec *v1beta1.LoadTestSpec) []time.Duration {
	var list []time.Duration
	for i := range spec.Thresholds {
		if t := &spec.Thresholds[i]; t.Within != nil && !t.HasGoal() {
			list = append(list, t.Within.Duration)
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

// StreamGoals are what thresholds ask of streams, each once, in the order of the thresholds. Workers count the
// streams that keep them.
func StreamGoals(spec *v1beta1.LoadTestSpec) []measure.StreamGoal {
	var list []measure.StreamGoal
	for i := range spec.Thresholds {
		if t := &spec.Thresholds[i]; t.HasGoal() && !slices.Contains(list, GoalOf(t)) {
			list = append(list, GoalOf(t))
		}
	}
	return list
}

// GoalOf is what a threshold asks of streams.
func GoalOf(t *v1beta1.Threshold) measure.StreamGoal {
	return measure.StreamGoal{Within: v1beta1.OrZero(t.Within), FirstEvent: v1beta1.OrZero(t.FirstEvent), MeanGap: v1beta1.OrZero(t.MeanGap)}
}

func streamGoals(spec *v1beta1.LoadTestSpec) (list []*workerv1.StreamGoal) {
	for _, g := range StreamGoals(spec) {
		list = append(list, &workerv1.StreamGoal{WithinNanos: int64(g.Within), FirstEventNanos: int64(g.FirstEvent), MeanGapNanos: int64(g.MeanGap)})
	}
	return list
}
