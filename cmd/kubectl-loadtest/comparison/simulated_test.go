package comparison_test

import (
	"container/heap"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/comparison"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/trend"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// target is a simulated one: a queue in front of eight servers, whose times are log-normal.
type target struct {
	// load is the part of what the servers can do that arrives.
	load float64
	// noise is by how much its speed differs from run to run, and noiseWithin from one
	// repetition to the next; relative standard deviations.
	noise, noiseWithin float64
	// failing is the part of requests that fail, so many after each other.
	failing   float64
	atOnce    int
	slower    float64 // as a factor
	steps     int
	repeated  int
	seconds   float64
	perSecond float64
}

// servers are when each is free: the least first.
type servers []float64

func (s servers) Len() int           { return len(s) }
func (s servers) Less(i, j int) bool { return s[i] < s[j] }
func (s servers) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }
func (s *servers) Push(x any)        { *s = append(*s, x.(float64)) }
func (s *servers) Pop() any          { panic("not used") }

// result is what a run of a step measures. Speed is the target's in it.
func (g target) result(r *rand.Rand, speed float64) *v1beta1.StepResult {
	const each, sigma = 8, 0.8
	service := g.load * each / g.perSecond / math.Exp(sigma*sigma/2) * speed * g.slower
	free, times := make(servers, each), measure.NewHistogram()
	result := &v1beta1.StepResult{}
	var outstanding measure.Timeline
	var now float64
	left := 0
	for {
		if now += r.ExpFloat64() / g.perSecond; now > g.seconds {
			break
		}
		done := max(now, free[0]) + service*math.Exp(sigma*r.NormFloat64())
		free[0] = done
		heap.Fix(&free, 0)
		slot := g.seconds / measure.TimelineSlots
		for i := int(now / slot); i < measure.TimelineSlots && float64(i+1)*slot <= done; i++ {
			outstanding.Outstanding[i]++
		}
		times.Record(time.Duration((done - now) * float64(time.Second)))
		if result.Sent++; left == 0 && r.Float64() < g.failing/float64(max(g.atOnce, 1)) {
			left = g.atOnce
		}
		if left > 0 {
			left--
			result.Failed++
		}
	}
	result.Due, result.Expected, result.Outcomes.Success = result.Sent, result.Sent-result.Failed, result.Sent-result.Failed
	result.Goodput = fmt.Sprintf("%.3f", float64(result.Expected)/g.seconds)
	result.ResponseTime = latencyOf(times)
	result.Outstanding = &v1beta1.OutstandingResult{Trend: v1beta1.OutstandingSteady}
	if trend.Of(&outstanding, time.Duration(g.seconds)*time.Second, 0, result.Due).Trend == trend.Growing {
		result.Outstanding.Trend = v1beta1.OutstandingGrowing
	}
	return result
}

func latencyOf(h *measure.Histogram) *v1beta1.Latency {
	l := &v1beta1.Latency{Samples: h.Count(), Min: &metav1.Duration{Duration: h.Min()}}
	for _, m := range metric.Quantiles() {
		if d, ok := h.Quantile(m.Times().Share()); ok {
			*m.Times().Field(l) = &metav1.Duration{Duration: d}
		}
	}
	return l
}

// run is a finished LoadTest against the target.
func (g target) run(r *rand.Rand, name string) *v1beta1.LoadTest {
	var steps []v1beta1.StepStatus
	speed := math.Exp(g.noise * r.NormFloat64())
	for repetition := range max(g.repeated, 1) {
		for rung := range g.steps {
			users := int32(100 * (rung + 1))
			s := step(fmt.Sprint(users), int32(rung+1), int32(repetition+1), users, 1)
			s.Result = g.result(r, speed*math.Exp(g.noiseWithin*r.NormFloat64()))
			steps = append(steps, s)
		}
	}
	return finished(name, steps...)
}

// compared is what compare -o json says of two tests.
type compared struct {
	Differences []comparison.Difference
}

func compare(t *testing.T, before, after *v1beta1.LoadTest) (all compared) {
	t.Helper()
	c := comparing(t, before, after)
	data, err := c.JSON()
	must.Succeed(t, err)
	must.Succeed(t, json.Unmarshal(data, &all))
	return all
}

// Of comparisons of runs of one target, at most so many have any mark; what changed is marked in
// most. The figures stand in docs/results/bench-compare.md.
func TestSimulatedComparisons(t *testing.T) {
	const each = 200
	calm := target{load: 0.5, noise: 0.05, failing: 0.01, atOnce: 1, slower: 1, steps: 2, seconds: 20, perSecond: 100}
	for _, tc := range []struct {
		name        string
		edit        func(*target)
		before      func(*target) // what differs before; nil: nothing
		most, least float64       // marked at most, and at least
	}{
		{name: "the same, half busy", most: 0.05},
		{name: "the same, nine tenths busy", edit: func(g *target) { g.load = 0.9 }, most: 0.05},
		{name: "the same, failures in groups of 20", edit: func(g *target) { g.atOnce = 20 }, most: 0.05},
		{name: "the same, 3 repetitions", edit: func(g *target) { g.repeated, g.noise, g.noiseWithin = 3, 0, 0.05 }, most: 0.05},
		{name: "the same, nine tenths busy, 3 repetitions", edit: func(g *target) { g.repeated, g.noise, g.noiseWithin, g.load = 3, 0, 0.05, 0.9 }, most: 0.05},
		{name: "the same, 5 repetitions", edit: func(g *target) { g.repeated, g.noise, g.noiseWithin = 5, 0, 0.05 }, most: 0.05},
		{name: "the same, 5 repetitions, and runs differ by 5 % beside", edit: func(g *target) { g.repeated, g.noiseWithin = 5, 0.02 }, most: 0.2},
		{name: "the same, runs differ by 10 %", edit: func(g *target) { g.noise = 0.1 }, most: 0.05},
		{name: "40 % slower", before: func(g *target) { g.slower = 1 / 1.4 }, least: 0},
		{name: "5 times as slow", edit: func(g *target) { g.load = 0.1 }, before: func(g *target) { g.slower = 1 / 5. }, least: 0.9},
		{name: "20 % slower, 5 repetitions", edit: func(g *target) { g.repeated, g.noise, g.noiseWithin = 5, 0, 0.05 }, before: func(g *target) { g.slower = 1 / 1.2 }, least: 0.5},
		{name: "failures from 1 % to 10 %", before: func(g *target) { g.failing = 0.01 }, edit: func(g *target) { g.failing = 0.1 }, least: 0.4},
	} {
		after := calm
		if tc.edit != nil {
			tc.edit(&after)
		}
		before := after
		if tc.before != nil {
			tc.before(&before)
		}
		r, marked, each := rand.New(rand.NewPCG(1, 2)), 0, each/max(after.repeated, 1)
		for range each {
			for _, d := range compare(t, before.run(r, "v3"), after.run(r, "v4")).Differences {
				if d.Mark != comparison.Unmarked {
					marked++
					break
				}
			}
		}
		rate := float64(marked) / float64(each)
		t.Logf("compare: runs=%q marked=%.2f", tc.name, rate)
		if tc.before == nil && rate > tc.most || tc.before != nil && rate < tc.least {
			t.Errorf("%s: %.2f are marked, want at most %.2f, or at least %.2f", tc.name, rate, tc.most, tc.least)
		}
	}
}
