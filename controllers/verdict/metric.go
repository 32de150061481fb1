package verdict

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/plan"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// parts is what quantiles are counted in: p99.9 is 9990 of them.
const parts = 10_000

var quantiles = map[v1alpha1.Metric]int64{
	"p50": 5000, "p75": 7500, "p90": 9000, "p95": 9500, "p99": 9900, "p99.9": 9990, "p99.99": 9999,
}

// observation is the value of a metric in a step.
type observation struct {
	// value is nil when it is not known.
	value *big.Rat
	// worst is the value that a maximum must also keep, nil when there is no
	// telling: it counts what the value leaves out at its worst.
	worst *big.Rat
	// caveat is the sentence that says why the value is not known, or what it
	// leaves out.
	caveat string
}

// certain is a value that leaves nothing out.
func certain(value *big.Rat) observation { return observation{value: value, worst: value} }

func unknown(format string, args ...any) observation {
	return observation{caveat: fmt.Sprintf(format, args...)}
}

// sample is the part of a step that a threshold looks at.
type sample struct {
	threshold *v1alpha1.Threshold
	step      *v1alpha1.StepStatus
	merged    *measure.Measurement
	request   measure.Request // of all requests that the threshold names
	items     int64           // that those expected in the window carried
	within    int             // of the times of the plan, the threshold's
	journey   measure.Journey // of all journeys that it names
}

func newSample(spec *v1alpha1.LoadTestSpec, requests []v1alpha1.RequestStatus, t *v1alpha1.Threshold, step *v1alpha1.StepStatus, merged *measure.Measurement) (sample, error) {
	s := sample{threshold: t, step: step, merged: merged, request: measure.NewRequest(), within: timeOf(spec, t)}
	if merged == nil || step.Result == nil {
		return s, nil
	}
	if err := s.addJourneys(spec); err != nil {
		return s, err
	}
	items := plan.RequestItems(spec)
	for i := range merged.Requests {
		if !about(t, requests, i) {
			continue
		}
		if err := s.request.Merge(&merged.Requests[i]); err != nil {
			return s, err
		}
		if i < len(items) {
			s.items += items[i] * merged.Requests[i].ExpectedInWindow
		}
	}
	return s, nil
}

// about says whether a threshold is about the request of that index.
func about(t *v1alpha1.Threshold, requests []v1alpha1.RequestStatus, i int) bool {
	if len(t.Journeys)+len(t.Requests)+len(t.Types) == 0 {
		return true
	}
	return len(t.Journeys) == 0 && i < len(requests) &&
		(len(t.Requests) == 0 || slices.Contains(t.Requests, requests[i].Name)) &&
		(len(t.Types) == 0 || slices.Contains(t.Types, requests[i].Type))
}

// subject is what a sentence about the threshold is about.
func subject(t *v1alpha1.Threshold) string {
	text := label(t)
	for _, filter := range []struct {
		names []string
		what  string
	}{{t.Types, "types"}, {t.Requests, "requests"}, {t.Journeys, "journeys"}} {
		switch n := len(filter.names); {
		case n == 0:
		case n > 3:
			text += fmt.Sprintf(" of %d %s", n, filter.what)
		default:
			text += " of " + strings.Join(filter.names, ", ")
		}
	}
	return text
}

// place is the subject and where it was observed.
func (s sample) place() string {
	if len(s.threshold.Requests)+len(s.threshold.Types)+len(s.threshold.Journeys) == 0 {
		return fmt.Sprintf("%s of step %s", label(s.threshold), s.step.Name)
	}
	return fmt.Sprintf("%s in step %s", subject(s.threshold), s.step.Name)
}

// observe is the value of the threshold's metric.
func (s sample) observe() observation {
	if len(s.threshold.Journeys) > 0 {
		return s.observeJourneys()
	}
	if s.request.Sent == 0 {
		return unknown("%s cannot be judged: no request was sent.", s.place())
	}
	switch s.threshold.Metric {
	case v1alpha1.MetricOnTimeRate:
		return s.onTimeRate()
	case v1alpha1.MetricFailureRate:
		return s.failureRate()
	case v1alpha1.MetricRateLimitedRate:
		return certain(percent(s.request.Outcomes[measure.RateLimited], s.request.Sent))
	case v1alpha1.MetricUnsentRate:
		if s.merged.Due == 0 {
			return unknown("%s cannot be judged: no request was due.", s.place())
		}
		return certain(percent(s.merged.Unsent, s.merged.Due))
	case v1alpha1.MetricGoodput:
		return s.perSecond(s.request.ExpectedInWindow)
	case v1alpha1.MetricThroughput:
		return s.perSecond(s.request.CompletedInWindow)
	case v1alpha1.MetricItemsPerSecond:
		return s.perSecond(s.items)
	case v1alpha1.MetricOverLimitGrants:
		return s.audit(func(r *v1alpha1.RateLimitStatus) int64 { return r.OverLimitGrants })
	case v1alpha1.MetricFalseDenials:
		return s.audit(func(r *v1alpha1.RateLimitStatus) int64 { return r.FalseDenials })
	}
	return s.latency()
}

