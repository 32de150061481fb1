package limitertest

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
)

// slow is the contract of the suite: a token in 100 s, so that no token comes
// by itself while a test runs. It takes 5000 s to fill.
var slow = ratelimiter.Contract{Capacity: 50, RefillPerSecond: 0.01}

// Subject is one limiter to be examined, its buckets all unused.
type Subject struct {
	Limiter ratelimiter.Limiter
	// Pass lets time pass for the bucket of a client.
	Pass func(client string, d time.Duration)
	// Lifetime is how long the bucket of a client will still be remembered;
	// zero when it is not stored.
	Lifetime func(client string) time.Duration
}

// Factory returns a subject that keeps the contract.
type Factory func(t *testing.T, c ratelimiter.Contract) Subject

// decisions are the rules that hold as well for a client of a protocol.
var decisions = map[string]func(*testing.T, Subject){
	"a burst is granted its capacity and no more": burst,
	"each grant counts down":                      countsDown,
	"time refills":                                refills,
	"fractions of a token add up":                 fractions,
	"a bucket holds no more than its capacity":    neverAboveCapacity,
	"clients are independent":                     independentClients,
	"a context that has ended takes no token":     endedContext,
}

// Run examines what every strategy keeps when requests come one at a time.
func Run(t *testing.T, create Factory) {
	t.Helper()
	for name, rule := range decisions {
		t.Run(name, func(t *testing.T) { rule(t, create(t, slow)) })
	}
	t.Run("a bucket is remembered until it is full", func(t *testing.T) { remembered(t, create(t, slow)) })
}

// RunFront examines a protocol: create returns the limiter as its client has it,
// by a contract and a clock.
func RunFront(t *testing.T, create func(t *testing.T, c ratelimiter.Contract, now func() time.Time) ratelimiter.Limiter) {
	t.Helper()
	factory := func(t *testing.T, c ratelimiter.Contract) Subject {
		var passed atomic.Int64
		start := time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)
		return Subject{
			Limiter: create(t, c, func() time.Time { return start.Add(time.Duration(passed.Load())) }),
			Pass:    func(_ string, d time.Duration) { passed.Add(int64(d)) },
		}
	}
	for name, rule := range decisions {
		t.Run(name, func(t *testing.T) { rule(t, factory(t, slow)) })
	}
	RunAtomic(t, factory)
}

func burst(t *testing.T, s Subject) {
	want := Tally{Granted: 50, Denied: 150}
	if diff := cmp.Diff(want, Sequential(t, s.Limiter, "client", 200)); diff != "" {
		t.Errorf("tally of 200 requests (-want +got):\n%s", diff)
	}
}

func countsDown(t *testing.T, s Subject) {
	for want := int64(49); want >= 0; want-- {
		d := take(t, s.Limiter, "client")
		if diff := cmp.Diff(ratelimiter.Decision{Allowed: true, Remaining: want}, d); diff != "" {
			t.Fatalf("decision (-want +got):\n%s", diff)
		}
	}
	d := take(t, s.Limiter, "client")
	if d.Allowed || d.Remaining != 0 || d.RetryAfter <= 0 || d.RetryAfter > 100*time.Second {
		t.Errorf("decision of an empty bucket = %+v, want denied with 0 remaining and a wait of at most 100s", d)
	}
}

func refills(t *testing.T, s Subject) {
	Sequential(t, s.Limiter, "client", 50)
	s.Pass("client", 1000*time.Second)
	want := Tally{Granted: 10, Denied: 90}
	if diff := cmp.Diff(want, Sequential(t, s.Limiter, "client", 100)); diff != "" {
		t.Errorf("tally of 100 requests after ten tokens' time (-want +got):\n%s", diff)
	}
}

func fractions(t *testing.T, s Subject) {
	Sequential(t, s.Limiter, "client", 50)
	for _, step := range []struct {
		pass    time.Duration
		allowed bool
	}{
		{40 * time.Second, false}, // 0.4 of a token, which the denial must not throw away
		{70 * time.Second, true},  // 1.1
		{160 * time.Second, true}, // 0.1 + 1.6, of which the grant must leave 0.7
		{0, false},                // 0.7
		{40 * time.Second, true},  // 1.1
	} {
		s.Pass("client", step.pass)
		if d := take(t, s.Limiter, "client"); d.Allowed != step.allowed {
			t.Fatalf("%v later: allowed = %v, want %v", step.pass, d.Allowed, step.allowed)
		}
	}
}

func neverAboveCapacity(t *testing.T, s Subject) {
	take(t, s.Limiter, "client")
	s.Pass("client", time.Hour)
	s.Pass("client", time.Hour)
	want := Tally{Granted: 50, Denied: 10}
	if diff := cmp.Diff(want, Sequential(t, s.Limiter, "client", 60)); diff != "" {
		t.Errorf("tally of 60 requests after a long rest (-want +got):\n%s", diff)
	}
}

func independentClients(t *testing.T, s Subject) {
	Sequential(t, s.Limiter, "greedy", 60)
	want := ratelimiter.Decision{Allowed: true, Remaining: 49}
	if diff := cmp.Diff(want, take(t, s.Limiter, "modest")); diff != "" {
		t.Errorf("decision for another client (-want +got):\n%s", diff)
	}
}

func remembered(t *testing.T, s Subject) {
	take(t, s.Limiter, "client")
	fill, got := slow.FillTime(), s.Lifetime("client")
	if got <= fill || got > 2*fill {
		t.Errorf("lifetime = %v, want more than the %v it takes to fill and at most twice that", got, fill)
	}
	if got := s.Lifetime("stranger"); got != 0 {
		t.Errorf("lifetime of a client never seen = %v, want 0", got)
	}
}

func endedContext(t *testing.T, s Subject) {
	if _, err := s.Limiter.Take(endedCtx(t), "client"); err == nil {
		t.Error("no error")
	}
	want := ratelimiter.Decision{Allowed: true, Remaining: 49}
	if diff := cmp.Diff(want, take(t, s.Limiter, "client")); diff != "" {
		t.Errorf("the next decision (-want +got):\n%s", diff)
	}
}
