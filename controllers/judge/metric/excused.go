package metric

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// A timeout that is excused may have been answered at once. So many of the longest times are the
// shortest then, and a quantile is that of a lower rank.

// Below is the value of the metric, which is a time, if so many of the longest times were the shortest.
func (m Metric) Below(h *measure.Histogram, excused int64) time.Duration {
	n, q := h.Count(), m.Times().Quantile
	excused = min(excused, n-1)
	switch {
	case excused <= 0:
		return m.Times().Of(h)
	case m.Name == v1beta1.MetricMean:
		return less(h.Mean(), h.Max(), excused, n)
	case m.Name == v1beta1.MetricLongest:
		q = Parts
	}
	return h.AtRank(max(1, rankOf(q, n)-excused))
}

// less is a mean of n times without so many of the longest.
func less(mean, longest time.Duration, excused, n int64) time.Duration {
	return max(0, mean-time.Duration(float64(longest)*float64(excused)/float64(n))).Round(measure.Lowest)
}

// idealTimes are the times of a result with the metric as a steady generator would have measured it:
// from the histogram or, where there is none, from the numbers of the distribution.
func (m Metric) idealTimes(measured, without *v1beta1.Latency, excused int64, histogram string) *v1beta1.Latency {
	times, l := m.Times(), cmp.Or(without, measured)
	if excused <= 0 || times.Field == nil || l == nil || l.Samples <= 0 || *times.Field(l) == nil {
		return l
	}
	ideal, below := *l, m.belowKnown(l, excused)
	if histogram != "" {
		if h, err := measure.DecodeHistogram(histogram, 0); err == nil && h.Count() > 0 {
			below = m.Below(h, excused)
		}
	}
	*times.Field(&ideal) = &metav1.Duration{Duration: min(below, (*times.Field(l)).Duration)}
	return &ideal
}

// belowKnown is at most what Below would be: of a quantile, the largest that is known of no higher a rank;
// 0 if none is.
func (m Metric) belowKnown(l *v1beta1.Latency, excused int64) time.Duration {
	n, q := l.Samples, cmp.Or(m.Times().Quantile, Parts)
	if m.Name == v1beta1.MetricMean {
		return less(v1beta1.OrZero(l.Mean), v1beta1.OrZero(l.Longest), excused, n)
	}
	for _, lower := range slices.Backward(Quantiles()) {
		times := lower.Times()
		if known := *times.Field(l); known != nil && times.Quantile*n <= q*n-excused*Parts {
			return known.Duration
		}
	}
	return 0
}
