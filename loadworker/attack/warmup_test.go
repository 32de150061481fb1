package attack

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/loadworker/pace"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
)

// Requests of the warm-up are sent, and no part of the result.
func TestWarmUpIsSentAndNotCounted(t *testing.T) {
	forEachDriver(t, func(t *testing.T, d testDriver) {
		t.Parallel()
		rate, window, warmUp := pace.Rate(10e6), 2*time.Second, 2500*time.Millisecond
		steps := map[string]StepShare{
			"paced":    usersStep(4, PacedUsers{Rate: rate, Duration: window}),
			"arrivals": arrivalsStep(rate, window),
		}
		for name, step := range steps {
			t.Run(name, func(t *testing.T) {
				o := newOracle(t, nil)
				r := d.runner(t, setup{url: o.URL, client: "X-Client", requests: []source.Request{{
					Name: "it", Weight: 1, Method: "GET", Path: "/${seq}", Headers: []source.Header{{Name: "X-Client", Value: "one"}},
				}}})
				step.WarmUp = warmUp
				x := r.Start(step, time.Now())
				got := finish(t, x)
				if q := total(t, got); q.Sent+got.Unsent != 20 || got.Due != 20 || got.Window != window {
					t.Errorf("due %d, sent %d, unsent %d in %v; want 20 in %v", got.Due, q.Sent, got.Unsent, got.Window, window)
				}
				// 25 were due before the window; they and the counted ones have each a
				// number of their own, and the counted ones those that follow.
				served := o.served()
				if n := int64(len(served)); n < total(t, got).Sent || n > 45 {
					t.Errorf("%d served, want 25 more than the %d that count", n, total(t, got).Sent)
				}
				if len(slices.Compact(served)) != len(served) {
					t.Errorf("numbers came twice: %v", served)
				}
				if sent := total(t, got).Sent; sent == 0 {
					t.Error("nothing was sent in the window")
				} else if sum := got.Clients.Ledger("one").Requests(); sum != sent {
					t.Errorf("the ledger has %d, sent is %d", sum, sent)
				}
				if began, ok := x.Began(); !ok || began.Before(x.Start()) || began.After(x.Start().Add(warmUp)) {
					t.Errorf("began at %v, want about the start of the warm-up, %v", began, x.Start())
				}
			})
		}
	})
}

func TestClosedUsersCountFromTheEndOfTheWarmUp(t *testing.T) {
	forEachDriver(t, func(t *testing.T, d testDriver) {
		t.Parallel()
		o := newOracle(t, func(http.ResponseWriter, *http.Request) { <-time.After(20 * time.Millisecond) })
		r := d.runner(t, setup{url: o.URL})
		step := usersStep(3, ClosedUsers{Duration: 2 * time.Second})
		step.WarmUp = 2 * time.Second
		got := drive(t, r, step)
		sent, served := total(t, got).Sent, int64(len(o.served()))
		if sent == 0 || served <= sent || got.Window != 2*time.Second {
			t.Errorf("sent %d of %d served in %v; want those of the last two seconds", sent, served, got.Window)
		}
	})
}

// Errors of the warm-up are no samples, and its requests that are in flight at its
// end are not counted later.
func TestWarmUpFailuresAreNotCounted(t *testing.T) {
	forEachDriver(t, func(t *testing.T, d testDriver) {
		t.Parallel()
		handle, release := hold(t)
		o := newOracle(t, handle)
		r := d.runner(t, setup{url: o.URL, timeout: 300 * time.Millisecond}) // which handshakes take some of
		step := usersStep(2, PacedUsers{Rate: 20e6, Duration: time.Millisecond})
		step.WarmUp = 5 * time.Second
		x := r.Start(step, time.Now())
		got := finish(t, x)
		release()
		if q := total(t, got); q.Sent > 1 || len(o.served()) < 2 {
			t.Errorf("sent %d, served %d; want at most one that counts", q.Sent, len(o.served()))
		}
		for o, text := range got.Errors {
			if total(t, got).Outcomes[o] == 0 {
				t.Errorf("a sample of %v without any: %s", o, text)
			}
		}
	})
}

