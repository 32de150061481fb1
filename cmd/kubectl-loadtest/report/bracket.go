package report

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
)

const (
	// leastApart and leastShare are by how much a time has to differ without the generator's
	// own delay for both to be shown: by a millisecond, and by 1/50 of what was measured. A
	// sound generator's delay is less.
	leastApart = time.Millisecond
	leastShare = 50
)

// Bracket is a figure of a distribution of times, as it was measured and without the
// generator's own delay. Either is nil where its samples are too few.
type Bracket struct {
	Name          string
	Time, Without *metav1.Duration
}

// Brackets are the figures of a distribution, from the shortest time to the longest.
// Without the generator's delay they are the same if no other distribution is given.
func Brackets(measured, without *v1alpha1.Latency) []Bracket {
	if measured == nil {
		measured = &v1alpha1.Latency{}
	}
	if without == nil {
		without = measured
	}
	times := Quantiles(without)
	var list []Bracket
	for i, q := range Quantiles(measured) {
		list = append(list, Bracket{q.Name, q.Time, times[i].Time})
	}
	return list
}

// IsVisible says whether the two ends differ by so much that both are worth saying.
func (b Bracket) IsVisible() bool {
	if b.Time == nil || b.Without == nil {
		return false
	}
	apart := (b.Time.Duration - b.Without.Duration).Abs()
	return apart >= leastApart && apart*leastShare > b.Time.Duration
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
func areVisible(list []Bracket) bool {
	for _, b := range list {
		if b.IsVisible() {
			return true
		}
	}
	return false
}

// AnyVisible says whether a table of the steps' response times has two values somewhere.
func AnyVisible(steps []v1alpha1.StepStatus) bool {
	for i := range steps {
		if r := steps[i].Result; r != nil && (areVisible(Brackets(r.ResponseTime, r.WithoutGenerator)) ||
			areVisible(Brackets(r.ExpectedResponseTime, r.ExpectedWithoutGenerator))) {
			return true
		}
	}
	return false
}
