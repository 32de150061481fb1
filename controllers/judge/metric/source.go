package metric

import (
	"math/big"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Source is what of a measurement a metric is counted from: Times, OfSent, OfDue, PerSecond,
// Audited or Own.
type Source interface{ isSource() }

// Parts is what quantiles are counted in: p99.9 is 9990 of them.
const Parts = 10_000

// Times is a number of a distribution of times.
type Times struct {
	// Quantile is in Parts; 0 of a mean or maximum.
	Quantile int64
	// Of is the time, which has no meaning with fewer samples than Needed.
	Of func(*measure.Histogram) time.Duration
	// Field is where a status has it; nil: none has.
	Field func(*v1beta1.Latency) **metav1.Duration
}

// Needed is how many samples the number needs: 1 of a mean or maximum. Of p97, 33 are too few, of which one is
// more than 3 %.
func (t Times) Needed() int64 { return (2*Parts - t.Quantile - 1) / (Parts - t.Quantile) }

// Share is the quantile as a share of all samples, from 0 to 1.
func (t Times) Share() float64 { return float64(t.Quantile) / Parts }

// OfSent is a share of the requests that were sent.
type OfSent struct {
	// Count is how many of them it counts, while so many may yet be answered.
	Count func(r *measure.Request, open int64) int64
	// PerFailure is how many more it would count for each failure of the generator's doing,
	// had the generator been perfect.
	PerFailure int64
}

// OfDue is a share of what was due: how many it counts, how many with a perfect generator, and of
// how many.
type OfDue func(*measure.Measurement) (n, ideally, due int64)

// PerSecond is a number per second of the window: n of it came with so many responses within
// the window, of all that came. items are those that the expected ones in the window carried.
type PerSecond func(r *measure.Request, items int64) (n, inWindow, all int64)

// Audited is a count of the audit of a rate limiter.
type Audited func(*v1beta1.RateLimitStatus) int64

// Own is counted in a way of its own, which package verdict has.
type Own int

const (
	// OnTime is the share of the due requests that were on time.
	OnTime Own = iota
	// Downtime is the share of the window in which the target was down.
	Downtime
	// Drift is by how many a second the outstanding requests grew.
	Drift
	// Queried is what the administrator's Prometheus answered.
	Queried
)

func (Times) isSource()     {}
func (OfSent) isSource()    {}
func (OfDue) isSource()     {}
func (PerSecond) isSource() {}
func (Audited) isSource()   {}
func (Own) isSource()       {}

// Times are those that the metric is of; the zero value if it is no latency.
func (m Metric) Times() Times {
	t, _ := m.Measured.(Times)
	return t
}

// Quantiles are the metrics that are quantiles of times, from the lowest to the highest.
func Quantiles() []Metric {
	return slices.DeleteFunc(slices.Clone(table), func(m Metric) bool { return m.Times().Quantile == 0 })
}

// InWindow is how much of a metric that is counted per second came within the window; 0 of
// any other.
func InWindow(name v1beta1.Metric, r *measure.Request, items int64) int64 {
	if count, ok := Of(name).Measured.(PerSecond); ok {
		n, _, _ := count(r, items)
		return n
	}
	return 0
}

// Percent is a part of a whole in percent; nil of a whole that is nothing.
func Percent(part, whole int64) *big.Rat {
	if whole <= 0 {
		return nil
	}
	return new(big.Rat).Mul(big.NewRat(part, whole), big.NewRat(100, 1))
}

// Micros is a time in microseconds.
func Micros(d time.Duration) *big.Rat { return big.NewRat(int64(d), int64(time.Microsecond)) }
