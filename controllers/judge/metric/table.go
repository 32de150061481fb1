package metric

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Metric is a row of the table.
type Metric struct {
	Name v1beta1.Metric
	// Title heads its lines in a table of differences; empty: no such table has it.
	Title string
	Unit  Unit
	// LowerIsBetter says that the least value is the best, not the greatest.
	LowerIsBetter bool
	// Most is the maximum that holds where the spec has none of it; empty: none does.
	Most string
	// Measured is what of a measurement it is counted from.
	Measured Source
	// inResult is its value in a result; the value is nil where the result has none, as of
	// too few samples. nil: no result has it.
	inResult func(*v1beta1.StepResult) *big.Rat
	// byPart is the value of one type of request, or of one request. nil: it is not known of
	// these.
	byPart func(*v1beta1.Counts, *v1beta1.Latency) *big.Rat
}

// table are all metrics, in the order in which they are read.
//
// What has a maximum by default says whether a target did what it was asked: of a run that
// is judged, and of a step that is to be compared with. The downtime lets pauses of a garbage
// collector pass, and not a target of which a half is silent for 2 % of a step.
// docs/design/0033 has the simulation.
var table = []Metric{
	quantile("p50", 5000, "P50", func(l *v1beta1.Latency) **metav1.Duration { return &l.P50 }),
	quantile("p75", 7500, "", func(l *v1beta1.Latency) **metav1.Duration { return &l.P75 }),
	quantile("p90", 9000, "", func(l *v1beta1.Latency) **metav1.Duration { return &l.P90 }),
	quantile("p95", 9500, "P95", func(l *v1beta1.Latency) **metav1.Duration { return &l.P95 }),
	quantile("p99", 9900, "P99", func(l *v1beta1.Latency) **metav1.Duration { return &l.P99 }),
	quantile("p99.9", 9990, "", func(l *v1beta1.Latency) **metav1.Duration { return &l.P999 }),
	quantile("p99.99", 9999, "", func(l *v1beta1.Latency) **metav1.Duration { return &l.P9999 }),
	latency(v1beta1.MetricLongest, Times{Of: (*measure.Histogram).Max, Field: func(l *v1beta1.Latency) **metav1.Duration { return &l.Longest }}),
	latency(v1beta1.MetricMean, Times{Of: mean, Field: func(l *v1beta1.Latency) **metav1.Duration { return &l.Mean }}),
	{Name: v1beta1.MetricOnTimeRate, Unit: Share, Measured: OnTime},
	ofSent(Metric{Name: v1beta1.MetricFailureRate, Title: "Requests failed", Most: "1%", LowerIsBetter: true,
		Measured: OfSent{Count: func(r *measure.Request, open int64) int64 { return r.Sent - r.Expected - open }, PerFailure: -1},
	}, func(c *v1beta1.Counts) int64 { return c.Failed }),
	ofSent(Metric{Name: v1beta1.MetricRateLimitedRate, LowerIsBetter: true,
		Measured: OfSent{Count: func(r *measure.Request, _ int64) int64 { return r.Outcomes[measure.RateLimited] }, PerFailure: 1},
	}, func(c *v1beta1.Counts) int64 { return c.Outcomes.RateLimited }),
	{Name: v1beta1.MetricUnsentRate, Title: "Requests unsent", Unit: Share, Most: "1%", LowerIsBetter: true,
		Measured: OfDue(func(m *measure.Measurement) (n, ideally, due int64) {
			o := m.Offered()
			return o.Unsent, o.Unsent - o.ByGenerator, o.Due
		}),
		inResult: func(r *v1beta1.StepResult) *big.Rat { return Percent(r.Offered()) }},
	{Name: v1beta1.MetricDowntime, Unit: Share, Most: "0.5%", LowerIsBetter: true, Measured: Downtime,
		inResult: func(r *v1beta1.StepResult) *big.Rat { return decimal(strings.TrimSuffix(r.Downtime, "%")) }},
	{Name: v1beta1.MetricDrift, Unit: Rate, LowerIsBetter: true, Measured: Drift},
	{Name: v1beta1.MetricGoodput, Title: "Goodput", Unit: Rate,
		Measured: PerSecond(func(r *measure.Request, _ int64) (n, inWindow, all int64) {
			return r.ExpectedInWindow, r.ExpectedInWindow, r.Successes()
		}),
		inResult: func(r *v1beta1.StepResult) *big.Rat { return decimal(r.Goodput) }},
	{Name: v1beta1.MetricThroughput, Unit: Rate,
		Measured: PerSecond(func(r *measure.Request, _ int64) (n, inWindow, all int64) {
			return r.CompletedInWindow, r.CompletedInWindow, r.Completed()
		}),
		inResult: func(r *v1beta1.StepResult) *big.Rat { return decimal(r.Throughput) }},
	{Name: v1beta1.MetricItemsPerSecond, Unit: Rate,
		Measured: PerSecond(func(r *measure.Request, items int64) (n, inWindow, all int64) {
			return items, r.ExpectedInWindow, r.Successes()
		}),
		inResult: items},
	// Of a stream, some events may have come within the window and others not. How much more would have come
	// with a perfect generator is reckoned by the streams that began.
	{Name: v1beta1.MetricEventsPerSecond, Title: "Events", Unit: Rate,
		Measured: PerSecond(func(r *measure.Request, _ int64) (n, inWindow, all int64) {
			if r.Streams == nil {
				return 0, 0, 0
			}
			return r.Streams.InWindow, r.Streams.Times[measure.FirstEvent].Count(), r.Sent
		}),
		inResult: func(r *v1beta1.StepResult) *big.Rat {
			if r.Streams == nil {
				return nil
			}
			return decimal(r.Streams.EventsPerSecond)
		}},
	{Name: v1beta1.MetricOutputTokensPerSecond, Title: "Output tokens", Unit: Rate,
		Measured: PerSecond(func(r *measure.Request, _ int64) (n, inWindow, all int64) {
			if r.Streams == nil {
				return 0, 0, 0
			}
			return r.Streams.OutputTokens, r.ExpectedInWindow, r.Successes()
		}),
		inResult: func(r *v1beta1.StepResult) *big.Rat {
			if r.Streams == nil || r.Streams.Tokens == nil {
				return nil
			}
			return decimal(r.Streams.Tokens.OutputPerSecond)
		}},
	audited(v1beta1.MetricOverLimitGrants, func(a *v1beta1.RateLimitStatus) int64 { return a.OverLimitGrants }),
	audited(v1beta1.MetricFalseDenials, func(a *v1beta1.RateLimitStatus) int64 { return a.FalseDenials }),
	{Name: v1beta1.MetricQuery, Unit: Number, Measured: Queried},
}

