package attack

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/pace"
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
