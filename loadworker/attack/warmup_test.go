package attack

import (
	"net/http"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
)

// The ledgers of clients have the requests of the window, and none of the warm-up.
func TestWarmUpIsInNoLedger(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		o := d.oracle(t, nil)
		r := d.runner(t, setup{url: o.URL, client: "X-Client", requests: []source.Request{{
			Name: "it", Weight: 1, Method: "GET", Path: "/${seq}", Headers: []source.Header{{Name: "X-Client", Value: "one"}},
		}}})
		step := arrivalsStep(10e6, 2*time.Second)
		step.WarmUp = time.Second
		got := drive(t, r, step)
		isSent(t, got, 20, 2*time.Second)
		if sum := got.Clients.Ledger("one").Requests(); sum != 20 || len(o.arrivals()) != 30 {
			t.Errorf("the ledger has %d of %d requests, want 20 of 30", sum, len(o.arrivals()))
		}
	})
}

// Errors of the warm-up are no samples, and its requests that are in flight at its end are not
// counted later.
func TestWarmUpFailuresAreNotCounted(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		o := d.oracle(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		step := usersStep(2, PacedUsers{Rate: 20e6, Duration: ms})
		step.WarmUp = 5 * time.Second
		// Each user waits 70 ms for two of its turns, which come every 100 ms.
		got := drive(t, d.runner(t, setup{url: o.URL, timeout: 70 * ms}), step)
		wantUnsent(t, got, ms, 0, map[string]int64{"timeout": 1})
		if len(o.arrivals()) != 101 || len(errorsOf(got)) != 1 {
			t.Errorf("served %d, samples %v; want 101, and one of that which counts", len(o.arrivals()), errorsOf(got))
		}
	})
}

func TestCutInTheWarmUpCountsNothing(t *testing.T) {
	for name, step := range map[string]StepShare{
		"paced":    usersStep(2, PacedUsers{Rate: 100e6, Duration: time.Hour}),
		"closed":   usersStep(2, ClosedUsers{Duration: time.Hour}),
		"arrivals": arrivalsStep(100e6, time.Hour),
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, d testDriver) {
				o := d.oracle(t, nil)
				step := step
				step.WarmUp = time.Hour
				x := d.runner(t, setup{url: o.URL}).Start(step, time.Now())
				<-time.After(time.Second)
				wantUnsent(t, snapshot(t, x), 0, 0, map[string]int64{})
				x.Cut()
				wantUnsent(t, finish(t, x), 0, 0, map[string]int64{})
				if len(o.arrivals()) < 100 {
					t.Errorf("%d served", len(o.arrivals()))
				}
			})
		})
	}
}
