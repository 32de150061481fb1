package results

import (
	"math/big"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// Spread is how far the repetitions of a step differ: of each step that sends
// load, in the order of the first repetition, if at least two repetitions of it
// are complete. Each side of a comparison has its own. Steps without a result are left out, as CompleteSteps leaves them.
func Spread(steps []v1alpha1.StepStatus) []v1alpha1.SpreadStatus {
	var first []*v1alpha1.StepStatus // the steps of the first repetition
	type key struct {
		rung int32
		side v1alpha1.Side
	}
	complete := map[key][]*v1alpha1.StepResult{}
	for i := range steps {
		s := &steps[i]
		if s.Repetition == 1 && !s.Load.IsPause() {
			first = append(first, s)
		}
		if s.State == v1alpha1.StepComplete && s.Result != nil {
			at := key{s.Rung, s.Side}
			complete[at] = append(complete[at], s.Result)
		}
	}
	var list []v1alpha1.SpreadStatus
	for _, s := range first {
		if results := complete[key{s.Rung, s.Side}]; len(results) > 1 {
			list = append(list, spreadOf(s.Name, results))
		}
	}
	return list
}

func spreadOf(name string, results []*v1alpha1.StepResult) v1alpha1.SpreadStatus {
	return v1alpha1.SpreadStatus{
		Name:        name,
		Repetitions: int32(len(results)),
		Throughput:  numbers(results, func(r *v1alpha1.StepResult) number { return rateOf(r.Throughput) }),
		Goodput:     numbers(results, func(r *v1alpha1.StepResult) number { return rateOf(r.Goodput) }),
		FailureRate: numbers(results, failureRate),
		P50:         durations(results, func(l *v1alpha1.Latency) *metav1.Duration { return l.P50 }),
		P95:         durations(results, func(l *v1alpha1.Latency) *metav1.Duration { return l.P95 }),
		P99:         durations(results, func(l *v1alpha1.Latency) *metav1.Duration { return l.P99 }),
	}
}

// number is a figure as it is compared, and as it is written. It has no value when
// a step has no such figure.
type number struct {
	value *big.Rat
	text  string
}

// rateOf is a rate as StepResult holds it.
func rateOf(perSecond string) number {
	value, ok := new(big.Rat).SetString(perSecond)
	if !ok {
		return number{}
	}
	return number{value: value, text: perSecond}
}

func failureRate(r *v1alpha1.StepResult) number {
	if r.Sent <= 0 {
		return number{}
	}
	return number{value: big.NewRat(r.Failed, r.Sent), text: text.Percent(r.Failed, r.Sent)}
}

// numbers is nil when a repetition has no such figure: least and greatest of the
// others would hide it.
func numbers(results []*v1alpha1.StepResult, figure func(*v1alpha1.StepResult) number) *v1alpha1.NumberSpread {
	var list []number
	for _, r := range results {
		n := figure(r)
		if n.value == nil {
			return nil
		}
		list = append(list, n)
	}
	slices.SortFunc(list, func(a, b number) int { return a.value.Cmp(b.value) })
	return &v1alpha1.NumberSpread{Min: list[0].text, Median: list[middle(len(list))].text, Max: list[len(list)-1].text}
}

// durations is nil when a repetition has no such quantile.
func durations(results []*v1alpha1.StepResult, quantile func(*v1alpha1.Latency) *metav1.Duration) *v1alpha1.DurationSpread {
	var list []time.Duration
	for _, r := range results {
		if r.ResponseTime == nil {
			return nil
		}
		q := quantile(r.ResponseTime)
		if q == nil {
			return nil
		}
		list = append(list, q.Duration)
	}
	slices.Sort(list)
	at := func(i int) metav1.Duration { return metav1.Duration{Duration: list[i]} }
	return &v1alpha1.DurationSpread{Min: at(0), Median: at(middle(len(list))), Max: at(len(list) - 1)}
}

// middle is the place of the median, of an even number the lower of the two: a
// figure that a repetition had, not one between two.
func middle(n int) int { return (n - 1) / 2 }
