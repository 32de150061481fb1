//go:build !race

package attack

import (
	"math/rand/v2"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
)

// What piles up is the target's if it does so without what the generator kept unsent, too:
// 100 requests are due in a second, of a target that takes that many at once, or 3 % less.
func TestWhoseGrowthItIs(t *testing.T) {
	const window = time.Minute
	rate := v1beta1.NewDecimal("100")
	arrivals := arrivalsStep(100e6, window)
	users := usersStep(100, PacedUsers{Rate: 100e6, Duration: window})
	soon := always(10 * ms)
	queue := func(took time.Duration) func(int, *hit) (time.Duration, int) {
		target := &simulatedTarget{servers: make([]time.Duration, 1), service: func(*rand.Rand) time.Duration { return took }}
		return func(user int, h *hit) (time.Duration, int) { return target.serve(0, user, h) }
	}
	const overloaded = 10300 * time.Microsecond
	laterAndLater := func(t time.Duration) time.Duration { return t + t/300 } // by 200 ms in the end
	busy := lateUntil(window)
	for name, tt := range map[string]struct {
		step           StepShare
		serve          func(int, *hit) (time.Duration, int)
		runs           func(time.Duration) time.Duration
		grows, ideally bool
	}{
		"arrivals, the generator's":              {arrivals, soon, laterAndLater, true, false},
		"arrivals, the target's":                 {arrivals, queue(overloaded), nil, true, true},
		"arrivals, of a busy generator":          {arrivals, queue(overloaded), busy, true, true},
		"arrivals, of both":                      {arrivals, queue(overloaded), laterAndLater, true, true},
		"users, the generator's":                 {users, soon, laterAndLater, true, false},
		"users, the target's":                    {users, queue(overloaded), nil, true, true},
		"users, of a busy generator":             {users, queue(overloaded), busy, true, true},
		"users, of both":                         {users, queue(overloaded), laterAndLater, true, true},
		"users, who nearly all wait":             {users, queue(15 * ms), busy, true, true},
		"users, who wait, and a stop at the end": {users, queue(12 * ms), stillFrom(59*time.Second, window), true, true},
		"of neither":                             {users, queue(9 * ms), busy, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			m, _ := simulated{step: tt.step, serve: tt.serve, runs: tt.runs, timeout: 2 * window}.run(t)
			load := &v1beta1.StepLoad{Rate: &rate, Duration: &metav1.Duration{Duration: window}}
			measured, ideally, unknown := results.Drift(load, m)
			if unknown != "" || measured > 0 != tt.grows || ideally > 0 != tt.ideally {
				t.Errorf("it grows by %.2f/s, and by %.2f/s without the generator: %s", measured, ideally, unknown)
			}
		})
	}
}
