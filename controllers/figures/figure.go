package figures

import (
	"fmt"
	"math/big"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
)

// Quantity is a metric, of all requests or of those of one type.
type Quantity struct {
	Metric v1alpha1.Metric
	// Type is the type of request; "": all.
	Type string
}

// quantity is a metric as a step's result has it. Latencies are in microseconds, shares
// in percent.
type quantity struct {
	metric v1alpha1.Metric
	unit   string
	// of is nil where a result has no such value, as of too few samples.
	of func(*v1alpha1.StepResult) *big.Rat
	// byType is nil of a metric that is not known by type.
	byType func(*v1alpha1.Counts, *v1alpha1.Latency) *big.Rat
}

const (
	microseconds = "us"
	percent      = "%"
	plain        = ""
)

// quantities are all metrics, in the order in which they are read.
var quantities = []quantity{
	latency("p50", func(l *v1alpha1.Latency) *metav1.Duration { return l.P50 }),
	latency("p75", func(l *v1alpha1.Latency) *metav1.Duration { return l.P75 }),
	latency("p90", func(l *v1alpha1.Latency) *metav1.Duration { return l.P90 }),
	latency("p95", func(l *v1alpha1.Latency) *metav1.Duration { return l.P95 }),
	latency("p99", func(l *v1alpha1.Latency) *metav1.Duration { return l.P99 }),
	latency("p99.9", func(l *v1alpha1.Latency) *metav1.Duration { return l.P999 }),
	latency("p99.99", func(l *v1alpha1.Latency) *metav1.Duration { return l.P9999 }),
	latency(v1alpha1.MetricLongest, func(l *v1alpha1.Latency) *metav1.Duration { return l.Longest }),
	latency(v1alpha1.MetricMean, func(l *v1alpha1.Latency) *metav1.Duration { return l.Mean }),
	share(v1alpha1.MetricFailureRate, func(c *v1alpha1.Counts) int64 { return c.Failed }),
	share(v1alpha1.MetricRateLimitedRate, func(c *v1alpha1.Counts) int64 { return c.Outcomes.RateLimited }),
	number(v1alpha1.MetricUnsentRate, percent, func(r *v1alpha1.StepResult) *big.Rat { return partOf(r.Unsent, r.Due) }),
	number(v1alpha1.MetricDowntime, percent, func(r *v1alpha1.StepResult) *big.Rat { return rate(strings.TrimSuffix(r.Downtime, "%")) }),
	number(v1alpha1.MetricGoodput, plain, func(r *v1alpha1.StepResult) *big.Rat { return rate(r.Goodput) }),
	number(v1alpha1.MetricThroughput, plain, func(r *v1alpha1.StepResult) *big.Rat { return rate(r.Throughput) }),
	number(v1alpha1.MetricItemsPerSecond, plain, items),
	audited(v1alpha1.MetricOverLimitGrants, func(a *v1alpha1.RateLimitStatus) int64 { return a.OverLimitGrants }),
	audited(v1alpha1.MetricFalseDenials, func(a *v1alpha1.RateLimitStatus) int64 { return a.FalseDenials }),
}

func latency(metric v1alpha1.Metric, of func(*v1alpha1.Latency) *metav1.Duration) quantity {
	value := func(_ *v1alpha1.Counts, l *v1alpha1.Latency) *big.Rat {
		if l == nil || of(l) == nil {
			return nil
		}
		return big.NewRat(int64(of(l).Duration), int64(time.Microsecond))
	}
	return quantity{metric, microseconds, func(r *v1alpha1.StepResult) *big.Rat { return value(&r.Counts, r.ResponseTime) }, value}
}

// share is of what was sent. What a step sent has ended when the step has.
func share(metric v1alpha1.Metric, of func(*v1alpha1.Counts) int64) quantity {
	value := func(c *v1alpha1.Counts, _ *v1alpha1.Latency) *big.Rat { return partOf(of(c), c.Sent) }
	return quantity{metric, percent, func(r *v1alpha1.StepResult) *big.Rat { return value(&r.Counts, nil) }, value}
}

