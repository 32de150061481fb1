//go:build !race

package attack

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

// Event loops measure how late they read responses, on one of sixteen connections. Not
// with the race detector, with which no connection is stamped.
func TestEventLoopsMeasureHowLateTheyRead(t *testing.T) {
	forEachDriver(t, func(t *testing.T, d testDriver) {
		o := newOracle(t, nil)
		r := d.runner(t, setup{url: o.URL})
		burst := func() *measure.Measurement {
			return drive(t, r, usersStep(20, Burst{Requests: 20, Limit: time.Minute}))
		}
		// The kernel begins to stamp packets some time after the first socket asks for it.
		for end := scripted.Far(); d.engine == "event loops" && burst().ReadLateness.Count() == 0; {
			if time.Now().After(end) {
				t.Fatal("the kernel does not say when bytes came")
			}
		}
		got := burst()
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
