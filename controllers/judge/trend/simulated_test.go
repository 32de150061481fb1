package trend_test

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/controllers/judge/trend"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// target takes 400 requests a second, and works on a number of them at a time.
type target struct {
	slots int
	// times draws a time of service whose mean is 1.
	times func(*rand.Rand) float64
}

const capacity = 400.0

// kinds are the times of service that are tried.
var kinds = map[string]func(*rand.Rand) float64{
	"constant":    func(*rand.Rand) float64 { return 1 },
	"exponential": (*rand.Rand).ExpFloat64,
	"log-normal":  func(r *rand.Rand) float64 { return math.Exp(r.NormFloat64() - 0.5) },
}

// outstanding is what a target that is idle at first leaves unanswered, of requests that
// are due at an even rate, which is so many times what the target can take.
func (s target) outstanding(random *rand.Rand, load float64, window time.Duration) (*measure.Timeline, int64) {
	free := make(instants, s.slots) // when each slot is free again, the earliest first
	apart, service := 1/capacity/load, float64(s.slots)/capacity
	slot := window.Seconds() / measure.TimelineSlots
	t, due := &measure.Timeline{}, int64(0)
	for at := 0.0; at < window.Seconds(); at += apart {
		due++
		end := max(at, free[0]) + service*s.times(random)
		free[0] = end
		heap.Fix(&free, 0)
		for i := int(at / slot); i < len(t.Outstanding) && float64(i+1)*slot < end; i++ {
			t.Outstanding[i]++
		}
	}
	return t, due
}

type instants []float64

func (h instants) Len() int           { return len(h) }
func (h instants) Less(i, j int) bool { return h[i] < h[j] }
func (h instants) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h instants) Push(any)           {}
func (h instants) Pop() any           { return nil }

// growing is the share of steps that are called growing.
func (s target) growing(load float64, window time.Duration, steps int) float64 {
	n := 0
	for step := range steps {
		random := rand.New(rand.NewPCG(uint64(step), uint64(s.slots)))
		if timeline, due := s.outstanding(random, load, window); trend.Of(timeline, window, 0, due).Trend == trend.Growing {
			n++
		}
	}
	return float64(n) / float64(steps)
}

// Below what a target can take, hardly a step is called growing; above it, nearly all are,
// and the closer to it the fewer. The bounds are of all nine targets together; of 40 steps,
// one of them alone is beyond by chance.
func TestSimulatedServersGrowBeyondTheirCapacity(t *testing.T) {
	const steps, chance = 40, 0.1
	for _, window := range []time.Duration{5 * time.Second, 20 * time.Second} {
		for _, tt := range []struct{ load, least, most float64 }{
			{0.7, 0, 0.01},
			{0.9, 0, 0.02},
			{0.97, 0, 0.1},
			{1.03, 0.75, 1},
			{1.10, 0.99, 1},
		} {
			sum := 0.0
			for name, times := range kinds {
				for _, slots := range []int{1, 8, 64} {
					share := target{slots: slots, times: times}.growing(tt.load, window, steps)
					sum += share
					if tt.load < 1 && share > tt.most+chance || tt.load > 1.05 && share < tt.least-chance {
						t.Errorf("%.2f x capacity for %v, %s times, %d slots: %.3f of the steps are called growing", tt.load, window, name, slots, share)
					}
				}
			}
			all := sum / float64(len(kinds)*3)
			t.Logf("%.2f x capacity for %v: %.3f", tt.load, window, all)
			if all < tt.least || all > tt.most {
				t.Errorf("%.2f x capacity for %v: %.3f of all steps are called growing, want %v to %v", tt.load, window, all, tt.least, tt.most)
			}
		}
	}
}

// At 1.01 x capacity, where times of service are constant, the queue is all there is to see.
func TestSimulatedServersGrowJustBeyondTheirCapacity(t *testing.T) {
	for _, slots := range []int{1, 8, 64} {
		if got := (target{slots: slots, times: kinds["constant"]}).growing(1.01, 5*time.Second, 1); got != 1 {
			t.Errorf("%d slots: not called growing", slots)
		}
	}
}
