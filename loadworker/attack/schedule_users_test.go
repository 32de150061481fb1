//go:build !race

// Not with the race detector: the same drivers send under it in the tests of series, think times and ramps, for
// a sixth of the time.

package attack

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/pace"
)

// Every driver sends the requests of users in the instants that the feed says. The simulation has the same
// instants without a driver.
func TestUsersSendInTheInstantsOfTheSimulation(t *testing.T) {
	const window = 800 * ms
	for name, step := range map[string]StepShare{
		"closed":                      usersStep(4, ClosedUsers{Duration: window}),
		"closed, with thought":        usersStep(5, ClosedUsers{Duration: window, Think: fixed(100 * ms)}),
		"closed, with drawn thoughts": usersStep(5, ClosedUsers{Duration: window, Think: pace.Think{Shortest: 50 * ms, Longest: 500 * ms}}),
		"a burst":                     usersStep(5, Burst{Requests: 20, Limit: time.Minute}),
		"a burst, with thought":       usersStep(5, Burst{Requests: 3, Limit: time.Hour, Think: fixed(time.Second)}),
		"a ramp up":                   rampStep(RampedUsers{From: 2, To: 10, Each: 5e6, Duration: window}),
		"a ramp down":                 rampStep(RampedUsers{From: 10, To: 2, Each: 5e6, Duration: window}),
		"a ramp up, without a rate":   rampStep(RampedUsers{From: 2, To: 10, Duration: window}),
		"a ramp down, without a rate": rampStep(RampedUsers{From: 10, To: 2, Duration: window}),
		"a ramp up, with thought":     rampStep(RampedUsers{From: 2, To: 10, Duration: window, Think: fixed(70 * ms)}),
	} {
		for _, warmUp := range []time.Duration{0, 300 * ms} {
			if _, burst := step.Load.(Burst); burst && warmUp > 0 {
				continue // it has none
			}
			t.Run(fmt.Sprintf("%s, %v of warm-up", name, warmUp), func(t *testing.T) {
				step := step
				step.WarmUp = warmUp
				plan := simulate(t, step, 0, latency)
				inVirtualTime(t, func(t *testing.T, d testDriver) { sendsAsSimulated(t, d, step, plan) })
			})
		}
	}
}

func sendsAsSimulated(t *testing.T, d testDriver, step StepShare, plan []simulatedRequest) {
	o := d.oracle(t, nil)
	r, start := d.runner(t, setup{url: o.URL}), time.Now().Add(time.Second)
	x := r.Start(step, start)
	got, counted := finish(t, x), int64(0)
	var want, came []time.Duration
	for _, p := range plan {
		want = append(want, p.due)
		if p.due >= 0 {
			counted++
		}
	}
	for _, a := range o.arrivals() {
		came = append(came, a.at.Sub(start)-step.WarmUp)
	}
	slices.Sort(want)
	slices.SortFunc(came, cmp.Compare)
	if diff := gocmp.Diff(want, came); diff != "" {
		t.Errorf("arrived (-want +got):\n%s", diff)
	}
	window := step.Load.length()
	if _, burst := step.Load.(Burst); burst {
		window = want[len(want)-1] + latency // until the last response
	}
	isSent(t, got, counted, window)
	if got.ConnectionsOpened != step.Total {
		t.Errorf("%d connections for %d users", got.ConnectionsOpened, step.Total)
	}
}