// MostJourneys is how many of the journeys may fail by default.
const MostJourneys = "1%"

// quantile is the metric of the quantile of so many Parts.
func quantile(name v1beta1.Metric, parts int64, title string, field func(*v1beta1.Latency) **metav1.Duration) Metric {
	times := quantileOf(parts)
	times.Field = field
	m := latency(name, times)
	m.Title = title
	return m
}

// quantileOf is the quantile of so many Parts, which no field of a status has.
func quantileOf(parts int64) Times {
	return Times{Quantile: parts, Of: func(h *measure.Histogram) time.Duration {
		d, _ := h.Quantile(float64(parts) / Parts)
		return d
	}}
}

func mean(h *measure.Histogram) time.Duration { return h.Mean().Round(measure.Lowest) }

func latency(name v1beta1.Metric, times Times) Metric {
	value := func(_ *v1beta1.Counts, l *v1beta1.Latency) *big.Rat {
		if l == nil || *times.Field(l) == nil {
			return nil
		}
		return Micros((*times.Field(l)).Duration)
	}
	return Metric{
		Name: name, Unit: Latency, LowerIsBetter: true, Measured: times, byPart: value,
		inResult: func(r *v1beta1.StepResult) *big.Rat { return value(nil, r.ResponseTime) },
	}
}

// ofSent adds what a result has of a share of what was sent. What a step sent has ended when
// the step has.
func ofSent(m Metric, count func(*v1beta1.Counts) int64) Metric {
	m.Unit = Share
	m.byPart = func(c *v1beta1.Counts, _ *v1beta1.Latency) *big.Rat { return Percent(count(c), c.Sent) }
	m.inResult = func(r *v1beta1.StepResult) *big.Rat { return m.byPart(&r.Counts, nil) }
	return m
}

// audited is a count of an audit. A result has it where the audit left nothing out.
func audited(name v1beta1.Metric, count Audited) Metric {
	return Metric{Name: name, Unit: Count, LowerIsBetter: true, Measured: count, inResult: func(r *v1beta1.StepResult) *big.Rat {
		if r.RateLimit == nil || r.RateLimit.Untracked > 0 {
			return nil
		}
		return big.NewRat(count(r.RateLimit), 1)
	}}
}

// items are the goodput where every request carries one.
func items(r *v1beta1.StepResult) *big.Rat {
	if r.ItemsPerSecond == "" {
		return decimal(r.Goodput)
	}
	return decimal(r.ItemsPerSecond)
}

// decimal is a number as a result holds it; nil: it has none.
func decimal(number string) *big.Rat {
	value, _ := new(big.Rat).SetString(number)
	return value
}

// Of is the metric of that name, which may be any percentile; the zero value, of no known
// source, if there is none. No result has a percentile that is not in the table.
func Of(name v1beta1.Metric) Metric {
	i := slices.IndexFunc(table, func(m Metric) bool { return m.Name == name })
	if i >= 0 {
		return table[i]
	}
	if parts, ok := partsOf(name); ok {
		return Metric{Name: name, Unit: Latency, LowerIsBetter: true, Measured: quantileOf(parts)}
	}
	return Metric{Name: name}
}

// partsOf is the quantile that a name such as p98 or p99.95 is of, in Parts.
func partsOf(name v1beta1.Metric) (parts int64, ok bool) {
	number, isPercentile := strings.CutPrefix(string(name), "p")
	whole, fraction, _ := strings.Cut(number, ".")
	if !isPercentile || len(whole) < 1 || len(whole) > 2 || len(fraction) > 2 {
		return 0, false
	}
	n, err := strconv.ParseUint(whole+fraction+"00"[len(fraction):], 10, 64)
	return int64(n), err == nil && n > 0 && n < Parts
}

// Default are the metrics that have a maximum by default.
func Default() []Metric {
	return slices.DeleteFunc(slices.Clone(table), func(m Metric) bool { return m.Most == "" })
}

// Titled are the metrics that tables of differences have, in the order of their lines.
func Titled() []Metric {
	return slices.DeleteFunc(slices.Clone(table), func(m Metric) bool { return m.Title == "" })
}