func TestCutInTheWarmUpCountsNothing(t *testing.T) {
	forEachDriver(t, func(t *testing.T, d testDriver) {
		o := newOracle(t, nil)
		r := d.runner(t, setup{url: o.URL})
		for name, step := range map[string]StepShare{
			"paced":    usersStep(2, PacedUsers{Rate: 100e6, Duration: time.Hour}),
			"closed":   usersStep(2, ClosedUsers{Duration: time.Hour}),
			"arrivals": arrivalsStep(100e6, time.Hour),
		} {
			t.Run(name, func(t *testing.T) {
				before := len(o.served())
				step.WarmUp = time.Hour
				x := r.Start(step, time.Now())
				for deadline := time.After(patience); len(o.served()) == before; {
					select {
					case <-deadline:
						t.Fatal("nothing is sent")
					case <-time.After(time.Millisecond):
					}
				}
				if live := snapshot(t, x); live.Due != 0 || live.Window != 0 {
					t.Errorf("in the warm-up %d are due in a window of %v, want none", live.Due, live.Window)
				}
				x.Cut()
				if got := finish(t, x); got.Due != 0 || got.Window != 0 {
					t.Errorf("due %d in a window of %v, want none", got.Due, got.Window)
				}
			})
		}
	})
}

func TestSharesOfARampAreTogetherTheSchedule(t *testing.T) {
	forEachDriver(t, func(t *testing.T, d testDriver) {
		const workers = 3
		ramp := pace.Ramp{From: 100e6, To: 300e6, Length: 300 * time.Millisecond}
		n := ramp.Before(ramp.Length)
		o := newOracle(t, nil)
		sent, unsent := int64(0), int64(0)
		for w := range int64(workers) {
			r := d.runner(t, setup{url: o.URL})
			got := drive(t, r, StepShare{
				Share: pace.Share{First: w, Stride: workers}.Of(n), Total: n,
				Load: Arrivals{Rate: ramp.From, End: ramp.To, Duration: ramp.Length},
			})
			sent, unsent = sent+total(t, got).Sent, unsent+got.Unsent
		}
		if n != 60 || sent+unsent != n || int64(len(o.served())) != sent {
			t.Errorf("sent %d and unsent %d of %d, served %d; want 60 in all", sent, unsent, n, len(o.served()))
		}
		var want []string
		for i := range n {
			want = append(want, fmt.Sprintf("/%d", i))
		}
		slices.Sort(want)
		if unsent == 0 {
			if diff := cmp.Diff(want, o.served()); diff != "" {
				t.Errorf("served (-want +got):\n%s", diff)
			}
		}
	})
}

func TestPoissonArrivalsFollowTheSeed(t *testing.T) {
	forEachDriver(t, func(t *testing.T, d testDriver) {
		o := newOracle(t, nil)
		r := d.runner(t, setup{url: o.URL, worker: 1})
		step := StepShare{Index: 4, Share: pace.Share{First: 1, Stride: 2}, Load: Arrivals{Rate: 400e6, Duration: 300 * time.Millisecond, Poisson: true}}
		want := pace.NewPoisson(pace.Ramp{From: 400e6, To: 400e6, Length: 300 * time.Millisecond}, 2, 0, 4, 1).Before(time.Hour)
		got := drive(t, r, step)
		if got.Due != want || want < 20 {
			t.Errorf("%d due, the process has %d", got.Due, want)
		}
		if again := drive(t, r, step); again.Due != got.Due {
			t.Errorf("%d due, and then %d with the same seed", got.Due, again.Due)
		}
		step.WarmUp = 100 * time.Millisecond
		if warmed := drive(t, r, step); warmed.Due != got.Due {
			t.Errorf("%d due, and after a warm-up %d", got.Due, warmed.Due)
		}
	})
}
