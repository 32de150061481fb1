package memory

import (
	"sync"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter/limitertest"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// clock stands still until it is moved.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func TestLimiterKeepsTheContract(t *testing.T) {
	factory := func(_ *testing.T, c ratelimiter.Contract) limitertest.Subject {
		clk := &clock{now: time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)}
		return limitertest.Subject{Limiter: New(c, clk.Now), Pass: func(_ string, d time.Duration) { clk.pass(d) }}
	}
	limitertest.RunAtomic(t, factory)
}

func TestTokensComeBack(t *testing.T) {
	clk := &clock{now: time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)}
	l := New(ratelimiter.Contract{Capacity: 50, RefillPerSecond: 10}, clk.Now)
	limitertest.Sequential(t, l, "client", 60)
	clk.pass(time.Second)
	want := limitertest.Tally{Granted: 10, Denied: 10}
	same.As(t, "tally a second later", want, limitertest.Sequential(t, l, "client", 20))
}

func TestRacyLimiterGrantsTooMuch(t *testing.T) {
	l := NewRacy(ratelimiter.Contract{Capacity: 50, RefillPerSecond: 0.01}, time.Now, time.Millisecond)
	if got := limitertest.Burst(t, l, "client"); got.Granted <= 50 {
		t.Errorf("%d of 200 requests were granted, want more than the 50 of the contract", got.Granted)
	}
}
