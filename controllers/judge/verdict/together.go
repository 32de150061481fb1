package verdict

import (
	"fmt"
	"math/big"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// A request that was sent late meets others that were sent late, and waits for them at the
// target: its service time has the generator's delay in it, which the ideal times leave in.
// By how much is bounded. Servers that take requests in order, each of which comes later by
// at most a time, answer each later by at most that time. So a breach by less than the
// generator was late is not certain.

const affected = results.Affected

// cameTogether is by how much longer the requests that decide the metric may have taken since
// others came late with them: of p99, and of a share of 99 % that is to be on time, by as much as
// all but a quarter of one percent of the requests were late.
func (s sample) cameTogether() time.Duration {
	h, q := s.merged.Lateness, s.metric.Times().Share()
	switch s.threshold.Metric {
	case v1beta1.MetricLongest:
		return h.Max()
	case v1beta1.MetricMean:
		return affected * h.Mean()
	case v1beta1.MetricOnTimeRate:
		q = s.required()
	}
	if d, ok := h.Quantile(1 - (1-q)/affected); ok {
		return d
	}
	return h.Max()
}

// required is the share of the requests that is to be on time.
func (s sample) required() float64 {
	b, _ := newBound(s.threshold) // it was read before
	percent, _ := b.limit.Float64()
	return percent / 100
}

// timeApart is an ideal time as it may have been if no requests had come together.
func (s sample) timeApart(ideal *big.Rat) *big.Rat {
	return new(big.Rat).Sub(ideal, metric.Micros(s.cameTogether()))
}

// onTimeApart is how many requests more may have been on time if none had come together:
// those that were too late by less than the generator.
func (s sample) onTimeApart() int64 {
	late := s.cameTogether()
	within, ideal := s.threshold.Within.Duration, s.request.Ideally()
	tooLate, _ := ideal.LongerThan(within)
	anyhow, _ := ideal.LongerThan(within + late)
	return tooLate - anyhow
}

// together says by how much requests were late that came together with others.
func (s sample) together() string {
	return fmt.Sprintf("Requests that were sent up to %s late reached the target together with others, and may have waited for them.",
		text.Short(s.cameTogether()))
}
