package attack

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/pace"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

func rampStep(l RampedUsers) StepShare { return usersStep(max(l.From, l.To), l) }

// Without a rate, each user of a ramp is a closed loop for as long as it takes part.
func TestClosedUsersOfARampTakePartForAWhile(t *testing.T) {
	const latency = 30 * time.Millisecond
	for name, load := range map[string]RampedUsers{
		"up":               {From: 2, To: 12, Duration: 5 * time.Second},
		"down":             {From: 12, To: 2, Duration: 5 * time.Second},
		"up, with thought": {From: 2, To: 12, Duration: 5 * time.Second, Think: fixed(70 * time.Millisecond)},
	} {
		for _, warmUp := range []time.Duration{0, time.Second} {
			t.Run(fmt.Sprintf("%s, %v of warm-up", name, warmUp), func(t *testing.T) {
				step := rampStep(load)
				step.WarmUp = warmUp
				cycle, byUser := latency+load.Think.Mean(), map[int64][]time.Duration{}
				for _, r := range simulate(t, step, 0, latency) {
					byUser[r.user] = append(byUser[r.user], r.due)
				}
				for user := range max(load.From, load.To) {
					begin, end := load.ramp().Span(user)
					if user < load.From {
						begin = -warmUp + load.Think.Mean()*time.Duration(user)/time.Duration(load.From)
					}
					var want []time.Duration
					for due := begin; due < end; due += cycle {
						want = append(want, due)
					}
					if !slices.Equal(byUser[user], want) {
						t.Errorf("user %d has requests due at %v, want %v", user, byUser[user], want)
					}
				}
			})
		}
	}
}

// What is sent on a ramp with a rate is known beforehand, and the same whatever the number
// of workers.
func TestSharesOfARampOfUsersAreTogetherTheRamp(t *testing.T) {
	for _, load := range []RampedUsers{
		{From: 3, To: 40, Each: 2e6, Duration: 20 * time.Second},
		{From: 40, To: 3, Each: 2e6, Duration: 20 * time.Second},
		{From: 5, To: 5, Each: 2e6, Duration: 20 * time.Second},
	} {
		times := func(workers int64) (due []string) {
			for w := range workers {
				n := max(load.From, load.To)
				share := pace.Share{First: w, Stride: workers}.Of(n)
				for _, r := range simulate(t, StepShare{Share: share, Total: n, Load: load}, 0, time.Millisecond) {
					due = append(due, fmt.Sprintf("user %d, request %d: %v", r.user, r.k, r.due))
				}
			}
			slices.Sort(due)
			return due
		}
		one, seven := times(1), times(7)
		if !slices.Equal(one, seven) {
			t.Errorf("%+v: seven workers send not what one does", load)
		}
		mean, want := int(load.From+load.To)/2*20*2, 0
		for user := range max(load.From, load.To) {
			want += int(pace.RampedUsers{Ramp: load.ramp(), Each: load.Each}.Before(user, load.Duration))
		}
		if len(one) != want || len(one) < mean-50 || len(one) > mean+50 {
			t.Errorf("%+v: %d requests, want %d, about %d", load, len(one), want, mean)
		}
	}
}

func TestRampOfUsersIsSent(t *testing.T) {
	forEachDriver(t, func(t *testing.T, d testDriver) {
		t.Parallel()
		for name, load := range map[string]RampedUsers{
			"up":   {From: 2, To: 10, Each: 5e6, Duration: 4 * time.Second},
			"down": {From: 10, To: 2, Each: 5e6, Duration: 4 * time.Second},
		} {
			t.Run(name, func(t *testing.T) {
				want := int64(0)
				for user := range max(load.From, load.To) {
					want += pace.RampedUsers{Ramp: load.ramp(), Each: load.Each}.Before(user, load.Duration)
				}
				o := newOracle(t, nil)
				r := d.runner(t, setup{url: o.URL})
				r.Prepare(t.Context(), rampStep(load)) // opens all connections that the ramp will need
				got := drive(t, r, rampStep(load))
				// How many of them are sent within the window is up to the machine; the simulation
				// of the schedule has them all.
				if q := total(t, got); got.Due != want || q.Sent != int64(len(o.served())) || q.Sent < 10 || got.Unsent != want-q.Sent {
					t.Errorf("due %d, sent %d, unsent %d, served %d; want %d due", got.Due, q.Sent, got.Unsent, len(o.served()), want)
				}
				if got.ConnectionsOpened != 10 || got.Window != load.Duration {
					t.Errorf("%d connections, a window of %v", got.ConnectionsOpened, got.Window)
				}
				if served := o.served(); len(slices.Compact(served)) != len(o.served()) {
					t.Error("a number was sent twice")
				}
			})
		}
	})
}

// A user that ends has its request answered, and counted; it sends no more.
func TestAUserThatEndsHasItsRequestAnswered(t *testing.T) {
	forEachDriver(t, func(t *testing.T, d testDriver) {
		t.Parallel()
		handle, release := hold(t)
		o := newOracle(t, handle)
		r := d.runner(t, setup{url: o.URL})
		// The users but the first end after 1/4 and 3/4 of the time.
		const length = 8 * time.Second
		x := r.Start(rampStep(RampedUsers{From: 3, To: 1, Duration: length}), time.Now())
		until(t, x, func(s *measure.Measurement) bool { return s.Window == length })
		release()
		if q := total(t, finish(t, x)); q.Sent != 3 || q.Outcomes[measure.Success] != 3 {
			t.Errorf("sent %d, outcomes %v; want 3 that were answered in the end", q.Sent, outcomes(q))
		}
	})
}

func TestCutEndsARampOfUsers(t *testing.T) {
	forEachDriver(t, func(t *testing.T, d testDriver) {
		for name, load := range map[string]RampedUsers{
			"with a rate":       {From: 1, To: 1000, Each: 10e6, Duration: time.Hour},
			"as replies come":   {From: 1, To: 1000, Duration: time.Hour},
			"users who think":   {From: 1, To: 1000, Duration: time.Hour, Think: fixed(50 * time.Millisecond)},
			"down, with a rate": {From: 10, To: 1, Each: 10e6, Duration: time.Hour},
		} {
			t.Run(name, func(t *testing.T) {
				o := newOracle(t, nil)
				x := d.runner(t, setup{url: o.URL}).Start(rampStep(load), time.Now().Add(50*time.Millisecond))
				until(t, x, func(s *measure.Measurement) bool { return s.Requests[0].Sent >= 3 })
				x.Cut()
				got := finish(t, x)
				q := total(t, got)
				// The target may never have seen what was in flight.
				if lost := q.Sent - int64(len(o.served())); lost < 0 || lost > q.Outcomes[measure.Unfinished] || got.Due < q.Sent || got.Window > patience {
					t.Errorf("due %d, sent %d, served %d, window %v", got.Due, q.Sent, len(o.served()), got.Window)
				}
			})
		}
	})
}
