package results

import (
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Affected is how many requests are taken to have waited for each one that was late: itself,
// those that came with it, and those that came until the target had caught up.
const Affected = 4

// lateTogether is by how much longer each of the times may be since requests came late, and
// together with others: of p99, by as much as all but a quarter of one percent of the requests
// were late; nil: by nothing.
func lateTogether(lateness *measure.Histogram) *v1alpha1.Latency {
	if lateness.Max() == 0 {
		return nil
	}
	of := func(q float64) time.Duration {
		if d, ok := lateness.Quantile(1 - (1-q)/Affected); ok {
			return d
		}
		return lateness.Max()
	}
	return &v1alpha1.Latency{
		Samples: lateness.Count(),
		Mean:    rounded(Affected * lateness.Mean()),
		P50:     rounded(of(0.50)),
		P75:     rounded(of(0.75)),
		P90:     rounded(of(0.90)),
		P95:     rounded(of(0.95)),
		P99:     rounded(of(0.99)),
		P999:    rounded(of(0.999)),
		P9999:   rounded(of(0.9999)),
		Longest: rounded(lateness.Max()),
	}
}
