//go:build !race

package attack

import (
	"testing"
	"time"
)

// Event loops measure how late they read responses, on one of sixteen connections. Not
// with the race detector, with which no connection is stamped.
func TestEventLoopsMeasureHowLateTheyRead(t *testing.T) {
	forEachDriver(t, func(t *testing.T, d testDriver) {
		o := newOracle(t, nil)
		r := d.runner(t, setup{url: o.URL})
		// The kernel begins to stamp packets soon after the first socket asks for it.
		drive(t, r, usersStep(20, Burst{Requests: 20, Limit: time.Minute}))
		got := drive(t, r, usersStep(20, Burst{Requests: 20, Limit: time.Minute}))
		n, sent := got.ReadLateness.Count(), total(t, got).Sent
		if d.engine == "event loops" {
			if n == 0 || n > sent/4 {
				t.Errorf("known of %d of %d responses, want of a few", n, sent)
			}
		} else if n != 0 {
			t.Errorf("known of %d responses, want of none", n)
		}
	})
}
