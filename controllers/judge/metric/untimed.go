package metric

import (
	"math/big"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Untimed is how many requests have no time, since they were never sent or had no answer: a quantile of
// the others looks fast if the target is slow.
type Untimed struct {
	// Missing have none, of those that were Due. ByGenerator of them a steady generator would have sent.
	Missing, ByGenerator, Due int64
}

// UntimedOf is that of the requests that a quantity is of. What is unsent may be of any request, where it
// was not counted by request.
func UntimedOf(q Quantity, result *v1beta1.StepResult) Untimed {
	unfinished, unsent, due := result.Outcomes.Unfinished, result.Unsent, result.Due
	if part := q.part(result); part != nil {
		if part.Due != nil {
			unsent = max(0, *part.Due-part.Sent)
		}
		unfinished, due = part.Outcomes.Unfinished, part.Sent+unsent
	}
	return Untimed{Missing: unsent + unfinished, ByGenerator: min(unsent, result.UnsentByGenerator), Due: due}
}

// Decide says whether a quantile of all that were due may be the time of one of so many that have none.
func (u Untimed) Decide(name v1beta1.Metric, missing int64) bool {
	q := Of(name).Times().Quantile
	return q > 0 && missing*Parts > (Parts-q)*u.Due
}

// WithUntimed is the value of a quantity if the requests that have no time had taken longer than all others, but for
// those that a steady generator would have sent: these would have taken as long as others. Of a quantile it is that of a
// higher rank: from the histogram or, where there is none, the shortest that is known of no lower one.
func WithUntimed(q Quantity, result *v1beta1.StepResult) *big.Rat {
	value, times, u := Value(q, result), Of(q.Metric).Times(), UntimedOf(q, result)
	missing := u.Missing - u.ByGenerator
	l, histogram := result.ResponseTime, result.Histogram
	if part := q.part(result); part != nil {
		l, histogram = part.ResponseTime, ""
	}
	if value == nil || times.Quantile == 0 || missing == 0 || u.Decide(q.Metric, u.Missing) {
		return value
	}
	n := l.Samples
	rank := rankOf(times.Quantile, n+missing)
	if h, err := measure.DecodeHistogram(histogram, 0); err == nil && h.Count() == n {
		return Micros(h.AtRank(rank))
	}
	for _, higher := range Quantiles() {
		if known := *higher.Times().Field(l); known != nil && rankOf(higher.Times().Quantile, n) >= rank {
			return Micros(known.Duration)
		}
	}
	if longest := Micros(v1beta1.OrZero(l.Longest)); longest.Cmp(value) > 0 {
		return longest
	}
	return value
}

// rankOf is the rank of a quantile among so many times.
func rankOf(quantile, n int64) int64 { return (quantile*n + Parts - 1) / Parts }
