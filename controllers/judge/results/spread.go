package results

import (
	"math/big"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// Spread is how far the repetitions of a step differ: of each step that sends
// load, in the order of the first repetition, if at least two repetitions of it
// are complete. Each side of a comparison has its own. Steps without a result are left out, as CompleteSteps leaves them.
func Spread(steps []v1beta1.StepStatus) []v1beta1.SpreadStatus {
	var first []*v1beta1.StepStatus // the steps of the first repetition
	type key struct {
		rung int32
		side v1beta1.Side
	}
	complete := map[key][]*v1beta1.StepResult{}
	for i := range steps {
		s := &steps[i]
		if s.Repetition == 1 && !s.Load.IsPause() {
			first = append(first, s)
		}
		if s.State == v1beta1.StepComplete && s.Result != nil {
			at := key{s.Rung, s.Side}
			complete[at] = append(complete[at], s.Result)
		}
	}
	var list []v1beta1.SpreadStatus
	for _, s := range first {
		if results := complete[key{s.Rung, s.Side}]; len(results) > 1 {
			list = append(list, spreadOf(s.Name, results))
		}
	}
	return list
}

func spreadOf(name string, results []*v1beta1.StepResult) v1beta1.SpreadStatus {
	return v1beta1.SpreadStatus{
		Name:        name,
		Repetitions: int32(len(results)),
		Throughput:  numbers(results, v1beta1.MetricThroughput, func(r *v1beta1.StepResult) string { return r.Throughput }),
		Goodput:     numbers(results, v1beta1.MetricGoodput, func(r *v1beta1.StepResult) string { return r.Goodput }),
		FailureRate: numbers(results, v1beta1.MetricFailureRate, func(r *v1beta1.StepResult) string { return text.Percent(r.Failed, r.Sent) }),
		P50:         durations(results, "p50"),
		P95:         durations(results, "p95"),
		P99:         durations(results, "p99"),
	}
}

// ordered are the results with the least, the middle and the greatest value of a metric; of
// an even number the lower of the two in the middle. It is nil when a repetition has no such
// value: least and greatest of the others would hide it.
func ordered(results []*v1beta1.StepResult, name v1beta1.Metric) []*v1beta1.StepResult {
	value := func(r *v1beta1.StepResult) *big.Rat { return metric.Value(metric.Quantity{Metric: name}, r) }
	if slices.ContainsFunc(results, func(r *v1beta1.StepResult) bool { return value(r) == nil }) {
		return nil
	}
	list := slices.SortedFunc(slices.Values(results), func(a, b *v1beta1.StepResult) int { return value(a).Cmp(value(b)) })
	return []*v1beta1.StepResult{list[0], list[(len(list)-1)/2], list[len(list)-1]}
}

func numbers(results []*v1beta1.StepResult, name v1beta1.Metric, write func(*v1beta1.StepResult) string) *v1beta1.NumberSpread {
	list := ordered(results, name)
	if list == nil {
		return nil
	}
	return &v1beta1.NumberSpread{Min: write(list[0]), Median: write(list[1]), Max: write(list[2])}
}

func durations(results []*v1beta1.StepResult, name v1beta1.Metric) *v1beta1.DurationSpread {
	list := ordered(results, name)
	if list == nil {
		return nil
	}
	at := func(i int) metav1.Duration { return **metric.Of(name).Times().Field(list[i].ResponseTime) }
	return &v1beta1.DurationSpread{Min: at(0), Median: at(1), Max: at(2)}
}
