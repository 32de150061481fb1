package attack

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/pace"
)

func fixed(d time.Duration) pace.Think { return pace.Think{Shortest: d, Longest: d} }

// A user who thinks sends a request each time that latency and think time are over, from
// its place in the first think time on. All together send users / (latency + think) a
// second.
func TestThinkingUsersSendAsManyAsTheyCan(t *testing.T) {
	const users, latency, think, window = 40, 50 * time.Millisecond, 1950 * time.Millisecond, time.Minute
	for _, warmUp := range []time.Duration{0, 10*time.Second + 1} {
		step := usersStep(users, ClosedUsers{Duration: window, Think: fixed(think)})
		step.WarmUp = warmUp
		counted := 0
		for _, r := range simulate(t, step, 0, latency) {
			first := -warmUp + think*time.Duration(r.user)/users
			if want := first + time.Duration(r.k)*(latency+think); r.due != want {
				t.Fatalf("request %d of user %d is due at %v, want %v", r.k, r.user, r.due, want)
			}
			if r.due >= window {
				t.Fatalf("request %d of user %d is due at %v, after the window", r.k, r.user, r.due)
			}
			if r.due >= 0 {
				counted++
			}
		}
		if want := users * int(window/(latency+think)); counted != want {
			t.Errorf("after a warm-up of %v %d requests count, want %d", warmUp, counted, want)
		}
	}
}

func TestThinkTimesOfARangeAreDrawn(t *testing.T) {
	const users, latency, window = 20, 10 * time.Millisecond, 5 * time.Minute
	think := pace.Think{Shortest: 500 * time.Millisecond, Longest: 1500 * time.Millisecond}
	step := usersStep(users, ClosedUsers{Duration: window, Think: think})
	sent := simulate(t, step, 7, latency)
	last := map[int64]simulatedRequest{}
	for _, r := range sent {
		if before, ok := last[r.user]; ok {
			thought := r.due - before.due - latency
			if want := think.Draw(pace.NewDraws(7, 0), r.user, before.k); thought != want {
				t.Fatalf("user %d thinks %v after request %d, want %v", r.user, thought, before.k, want)
			}
		}
		last[r.user] = r
	}
	// A renewal process: n has the mean window/cycle, and the variance window*variance/cycle^3
	// for each user, where a uniform time over 1 s has the variance 1/12.
	cycle := 1.01
	mean := users * window.Seconds() / cycle
	deviation := math.Sqrt(users * window.Seconds() / 12 / (cycle * cycle * cycle))
	if n := float64(len(sent)); math.Abs(n-mean) > 4*deviation+users {
		t.Errorf("%v requests, want %.0f +- %.0f", n, mean, deviation)
	}
}

// The draws depend on nothing but the seed: not on how many workers there are.
func TestThinkTimesFollowTheSeedWhateverTheNumberOfWorkers(t *testing.T) {
	const users = 10
	load := ClosedUsers{Duration: time.Minute, Think: pace.Think{Longest: time.Second}}
	times := func(seed, workers int64) map[string]time.Duration {
		due := map[string]time.Duration{}
		for w := range workers {
			share := pace.Share{First: w, Stride: workers}.Of(users)
			for _, r := range simulate(t, StepShare{Share: share, Total: users, Load: load}, seed, time.Millisecond) {
				due[fmt.Sprintf("user %d, request %d", r.user, r.k)] = r.due
			}
		}
		return due
	}
	one := times(3, 1)
	three := times(3, 3)
	if len(one) < 1000 || len(three) != len(one) {
		t.Fatalf("%d requests of one worker, %d of three", len(one), len(three))
	}
	for request, due := range one {
		if three[request] != due {
			t.Fatalf("%s is due at %v, and with three workers at %v", request, due, three[request])
		}
	}
	same, other := 0, times(4, 1)
	for request, due := range one {
		if other[request] == due {
			same++
		}
	}
	if same > 2*users { // each user's first request is due at the same time
		t.Errorf("%d of %d due times are the same with another seed", same, len(one))
	}
}

func TestABurstThinksBetweenItsRequests(t *testing.T) {
	sent := simulate(t, usersStep(5, Burst{Requests: 3, Limit: time.Second, Think: fixed(time.Minute)}), 0, time.Second)
	if len(sent) != 15 {
		t.Fatalf("%d requests, want 15", len(sent))
	}
	for _, r := range sent {
		if want := time.Duration(r.k) * 61 * time.Second; r.due != want {
			t.Errorf("request %d of user %d is due at %v, want %v", r.k, r.user, r.due, want)
		}
	}
}

// The end of the window ends a user's thoughts: nothing is unsent, and the step does not wait for
// them.
func TestTheEndOfAStepEndsTheThinkTimes(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		o, start := d.oracle(t, nil), time.Now()
		// The first requests are spread over the hour: one is in the window.
		got := drive(t, d.runner(t, setup{url: o.URL}), usersStep(4, ClosedUsers{Duration: 3 * time.Second, Think: fixed(time.Hour)}))
		isSent(t, got, 1, 3*time.Second)
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("the step took %v", took)
		}
	})
}

// Failures that never reached the target are not repeated faster than a user thinks, nor
// than any closed user does.
func TestUsersWhoAreRefusedThink(t *testing.T) {
	think := pace.Think{Shortest: 20 * time.Millisecond, Longest: time.Second}
	c := &closedUsers{users: users{share: all(1), total: 1}, think: think, draws: pace.NewDraws(1, 1)}
	var thinks []time.Duration
	for k := range int64(50) {
		none, thought := c.pause(0, k, measure.Success)
		forced, after := c.pause(0, k, measure.Refused)
		if none != 0 || after != thought || forced+after != max(thought, failedPause) {
			t.Errorf("pause %v and %v, after a refusal %v and %v", none, thought, forced, after)
		}
		thinks = append(thinks, thought)
	}
	if slices.Min(thinks) >= failedPause {
		t.Error("no think time was short enough to tell")
	}
}
