package results

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// latency is nil for a histogram without samples.
func latency(h *measure.Histogram) *v1alpha1.Latency {
	if h.Count() == 0 {
		return nil
	}
	return &v1alpha1.Latency{
		Samples: h.Count(),
		Min:     rounded(h.Min()),
		Mean:    rounded(h.Mean()),
		P50:     quantile(h, 0.50),
		P75:     quantile(h, 0.75),
		P90:     quantile(h, 0.90),
		P95:     quantile(h, 0.95),
		P99:     quantile(h, 0.99),
		P999:    quantile(h, 0.999),
		P9999:   quantile(h, 0.9999),
		Longest: rounded(h.Max()),
	}
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
