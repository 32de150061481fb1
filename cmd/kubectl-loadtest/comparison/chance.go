package comparison

import (
	"math"
	"math/big"

	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/statistics"
)

const (
	// together is how many requests that follow each other count as one: they wait in the same
	// queue, and are no independent samples. Failures come in larger groups: a pod is away for
	// a while, and all that is sent to it fails. TestSimulatedComparisons has how far that goes.
	together, failTogether = 10, 20
	// Of single runs it is not known how far they differ where nothing has changed. Speed differs
	// by some 5 % (package changepoint is tested for that). Rates do not differ by more; the
	// times of a target that is busy for nine tenths of its time differ by a multiple of that, as
	// its queue does. These are standard deviations of logarithms, and of the angle of a share:
	// 0.4 points of 1 %, and 1.2 of 10 %.
	betweenRates, betweenTimes, betweenShares = 0.05, 0.35, 0.02
	// digits is the least standard error of a time or a rate: it has three digits or so.
	digits = 0.0025
	// leastRate stands for no success at all, and leastTime for no microsecond, so that they have
	// a logarithm.
	leastRate, leastTime = 0.001, 0.5
)

// chance is how probable a difference so large is where there is none; nil: it cannot be said.
// The generator's own delay is no difference of the target: of both ends of either bracket,
// those count that are most alike. Of times of streams, results have one end.
func (c *Comparison) chance(test, column int, q metric.Quantity) *float64 {
	if q.Time != "" {
		return nil
	}
	before, after := c.results(0, column, q), c.results(test, column, q)
	repeated := min(len(before), len(after)) >= statistics.LeastRepetitions
	if !repeated && (isUnsteady(before) || isUnsteady(after)) {
		return nil // how long the queue got in one run says little of the next
	}
	greatest, sign := 0.0, 0
	for _, from := range ends {
		for _, to := range ends {
			a, okBefore := sample(q, before, from, repeated)
			b, okAfter := sample(q, after, to, repeated)
			if !okBefore || !okAfter {
				return nil
			}
			greatest = max(greatest, statistics.Chance(a, b))
			way := statistics.Middle(values(q, after, to)).Cmp(statistics.Middle(values(q, before, from)))
			if sign*way < 0 {
				return ptr.To(1.0)
			}
			sign += way
		}
	}
	return &greatest
}

// end is a value of one end of a bracket.
type end func(metric.Quantity, *v1beta1.StepResult) *big.Rat

// ends are what was measured, and that without the generator's own delay.
var ends = []end{metric.Value, func(q metric.Quantity, r *v1beta1.StepResult) *big.Rat {
	if v := metric.Ideal(q, r); v != nil {
		return v
	}
	return metric.Value(q, r)
}}

func values(q metric.Quantity, results []*v1beta1.StepResult, at end) (list []*big.Rat) {
	for _, r := range results {
		list = append(list, at(q, r))
	}
	return list
}

// isUnsteady says whether requests piled up in one of several results, or may have.
func isUnsteady(results []*v1beta1.StepResult) bool {
	for _, r := range results {
		if r.Outstanding.Grows() || r.Outstanding.IsUncertain() {
			return true
		}
	}
	return false
}

// sample is what some results have of a quantity; false: their requests are too few to say how
// far it may be off, and no repetitions show it.
func sample(q metric.Quantity, results []*v1beta1.StepResult, at end, repeated bool) (statistics.Sample, bool) {
	s, times, shares := statistics.Sample{}, float64(together), float64(failTogether)
	if repeated {
		times, shares = 1, 1 // their spread has the rest
	}
	for _, r := range results {
		v, _ := at(q, r).Float64()
		v = min(v, math.MaxFloat64) // a saved LoadTest may be of anyone
		of, off, ok := partOf(r, q.Request), 0.0, true
		switch m := metric.Of(q.Metric); m.Unit {
		case metric.Share:
			whole := of.Sent
			if q.Metric == v1beta1.MetricUnsentRate {
				whole = r.Due
			}
			v, s.Between, off = statistics.Angle(v/100), betweenShares, math.Sqrt(shares/float64(max(whole, 1)))/2
		case metric.Latency:
			off, ok = errorOf(of.ResponseTime, m.Times().Share(), times)
			v, s.Between, off = math.Log(max(v, leastTime)), betweenTimes, max(off, digits)
		default:
			v, s.Between, off = math.Log(max(v, leastRate)), betweenRates, max(math.Sqrt(times/float64(max(of.Outcomes.Success, 1))), digits)
		}
		if !ok && !repeated {
			return s, false
		}
		s.Values, s.Error = append(s.Values, v), max(s.Error, off)
	}
	return s, true
}

// partOf are the counts and times of a request, or of all.
func partOf(r *v1beta1.StepResult, request string) v1beta1.PartResult {
	for i := range r.Requests {
		if request != "" && r.Requests[i].Name == request {
			return r.Requests[i].PartResult
		}
	}
	return v1beta1.PartResult{Counts: r.Counts, ResponseTime: r.ResponseTime}
}

// errorOf is the standard error of the logarithm of a quantile: half of what is between the
// quantiles that are a standard error of the share of shorter times below it and above it
// (Woodruff, "Confidence intervals for medians and other position measures", 1952). Nothing is
// assumed of how times are distributed. So many requests count as one. False: they are too few.
func errorOf(l *v1beta1.Latency, share, together float64) (float64, bool) {
	const leastBeyond = 2 // independent samples on either side, below which the error is a guess
	if l == nil || float64(l.Samples)/together*min(share, 1-share) < leastBeyond*(1-1e-9) {
		return 0, false
	}
	around := math.Sqrt(share * (1 - share) * together / float64(l.Samples))
	at := between(l)
	low, okLow := at(max(share-around, 1/float64(l.Samples)))
	high, okHigh := at(share + around)
	if share+around >= 1 || !okLow || !okHigh || low <= 0 {
		return 0, false
	}
	return math.Log(high/low) / 2, true
}

// between are the quantiles between those that a status has: their logarithms change evenly
// with the share's nines.
func between(l *v1beta1.Latency) func(share float64) (float64, bool) {
	type point struct{ nines, log float64 }
	nines := func(share float64) float64 { return -math.Log10(1 - share) }
	var points []point
	if l.Min != nil && l.Min.Duration > 0 {
		points = append(points, point{0, math.Log(l.Min.Seconds())})
	}
	for _, m := range metric.Quantiles() {
		if d := *m.Times().Field(l); d != nil && d.Duration > 0 {
			points = append(points, point{nines(m.Times().Share()), math.Log(d.Seconds())})
		}
	}
	return func(share float64) (float64, bool) {
		n := nines(share)
		for i := 1; i < len(points); i++ {
			a, b := points[i-1], points[i]
			if a.nines <= n && n <= b.nines {
				return math.Exp(a.log + (b.log-a.log)*(n-a.nines)/(b.nines-a.nines)), true
			}
		}
		return 0, false
	}
}
