//go:build !race

// The race detector does not take simulations: see simulated_step_test.go.

package attack

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Of requests that the target takes equally long for, one with a timeout of its own ends at
// that, and the others are answered. The step waits at its end for the longest.
func TestARequestEndsAtItsOwnTimeout(t *testing.T) {
	const took, own = 2 * time.Second, 500 * time.Millisecond
	for name, load := range map[string]StepShare{
		"users":    usersStep(4, ClosedUsers{Duration: 10 * time.Second}),
		"arrivals": arrivalsStep(20e6, 10*time.Second),
	} {
		t.Run(name, func(t *testing.T) {
			m, ends := simulated{step: load, own: []time.Duration{own, 0}, serve: always(took)}.run(t)
			short, long := &m.Requests[0], &m.Requests[1]
			if short.Sent == 0 || short.Outcomes[measure.Timeout] != short.Sent {
				t.Errorf("%d of %d ended at the timeout of their own", short.Outcomes[measure.Timeout], short.Sent)
			}
			if long.Sent == 0 || long.Outcomes[measure.Success] != long.Sent {
				t.Errorf("%d of %d were answered within the target's timeout", long.Outcomes[measure.Success], long.Sent)
			}
			for _, e := range ends {
				if got, want := e.received-e.sent, []time.Duration{own, took}[e.request]; got != want {
					t.Fatalf("request %d ended after %v, want %v", e.request, got, want)
				}
			}
		})
	}
}

// A step waits at its end for as long as a request may take, and no longer.
func TestAStepWaitsForTheLongestTimeout(t *testing.T) {
	for name, tt := range map[string]struct {
		target time.Duration
		own    []time.Duration
		want   time.Duration
	}{
		"longer than the target's":  {time.Second, []time.Duration{0, 5 * time.Second}, 5 * time.Second},
		"shorter than the target's": {20 * time.Second, []time.Duration{time.Second, 2 * time.Second}, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			s := simulated{step: usersStep(1, Burst{Requests: 2, Limit: time.Minute}), timeout: tt.target, own: tt.own, serve: always(time.Hour)}
			_, ends := s.run(t)
			if got := ends[1].received - ends[1].sent; got != tt.want {
				t.Errorf("the last request ended after %v, want %v", got, tt.want)
			}
			x := s.execution(t, 0, time.Now())
			if got := x.runner.config.longest(); got != tt.want {
				t.Errorf("the longest timeout is %v, want %v", got, tt.want)
			}
		})
	}
}