func number(metric v1alpha1.Metric, unit string, of func(*v1alpha1.StepResult) *big.Rat) quantity {
	return quantity{metric: metric, unit: unit, of: of}
}

// audited is a count of an audit that left nothing out.
func audited(metric v1alpha1.Metric, of func(*v1alpha1.RateLimitStatus) int64) quantity {
	return number(metric, plain, func(r *v1alpha1.StepResult) *big.Rat {
		if r.RateLimit == nil || r.RateLimit.Untracked > 0 {
			return nil
		}
		return big.NewRat(of(r.RateLimit), 1)
	})
}

func partOf(part, whole int64) *big.Rat {
	if whole <= 0 {
		return nil
	}
	return new(big.Rat).Mul(big.NewRat(part, whole), big.NewRat(100, 1))
}

// rate is a rate as a result holds it.
func rate(perSecond string) *big.Rat {
	if value, ok := new(big.Rat).SetString(perSecond); ok {
		return value
	}
	return nil
}

// items are the goodput where every request carries one.
func items(r *v1alpha1.StepResult) *big.Rat {
	if r.ItemsPerSecond == "" {
		return rate(r.Goodput)
	}
	return rate(r.ItemsPerSecond)
}

func find(metric v1alpha1.Metric) (quantity, bool) {
	for _, q := range quantities {
		if q.metric == metric {
			return q, true
		}
	}
	return quantity{}, false
}

// Value is that of a quantity in the result of a step; nil: it has none.
func Value(q Quantity, result *v1alpha1.StepResult) *big.Rat {
	known, ok := find(q.Metric)
	switch {
	case !ok:
		return nil
	case q.Type == "":
		return known.of(result)
	case known.byType == nil:
		return nil
	}
	for i := range result.Types {
		if t := &result.Types[i]; t.Name == q.Type {
			return known.byType(&t.Counts, t.ResponseTime)
		}
	}
	return nil
}

// Figures are the values of all metrics in the result of a step, and those by type that
// are asked for.
func Figures(result *v1alpha1.StepResult, byType []Quantity) []v1alpha1.Figure {
	var list []v1alpha1.Figure
	add := func(q Quantity) {
		if value := Value(q, result); value != nil {
			f := v1alpha1.Figure{Metric: q.Metric, Type: q.Type, Value: Text(q.Metric, value)}
			if ideal := Ideal(q, result); ideal != nil && ideal.Cmp(value) != 0 {
				f.WithoutGenerator = Text(q.Metric, ideal)
			}
			if late := LateTogether(q, result); late.Sign() > 0 {
				f.LateTogether = Text(q.Metric, late)
			}
			list = append(list, f)
		}
	}
	for _, q := range quantities {
		add(Quantity{Metric: q.metric})
	}
	for _, q := range byType {
		add(q)
	}
	return list
}

// Text is a value as a status has it: to the microsecond, or to six digits behind the
// point.
func Text(metric v1alpha1.Metric, value *big.Rat) string {
	q, _ := find(metric)
	if q.unit == microseconds {
		return trimmed(new(big.Rat).Quo(value, big.NewRat(1_000, 1)).FloatString(3)) + "ms"
	}
	return trimmed(value.FloatString(6)) + q.unit
}

func trimmed(decimal string) string {
	return strings.TrimSuffix(strings.TrimRight(decimal, "0"), ".")
}

// Parse reads what Text has written.
func Parse(metric v1alpha1.Metric, text string) (*big.Rat, error) {
	q, _ := find(metric)
	scale, digits := int64(1), strings.TrimSuffix(text, q.unit)
	if q.unit == microseconds {
		scale, digits = 1_000, strings.TrimSuffix(text, "ms")
	}
	value, ok := new(big.Rat).SetString(digits)
	if !ok || value.Sign() < 0 {
		return nil, fmt.Errorf("%q is no value of %s", text, metric)
	}
	return value.Mul(value, big.NewRat(scale, 1)), nil
}
