package search_test

import (
	"cmp"
	"container/heap"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/search"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// places is a target that works on a limited number of requests at a time, a queue with
// several servers. A share of the requests is to be answered within a time.
type places struct {
	count int
	// mean is the mean time of service in seconds, and deviation the standard deviation
	// of its logarithm; 0: times of service are exponential.
	mean, deviation float64
	within, share   float64
}

// onTime is the share of requests that are answered in time, of those that are due in a
// duration after a warm-up. The target is idle at first.
func (p places) onTime(random *rand.Rand, wait func() float64, warmUp, duration float64) float64 {
	free := make(instants, p.count) // when each place is free again, the earliest first
	all, good := 0, 0
	for due := 0.0; due < warmUp+duration; due += wait() {
		end := max(due, free[0]) + p.service(random)
		free[0] = end
		heap.Fix(&free, 0)
		if due < warmUp {
			continue
		}
		if all++; end-due <= p.within {
			good++
		}
	}
	return float64(good) / float64(all)
}

func (p places) service(random *rand.Rand) float64 {
	if p.deviation == 0 {
		return p.mean * random.ExpFloat64()
	}
	return p.mean * math.Exp(p.deviation*random.NormFloat64()-p.deviation*p.deviation/2)
}

// even is the time between requests that are due at an even rate.
func even(rate float64) func() float64 { return func() float64 { return 1 / rate } }

// limit is the rate at which the target has its share in the long run.
func (p places) limit() float64 {
	random := rand.New(rand.NewPCG(4, 4))
	low, high := 0.0, float64(p.count)/p.mean
	for high-low > high/2000 {
		rate := (low + high) / 2
		if p.onTime(random, even(rate), 100*p.mean, 500_000/rate) >= p.share {
			low = rate
		} else {
			high = rate
		}
	}
	return low
}

type instants []float64

func (h instants) Len() int           { return len(h) }
func (h instants) Less(i, j int) bool { return h[i] < h[j] }
func (h instants) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h instants) Push(any)           {}
func (h instants) Pop() any           { return nil }

// The simulated queue is the one of the theory: with exponential times between
// requests and of service, a request waits with the probability of Erlang's C, and then
// longer than t with exp(-(c*mu-lambda)*t).
func TestSimulatedQueueFollowsErlang(t *testing.T) {
	const c, mean, rate, within = 8, 0.1, 70.0, 0.3
	random := rand.New(rand.NewPCG(5, 5))
	got := places{count: c, mean: mean, within: within}.onTime(random, func() float64 { return random.ExpFloat64() / rate }, 100, 20_000)

	mu, a := 1/mean, rate*mean
	term, sum := 1.0, 0.0
	for k := range c {
		sum += term
		term *= a / float64(k+1)
	}
	waits := term / (1 - a/c) / (sum + term/(1-a/c))
	spare := c*mu - rate
	// The time is that of service, plus a wait of rate spare with probability waits.
	late := (1-waits)*math.Exp(-mu*within) + waits*(spare*math.Exp(-mu*within)-mu*math.Exp(-spare*within))/(spare-mu)
	if math.Abs(got-(1-late)) > 0.003 {
		t.Errorf("%.4f are in time, and %.4f are by theory", got, 1-late)
	}
}

// TestSimulatedSearch: the interval contains the limit of a target with a limited number
// of places, in at least 95 of 100 runs.
func TestSimulatedSearch(t *testing.T) {
	targets := []places{
		{count: 8, mean: 0.01, deviation: 0, within: 0.055, share: 0.99},
		{count: 32, mean: 0.05, deviation: 0.5, within: 0.2, share: 0.99},
		{count: 64, mean: 0.03, deviation: 1, within: 0.25, share: 0.98},
	}
	limits := make([]float64, len(targets))
	for i, p := range targets {
		limits[i] = p.limit()
	}
	runs, within, probes, states := simulations(t), 0, 0, map[search.State]int{}
	for run := range runs {
		i, random := run%len(targets), rand.New(rand.NewPCG(6, uint64(run)))
		// Another unit of time makes another limit of the same queue.
		unit := math.Exp(random.Float64() - 0.5)
		sent, result := searchPlaces(t, targets[i], random, unit)
		states[result.State]++
		probes += len(sent)
		if truth := limits[i] / unit * 1e6; result.State == search.Found && float64(result.Low) <= truth && truth <= float64(result.High) {
			within++
		} else {
			t.Logf("run %d, limit %.1f: %+v after %s", run, truth/1e6, result, story(sent))
		}
	}
	ratio := float64(within) / float64(runs)
	t.Logf("%.1f probes in the mean, ends %v", float64(probes)/float64(runs), states)
	fmt.Printf("bench-judgement: search-within=%.3f\n", ratio)
	if ratio < 0.95 {
		t.Errorf("%d of %d intervals contain the limit", within, runs)
	}
}

// searchPlaces searches with probes of 30 s after a warm-up of 5 s, in a unit of time.
func searchPlaces(t *testing.T, p places, random *rand.Rand, unit float64) ([]search.Probe, search.Result) {
	r := search.Range{Min: 100e6, Max: 10_000e6, Precision: 0.05, MaxProbes: search.MaxProbes}
	return run(t, r, func(load int64) search.Outcome {
		rate := float64(load) / 1e6 * unit
		if p.onTime(random, even(rate), 5/unit, 30/unit) >= p.share {
			return search.Kept
		}
		return search.Breached
	})
}

// simulations is how many runs are simulated.
func simulations(t *testing.T) int {
	n, err := strconv.Atoi(cmp.Or(os.Getenv("SIMULATIONS"), "100"))
	must.Succeed(t, err)
	return n
}
