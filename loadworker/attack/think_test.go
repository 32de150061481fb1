package attack

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/pace"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/measure"
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

// The target's own times are the truth: two requests of a user are at least a think time
// apart, and as many are sent as fit.
func TestThinkingUsersWaitAfterTheResponse(t *testing.T) {
	forEachDriver(t, func(t *testing.T, d testDriver) {
		t.Parallel()
		var mu sync.Mutex
		arrived := map[string][]time.Time{}
		o := newOracle(t, func(_ http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			arrived[r.URL.Path] = append(arrived[r.URL.Path], time.Now())
		})
		const users, think, window, warmUp = 5, 100 * time.Millisecond, 3 * time.Second, 2 * time.Second
		r := d.runner(t, setup{url: o.URL, requests: []source.Request{get("/${user}")}})
		step := usersStep(users, ClosedUsers{Duration: window, Think: fixed(think)})
		step.WarmUp = warmUp
		got := drive(t, r, step)
		q := total(t, got)
		if got.Due != q.Sent+got.Unsent || q.Sent == 0 || q.Sent > users*int64(window/think) {
			t.Errorf("due %d, sent %d, unsent %d", got.Due, q.Sent, got.Unsent)
		}
		if got.Window != window || got.ConnectionsOpened != users {
			t.Errorf("a window of %v with %d connections", got.Window, got.ConnectionsOpened)
		}
		mu.Lock()
		defer mu.Unlock()
		if len(arrived) != users || int64(len(o.served())) <= q.Sent {
			t.Errorf("%d users sent %d requests, of which %d count", len(arrived), len(o.served()), q.Sent)
		}
		for user, times := range arrived {
			for i := range times[1:] {
				if apart := times[i+1].Sub(times[i]); apart < think {
					t.Errorf("two requests of user %s are %v apart", user, apart)
				}
			}
		}
	})
}

// The end of the window ends a user's thoughts: nothing is unsent, and the step does not
// wait for them.
func TestTheEndOfAStepEndsTheThinkTimes(t *testing.T) {
	forEachDriver(t, func(t *testing.T, d testDriver) {
		t.Parallel()
		o := newOracle(t, nil)
		r := d.runner(t, setup{url: o.URL})
		start := time.Now()
		got := drive(t, r, usersStep(4, ClosedUsers{Duration: 3 * time.Second, Think: fixed(time.Hour)}))
		// The first requests are spread over the hour: one is in the window.
		if q := total(t, got); got.Due != 1 || q.Sent != 1 || got.Unsent != 0 || len(o.served()) != 1 {
			t.Errorf("due %d, sent %d, unsent %d, served %d; want one", got.Due, q.Sent, got.Unsent, len(o.served()))
		}
		if took := time.Since(start); took >= patience {
			t.Errorf("the step took %v", took)
		}
	})
}

func TestCutEndsTheThinkTimes(t *testing.T) {
	forEachDriver(t, func(t *testing.T, d testDriver) {
		for name, load := range map[string]Load{
			"until the end":     ClosedUsers{Duration: time.Hour, Think: fixed(time.Minute)},
			"requests per user": Burst{Requests: 2, Limit: time.Hour, Think: fixed(time.Minute)},
		} {
			t.Run(name, func(t *testing.T) {
				o := newOracle(t, nil)
				x := d.runner(t, setup{url: o.URL}).Start(usersStep(1, load), time.Now())
				until(t, x, func(s *measure.Measurement) bool { return s.Requests[0].Outcomes[measure.Success] == 1 })
				x.Cut()
				if got := finish(t, x); got.Due != 1 || got.Unsent != 0 {
					t.Errorf("due %d, unsent %d; want one that was sent", got.Due, got.Unsent)
				}
			})
		}
	})
}

// A worker that begins after the window sends nothing: the first requests were due in it,
// all others would have been after a response.
func TestThinkingUsersThatCouldNotSendAreUnsent(t *testing.T) {
	forEachDriver(t, func(t *testing.T, d testDriver) {
		o := newOracle(t, nil)
		r := d.runner(t, setup{url: o.URL})
		x := r.Start(usersStep(10, ClosedUsers{Duration: time.Second, Think: fixed(2 * time.Second)}), time.Now().Add(-2*time.Second))
		got := finish(t, x)
		if got.Due != 5 || got.Unsent != 5 || len(o.served()) != 0 {
			t.Errorf("due %d, unsent %d, served %d; want 5 that were not sent", got.Due, got.Unsent, len(o.served()))
		}
	})
}

// A generator that stands still is late after a think time, and the result says so.
func TestLatenessAfterAThinkTime(t *testing.T) {
	forEachDriver(t, func(t *testing.T, d testDriver) {
		t.Parallel()
		o := newOracle(t, nil)
		r := d.runner(t, setup{url: o.URL})
		x := r.Start(usersStep(4, ClosedUsers{Duration: 4 * time.Second, Think: fixed(200 * time.Millisecond)}), time.Now().Add(-700*time.Millisecond))
		got := finish(t, x)
		// Their first requests were due in the first 150 ms.
		if q := total(t, got); q.Late < 4 || got.Lateness.Max() < 500*time.Millisecond {
			t.Errorf("%d late, at most %v; want the 4 first ones", q.Late, got.Lateness.Max())
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