// failureRate counts what had no answer at the end of a step as failed, unless the
// step was cut: what a worker that was cut, or is lost, had in flight might have been
// answered.
func (s sample) failureRate() observation {
	failed := s.request.Sent - s.request.Expected
	o := certain(percent(failed, s.request.Sent))
	if s.step.State == v1alpha1.StepCut {
		unfinished := s.request.Outcomes[measure.Unfinished]
		o.value = percent(failed-unfinished, s.request.Sent)
		o.caveat = fmt.Sprintf("%s leaves out %d requests that had no answer when the step was cut.", s.place(), unfinished)
	}
	return o
}

func percent(part, whole int64) *big.Rat {
	return new(big.Rat).Mul(big.NewRat(part, whole), big.NewRat(100, 1))
}

// perSecond is 0 without a window if nothing was answered: the window of a
// burst ends with its last response, and there was none.
func (s sample) perSecond(n int64) observation {
	switch {
	case s.merged.Window > 0:
		return certain(new(big.Rat).Mul(big.NewRat(n, int64(s.merged.Window)), big.NewRat(int64(time.Second), 1)))
	case s.request.CompletedInWindow == 0:
		return certain(new(big.Rat))
	}
	return unknown("%s cannot be judged: the step has no window.", s.place())
}

// audit is a lower bound; requests that were not audited may hide more.
func (s sample) audit(value func(*v1alpha1.RateLimitStatus) int64) observation {
	if s.step.Result.RateLimit == nil {
		return unknown("%s cannot be judged: spec.audits has no rateLimit.", s.place())
	}
	o := certain(new(big.Rat).SetInt64(value(s.step.Result.RateLimit)))
	if n := s.step.Result.RateLimit.Untracked; n > 0 {
		o.worst = nil
		o.caveat = fmt.Sprintf("%s leaves out %d requests of clients that were not tracked.", s.place(), n)
	}
	return o
}

// latency is a quantile, mean or maximum of a time. What was still in
// flight when the step was cut has no response time, but would have had a long
// one: leaving it out must not make a slow target look fast.
func (s sample) latency() observation {
	q := quantiles[s.threshold.Metric] // 0 of a mean or maximum, of which one sample is enough
	needed := parts / (parts - q)
	h, ok := s.times()
	if !ok {
		return unknown("%s cannot be judged: a worker did not report which times are of expected responses.", s.place())
	}
	n, unfinished := h.Count(), s.request.Outcomes[measure.Unfinished]
	if n < needed {
		return unknown("%s has %d samples; at least %d are needed.", s.place(), n, needed)
	}
	o := certain(micros(s.pick(h, q)))
	if unfinished > 0 {
		o.worst = withUnfinished(h, q, unfinished)
		o.caveat = fmt.Sprintf("%s leaves out %d requests that had no answer when the step was cut.", s.place(), unfinished)
	}
	return o
}

func (s sample) pick(h *measure.Histogram, q int64) time.Duration {
	switch s.threshold.Metric {
	case v1alpha1.MetricLongest:
		return h.Max()
	case v1alpha1.MetricMean:
		return h.Mean().Round(measure.Lowest)
	}
	d, _ := h.Quantile(float64(q) / parts)
	return d
}

// withUnfinished is the nearest-rank quantile with every unfinished request counted
// as infinitely long; nil when the quantile is one of these. Maximum and mean always
// are.
func withUnfinished(h *measure.Histogram, q, unfinished int64) *big.Rat {
	n := h.Count()
	rank := (q*(n+unfinished) + parts - 1) / parts
	switch {
	case q == 0 || rank > n:
		return nil
	case rank == n:
		return micros(h.Max())
	}
	d, _ := h.Quantile(float64(rank) / float64(n))
	return micros(d)
}

func micros(d time.Duration) *big.Rat { return big.NewRat(int64(d), int64(time.Microsecond)) }
