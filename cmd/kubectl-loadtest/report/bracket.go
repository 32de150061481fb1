package report

import (
	"cmp"
	"math/big"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// Bracket is a figure of a distribution of times, as it was measured and without the
// generator's own delay. Either is nil where its samples are too few.
type Bracket struct {
	Name          string
	Time, Without *metav1.Duration
}

// Brackets are the figures of a distribution, from the shortest time to the longest.
// Without the generator's delay they are the same if no other distribution is given.
func Brackets(measured, without *v1beta1.Latency) []Bracket {
	if measured == nil {
		measured = &v1beta1.Latency{}
	}
	times := Quantiles(cmp.Or(without, measured))
	var list []Bracket
	for i, q := range Quantiles(measured) {
		list = append(list, Bracket{q.Name, q.Time, times[i].Time})
	}
	return list
}

// IsVisible says whether the two ends differ by so much that both are worth saying, and
// read differently.
func (b Bracket) IsVisible() bool {
	if b.Time == nil || b.Without == nil {
		return false
	}
	measured, without := b.Time.Duration, b.Without.Duration
	return areTimesApart(measured, without) && text.Short(measured) != text.Short(without)
}

// Text is the measured time, and the one without the generator's delay in parentheses if
// that is visible: "1.37s (10ms)".
func (b Bracket) Text(write func(*metav1.Duration) string) string {
	if !b.IsVisible() {
		return write(b.Time)
	}
	return write(b.Time) + " (" + write(b.Without) + ")"
}

// InParentheses says what the second time of a Bracket is, in the note of a table.
const InParentheses = "in parentheses: without the generator's own delay"

// areVisible says whether any of them is.
func areVisible(list []Bracket) bool { return slices.ContainsFunc(list, Bracket.IsVisible) }

// AreVisible says whether the generator's own delay is visible in a distribution.
func AreVisible(measured, without *v1beta1.Latency) bool {
	return areVisible(Brackets(measured, without))
}

// AnyVisible says whether a table of all figures of response times has two values somewhere.
func AnyVisible(steps []v1beta1.StepStatus) bool {
	return slices.ContainsFunc(steps, func(step v1beta1.StepStatus) bool {
		r := step.Result
		return r != nil && (AreVisible(r.ResponseTime, r.WithoutGenerator) || AreVisible(r.ExpectedResponseTime, r.ExpectedWithoutGenerator))
	})
}

// Observed is the value of a threshold, and the one without the generator's own delay in
// parentheses if that is visible.
func Observed(t *v1beta1.ThresholdStatus) string {
	if !areApart(t.Observed, t.WithoutGenerator) {
		return t.Observed
	}
	return t.Observed + " (" + t.WithoutGenerator + ")"
}

// AnyObservedTwice says whether a table of thresholds has two values somewhere.
func AnyObservedTwice(list []v1beta1.ThresholdStatus) bool {
	return slices.ContainsFunc(list, func(t v1beta1.ThresholdStatus) bool { return areApart(t.Observed, t.WithoutGenerator) })
}

// areApart says whether two values of a metric differ visibly: times, shares or numbers. Of
// a share it is enough that the rest does: 99.2% on time are not 99.9%.
func areApart(measured, without string) bool {
	m, errMeasured := time.ParseDuration(measured)
	w, errWithout := time.ParseDuration(without)
	if errMeasured == nil && errWithout == nil {
		return areTimesApart(m, w)
	}
	a, okMeasured := new(big.Rat).SetString(strings.TrimSuffix(measured, "%"))
	b, okWithout := new(big.Rat).SetString(strings.TrimSuffix(without, "%"))
	if !okMeasured || !okWithout {
		return false
	}
	all := big.NewRat(100, 1)
	return areValuesApart(a, b) || strings.HasSuffix(measured, "%") && areValuesApart(a.Sub(all, a), b.Sub(all, b))
}
