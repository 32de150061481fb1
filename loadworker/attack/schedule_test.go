package attack

import (
	"cmp"
	"fmt"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/pace"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// The workers of a step together send its schedule: each request once, in the instant in which it
// is due, and no other. What is due before the window is sent, and not counted.
func TestScheduleIsSentInTheInstantsInWhichItIsDue(t *testing.T) {
	for name, tt := range map[string]struct {
		load    Load
		users   int64 // 0: arrivals
		workers int64
		warmUp  time.Duration
		due     interface{ Due(int64) time.Duration }
		before  int64 // the window
		n       int64 // in it
	}{
		"paced users":               {PacedUsers{Rate: 30e6, Duration: 4 * time.Second}, 7, 2, 0, pace.Rate(30e6), 0, 120},
		"users, after a warm-up":    {PacedUsers{Rate: 10e6, Duration: 2 * time.Second}, 4, 1, 2500 * ms, pace.Rate(10e6), 25, 20},
		"arrivals":                  {Arrivals{Rate: 37_500_000, Duration: 6 * time.Second}, 0, 3, 0, pace.Rate(37_500_000), 0, 225},
		"arrivals, after a warm-up": {Arrivals{Rate: 10e6, Duration: 2 * time.Second}, 0, 1, 2500 * ms, pace.Rate(10e6), 25, 20},
		"a ramp":                    {Arrivals{Rate: 100e6, End: 300e6, Duration: 300 * ms}, 0, 3, 0, pace.Ramp{From: 100e6, To: 300e6, Length: 300 * ms}, 0, 60},
	} {
		t.Run(name, func(t *testing.T) {
			each := inVirtualTime
			if tt.users == 0 {
				each = arrivalsInVirtualTime
			}
			each(t, func(t *testing.T, d testDriver) {
				o, start := d.oracle(t, nil), time.Now().Add(time.Second)
				merged := measure.NewMeasurement(1)
				var runs []*Execution
				for w := range tt.workers {
					total := cmp.Or(tt.users, tt.n)
					step := StepShare{Share: pace.Share{First: w, Stride: tt.workers}.Of(total), Total: total, WarmUp: tt.warmUp, Load: tt.load}
					runs = append(runs, d.runner(t, setup{url: o.URL, worker: int32(w)}).Start(step, start))
				}
				for _, x := range runs {
					must.Succeed(t, merged.Merge(finish(t, x)))
					if began, ok := x.Began(); !ok || !began.Equal(start) {
						t.Errorf("began at %v, want %v", began, start)
					}
				}
				isSent(t, merged, tt.n, tt.load.length())
				o.isOnTime(t, tt.before+tt.n, func(seq int64) time.Time { return start.Add(tt.due.Due(seq)) })
			})
		})
	}
}

// isSent checks that all that was due in a window was sent in the instant, and answered after the
// oracle's latency.
func isSent(t *testing.T, s *measure.Measurement, n int64, window time.Duration) {
	t.Helper()
	q := total(t, s)
	got := []any{s.Due, s.Unsent, outcomes(q), q.Expected, s.Lateness.Max(), s.Window, latencies(q.Response), latencies(q.Service)}
	want := []any{n, int64(0), map[string]int64{"success": n}, n, time.Duration(0), window, "5ms", "5ms"}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("due, unsent, outcomes, expected, lateness, window, response and service times (-want +got):\n%s", diff)
	}
}

// latencies are the times of a histogram, which rounds to a thousandth.
func latencies(h *measure.Histogram) string {
	unit := ms
	if h.Max() >= time.Second {
		unit *= 100
	}
	least, most := h.Min().Round(unit), h.Max().Round(unit)
	if least == most {
		return fmt.Sprint(least)
	}
	return fmt.Sprint(least, " to ", most)
}
