//go:build !race

// Not with the race detector: sessions of the same drivers that are cut, redirected or not answered run under it.

package attack

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// The target counts what the report counts, by request and by journey, and the first request of each
// session comes in the very instant in which it is due.
func TestSessionsAreThoseThatTheTargetSees(t *testing.T) {
	const rate, window, between = 50e6, 2 * time.Second, 20 * ms
	for name, tt := range map[string]struct {
		change                          func(*market, *setup)
		warmUp                          time.Duration
		due, started, completed, failed int64
		sent                            string
		times                           string
	}{
		"whole": {due: 100, started: 100, completed: 100, sent: "[100 200 100 0]", times: "20ms"},
		"with waits of no time": {change: func(_ *market, c *setup) {
			j := &c.journeys[0]
			j.Steps = slices.Insert(j.Steps, 1, source.JourneyStep{Think: fixed(0)})
		}, due: 100, started: 100, completed: 100, sent: "[100 200 100 0]", times: "20ms"},
		// Nothing that is due at the end of the window, or later, is sent.
		"longer than the step": {change: func(_ *market, c *setup) {
			j := &c.journeys[0]
			j.Steps = slices.Insert(j.Steps, 1, source.JourneyStep{Think: fixed(window)})
		}, due: 100, started: 100, sent: "[100 0 0 0]", times: "0s"},
		// A session that comes in the last second does not get to its last request, which is due 1 s later.
		"cut by the end of the step": {change: func(_ *market, c *setup) {
			j := &c.journeys[0]
			j.Steps = slices.Insert(j.Steps, 2, source.JourneyStep{Think: fixed(990 * ms)})
		}, due: 100, started: 100, completed: 50, sent: "[100 200 50 0]", times: "1s"},
		"beside single requests": {change: func(_ *market, c *setup) { c.requests[3].Weight = 1 },
			due: 50, started: 50, completed: 50, sent: "[50 100 50 50]", times: "20ms"},
		"whose request fails": {change: func(m *market, _ *setup) {
			m.fail = func(path, account string) int {
				if path == "/add" && account == "user3" {
					return http.StatusServiceUnavailable
				}
				return 0
			}
		}, due: 100, started: 100, completed: 90, failed: 10, sent: "[100 190 90 0]", times: "20ms"},
		// The sessions of the warm-up send nothing that counts, as they take 20 ms.
		"after a warm-up": {warmUp: 500 * ms, due: 100, started: 100, completed: 100, sent: "[100 200 100 0]", times: "20ms"},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, d testDriver) {
				m := newMarket()
				o := d.oracle(t, slow(m.ServeHTTP))
				c := buying(t, o.URL, 10)
				if tt.change != nil {
					tt.change(m, &c)
				}
				step := arrivalsStep(rate, window)
				step.WarmUp = tt.warmUp
				x := d.runner(t, c).Start(step, time.Now().Add(time.Second))
				start := x.start
				s := finish(t, x)
				m.check(t)
				j := &s.Journeys[0]
				if j.Due != tt.due || j.Started != tt.started || j.Completed != tt.completed || j.Failed != tt.failed {
					t.Errorf("%d due, %d started, %d completed, %d failed; want %d, %d, %d, %d", j.Due, j.Started, j.Completed, j.Failed, tt.due, tt.started, tt.completed, tt.failed)
				}
				if want := (measure.Sessions{Due: 100, Started: 100}); s.Sessions != want {
					t.Errorf("sessions are %+v, want %+v", s.Sessions, want)
				}
				if got := fmt.Sprint(sent(s)); got != tt.sent || fmt.Sprint(dueOf(s)) != tt.sent || s.Unsent != 0 || latencies(j.Time) != tt.times {
					t.Errorf("sent %s, due %v, %d unsent, in %s; want %s in %s", got, dueOf(s), s.Unsent, latencies(j.Time), tt.sent, tt.times)
				}
				warmed := int64(tt.warmUp / between)
				if tt.warmUp == 0 {
					if got := fmt.Sprint([]int64{m.hits["/login"], m.hits["/add"], m.hits["/buy"], m.hits["/health"]}); got != tt.sent {
						t.Errorf("the target had %s, want %s", got, tt.sent)
					}
				}
				var want []time.Time
				for n := -warmed; n < 100; n++ {
					want = append(want, start.Add(time.Duration(n)*between))
				}
				came := append(o.cameTo("/login"), o.cameTo("/health")...)
				slices.SortFunc(came, time.Time.Compare)
				same.As(t, "sessions came at", want, came)
				if sum := x.Series(s.Due).Points; sum[0].Due+sum[1].Due != s.Due || sum[0].Due != sum[0].Sent {
					t.Errorf("%d and %d are due in each second, %d in all; %d are sent in the first", sum[0].Due, sum[1].Due, s.Due, sum[0].Sent)
				}
			})
		})
	}
}
