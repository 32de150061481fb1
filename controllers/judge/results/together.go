package results

import (
	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Affected is how many requests are taken to have waited for each one that was late: itself,
// those that came with it, and those that came until the target had caught up.
const Affected = 4

// lateTogether is by how much longer each of the times may be since requests came late, and
// together with others: of p99, by as much as all but a quarter of one percent of the requests
// were late; nil: by nothing.
func lateTogether(lateness *measure.Histogram) *v1beta1.Latency {
	if lateness.Max() == 0 {
		return nil
	}
	l := &v1beta1.Latency{Samples: lateness.Count(), Mean: rounded(Affected * lateness.Mean()), Longest: rounded(lateness.Max())}
	for _, q := range metric.Quantiles() {
		late := lateness.Max()
		if d, ok := lateness.Quantile(1 - (1-q.Times().Share())/Affected); ok {
			late = d
		}
		*q.Times().Field(l) = rounded(late)
	}
	return l
}
