package comparison

import (
	"math"
	"math/big"

	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/statistics"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

const (
	// together is how many requests that follow each other count as one: they wait in the same
	// queue, and are no independent samples. TestSimulatedComparisons has how far that goes.
	together = 10
	// betweenRuns and betweenShares are by how much a figure differs from one run to another of
	// the same target: of times and rates 5 %, the noise for which package changepoint is
	// tested; of the angle of a share 0.01, which are 0.2 points of 1 %, and 0.6 of 10 %.
	betweenRuns, betweenShares = 0.05, 0.01
	// digits is the least standard error of a time or a rate: it has three digits or so.
	digits = 0.0025
	// leastRate stands for no success at all, and leastTime for no microsecond, so that they have
	// a logarithm.
	leastRate, leastTime = 0.001, 0.5
)

// chance is how probable a difference so large is where there is none; nil: it cannot be said.
// The generator's own delay is no difference of the target: of both ends of either bracket,
// those count that are most alike.
func (c *Comparison) chance(test, column int, q metric.Quantity) *float64 {
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
	s := statistics.Sample{Between: betweenRuns}
	for _, r := range results {
		v, _ := at(q, r).Float64()
		of, off, ok := partOf(r, q.Request), 0.0, true
		switch m := metric.Of(q.Metric); m.Unit {
		case metric.Share:
			whole := of.Sent
			if q.Metric == v1beta1.MetricUnsentRate {
				whole = r.Due
			}
			v, s.Between, off = statistics.Angle(v/100), betweenShares, math.Sqrt(together/float64(max(whole, 1)))/2
		case metric.Latency:
			off, ok = errorOf(&of, m.Times().Share(), r.Histogram, q.Request)
			v, off = math.Log(max(v, leastTime)), max(off, digits)
		default:
			v, off = math.Log(max(v, leastRate)), max(math.Sqrt(together/float64(max(of.Outcomes.Success, 1))), digits)
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
// assumed of how times are distributed. False: a quantile that far above is not known.
func errorOf(of *v1beta1.PartResult, share float64, histogram, request string) (float64, bool) {
	l := of.ResponseTime
	if l == nil || l.Samples <= 0 {
		return 0, false
	}
	around := math.Sqrt(share * (1 - share) * together / float64(l.Samples))
	at := inStatus(l)
	if h, err := measure.DecodeHistogram(histogram, 0); request == "" && histogram != "" && err == nil {
		at = func(share float64) (float64, bool) {
			d, ok := h.Quantile(share)
			return d.Seconds(), ok
		}
	}
	low, okLow := at(max(share-around, 1/float64(l.Samples)))
	high, okHigh := at(share + around)
	if share+around >= 1 || !okLow || !okHigh || low <= 0 {
		return 0, false
	}
	return math.Log(high/low) / 2, true
}

// inStatus are the quantiles between those that a status has: their logarithms change evenly
// with the share's nines.
func inStatus(l *v1beta1.Latency) func(share float64) (float64, bool) {
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
