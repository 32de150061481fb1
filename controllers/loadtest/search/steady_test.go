package search_test

import (
	"container/heap"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/search"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// outcomeAt is what the operator makes of a rate that three workers send, for a while, to a
// target that is idle at first.
func (p places) outcomeAt(t *testing.T, random *rand.Rand, rate float64, window time.Duration) search.Outcome {
	t.Helper()
	free := make(instants, p.count)
	slot := window.Seconds() / measure.TimelineSlots
	workers := make([]*measure.Measurement, 3)
	for w := range workers {
		workers[w] = measure.NewMeasurement(1)
		workers[w].Window, workers[w].Timeline = window, &measure.Timeline{}
	}
	for n := 0; float64(n)/rate < window.Seconds(); n++ {
		at := float64(n) / rate
		end := max(at, free[0]) + p.service(random)
		free[0] = end
		heap.Fix(&free, 0)
		m := workers[n%len(workers)]
		for i := int(at / slot); i < measure.TimelineSlots && float64(i+1)*slot < end; i++ {
			m.Timeline.Outstanding[i]++
		}
		if i := int(end / slot); i < measure.TimelineSlots {
			m.Timeline.Answered[i]++
		}
		answered(m, seconds(end-at), end < window.Seconds())
	}
	merged := measure.NewMeasurement(1)
	for _, m := range workers {
		must.Succeed(t, merged.Merge(m))
	}
	return judged(t, rate, window, merged)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// answered counts a request that was answered in a time.
func answered(m *measure.Measurement, took time.Duration, inWindow bool) {
	m.Due++
	r := &m.Requests[0]
	r.Due++
	r.Sent++
	r.Expected++
	r.Outcomes[measure.Success]++
	r.Response.Record(took)
	r.Service.Record(took)
	if inWindow {
		r.CompletedInWindow++
		r.ExpectedInWindow++
	}
}

// judged is what the verdict makes of a probe, whose own threshold is so wide that only what
// grows breaches it.
func judged(t *testing.T, rate float64, window time.Duration, merged *measure.Measurement) search.Outcome {
	t.Helper()
	perSecond, most := v1beta1.NewDecimal(strconv.FormatFloat(rate, 'f', 6, 64)), intstr.FromString("3600s")
	lt := &v1beta1.LoadTest{Spec: v1beta1.LoadTestSpec{Requests: []v1beta1.Request{{Name: "a"}}, Thresholds: []v1beta1.Threshold{{Metric: "p95", Max: &most}}}}
	lt.Status.Requests, lt.Status.Workers.Desired = plan.RequestNames(&lt.Spec), 3
	lt.Status.Steps = []v1beta1.StepStatus{{
		Name: "1", State: v1beta1.StepComplete, WorkersReporting: 3,
		Load: v1beta1.StepLoad{Rate: &perSecond, Duration: &metav1.Duration{Duration: window}, Requests: merged.Due},
	}}
	lt.Status.Thresholds = verdict.Thresholds(&lt.Spec, lt.Status.Requests, lt.Status.Steps)
	step := &lt.Status.Steps[0]
	result, err := results.StepResult(lt, step, merged, 0)
	must.Succeed(t, err)
	step.Result = result
	after := verdict.Judge(&lt.Spec, &lt.Status, 0, merged)
	step.ThresholdState, lt.Status.Thresholds = after.Step, after.Thresholds
	switch sustained := verdict.Final(&lt.Spec, &lt.Status).Sustained.Rate; {
	case after.Step == v1beta1.ThresholdFailed:
		return search.Breached
	case sustained != "":
		return search.Kept
	case result.Outstanding.Grows():
		return search.Breached
	}
	t.Logf("%.1f/s for %v is undecided: %+v", rate, window, after.Thresholds)
	return search.Unclear
}

// A search whose threshold is so wide that it is never breached still ends at what the
// target can take: with probes of 5 s and a hold of a minute, by what is outstanding alone.
func TestSimulatedSearchFindsWhatASteadyTargetTakes(t *testing.T) {
	targets := []places{{count: 1, mean: 0.0025, deviation: 1}, {count: 8, mean: 0.02, deviation: 0}, {count: 64, mean: 0.16, deviation: 0.5}}
	const capacity = 400e6
	runs, unsteady, refused, low := simulations(t), 0, 0, 0
	for run := range runs {
		p, random := targets[run%len(targets)], rand.New(rand.NewPCG(7, uint64(run)))
		r := search.Range{Min: 100e6 + random.Int64N(50e6), Max: 1600e6, Precision: 0.05, MaxProbes: search.MaxProbes}
		outcome := func(window time.Duration) func(int64) search.Outcome {
			return func(load int64) search.Outcome {
				found := p.outcomeAt(t, random, float64(load)/1e6, window)
				if found != search.Kept && float64(load) <= 0.9*capacity {
					refused++
				}
				return found
			}
		}
		probes, holds, result := held(t, r, outcome(5*time.Second), outcome(time.Minute))
		for _, sent := range append(probes, holds...) {
			if float64(sent.Load) <= 0.9*capacity {
				low++
			}
		}
		if result.State == search.Found && float64(result.Low) >= 1.03*capacity {
			unsteady++
			t.Logf("run %d: %+v after %s, held %s", run, result, story(probes), story(holds))
		}
	}
	steady := float64(refused) / math.Max(float64(low), 1)
	t.Logf("%d of %d searches with a hold end beyond 1.03 x capacity; %d of %d loads up to 0.9 x capacity, of probes and holds, are refused", unsteady, runs, refused, low)
	fmt.Printf("bench-judgement: unsteady-sustained=%.3f\n", float64(unsteady)/float64(runs))
	fmt.Printf("bench-judgement: steady-refused=%.3f\n", steady)
	if float64(unsteady) > 0.01*float64(runs) || steady > 0.02 {
		t.Errorf("%d of %d searches end beyond 1.03 x capacity; %d of %d loads below 0.9 x capacity are called growing", unsteady, runs, refused, low)
	}
}
