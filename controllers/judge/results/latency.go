package results

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// latency is nil for a histogram without samples.
func latency(h *measure.Histogram) *v1beta1.Latency {
	if h == nil || h.Count() == 0 {
		return nil
	}
	l := &v1beta1.Latency{Samples: h.Count(), Min: rounded(h.Min()), Mean: rounded(h.Mean()), Longest: rounded(h.Max())}
	for _, q := range metric.Quantiles() {
		*q.Times().Field(l) = quantile(h, q.Times().Share())
	}
	return l
}

// quantile is nil when too few samples are behind it.
func quantile(h *measure.Histogram, q float64) *metav1.Duration {
	d, ok := h.Quantile(q)
	if !ok {
		return nil
	}
	return rounded(d)
}

// rounded is to the unit of the histogram; more digits would be noise.
func rounded(d time.Duration) *metav1.Duration {
	return &metav1.Duration{Duration: d.Round(measure.Lowest)}
}
