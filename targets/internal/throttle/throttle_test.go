package throttle

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// clock is set by the test.
type clock struct{ at time.Time }

func newClock() *clock { return &clock{at: time.Unix(1_700_000_000, 0)} }

func (c *clock) now() time.Time          { return c.at }
func (c *clock) advance(d time.Duration) { c.at = c.at.Add(d) }

func newThrottle(t *testing.T, c Config) *Throttle {
	t.Helper()
	throttle, err := New(c)
	must.Succeed(t, err)
	return throttle
}

// granted asks n times and returns how often the answer was yes.
func granted(throttle *Throttle, client string, n int) (yes int) {
	for range n {
		if ok, _ := throttle.Allow(client); ok {
			yes++
		}
	}
	return yes
}

func TestBucketsGrantBurstsAndRefill(t *testing.T) {
	type step struct {
		After  time.Duration
		Client string
		OK     bool
		Retry  time.Duration
	}
	tests := map[string]struct {
		perSecond float64
		burst     int
		want      []step
	}{
		"burst, then the rate": {perSecond: 4, burst: 2, want: []step{
			{Client: "a", OK: true},
			{Client: "a", OK: true},
			{Client: "a", Retry: 250 * time.Millisecond},
			{After: 100 * time.Millisecond, Client: "a", Retry: 150 * time.Millisecond},
			{After: 150 * time.Millisecond, Client: "a", OK: true},
			{Client: "a", Retry: 250 * time.Millisecond},
		}},
		"a full bucket does not overflow": {perSecond: 1, burst: 1, want: []step{
			{Client: "a", OK: true},
			{After: time.Hour, Client: "a", OK: true},
			{Client: "a", Retry: time.Second},
		}},
		"each client has its own": {perSecond: 1, burst: 1, want: []step{
			{Client: "a", OK: true},
			{Client: "b", OK: true},
			{Client: "a", Retry: time.Second},
			{Client: "b", Retry: time.Second},
		}},
		"a rate below one per second": {perSecond: 0.1, burst: 1, want: []step{
			{Client: "a", OK: true},
			{Client: "a", Retry: 10 * time.Second},
		}},
		"a wait longer than a Duration": {perSecond: 1e-12, burst: 1, want: []step{
			{Client: "a", OK: true},
			{Client: "a", Retry: math.MaxInt64},
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			clock := newClock()
			throttle := newThrottle(t, Config{PerSecond: tt.perSecond, Burst: tt.burst, Now: clock.now})
			var got []step
			for _, s := range tt.want {
				clock.advance(s.After)
				s.OK, s.Retry = throttle.Allow(s.Client)
				got = append(got, s)
			}
			same.As(t, "answers", tt.want, got)
		})
	}
}

// A client that waits for its RetryAfter is allowed, at any rate.
func TestRetryAfterIsEnough(t *testing.T) {
	for _, perSecond := range []float64{0.3, 1, 3, 7, 99, 100, 12345.678} {
		clock := newClock()
		throttle := newThrottle(t, Config{PerSecond: perSecond, Burst: 5, Now: clock.now})
		granted(throttle, "a", 5)
		for i := range 100 {
			ok, retryAfter := throttle.Allow("a")
			if ok {
				t.Fatalf("%v/s: an empty bucket granted a token", perSecond)
			}
			clock.advance(retryAfter)
			if ok, again := throttle.Allow("a"); !ok {
				t.Fatalf("%v/s, round %d: wait %v, then %v more", perSecond, i, retryAfter, again)
			}
		}
	}
}

// New clients come without end; a client that goes on asking is neither refused nor
// given a new bucket, and a new client gets its whole burst.
func TestFullTable(t *testing.T) {
	const clients, burst = 8, 10
	clock := newClock()
	throttle := newThrottle(t, Config{PerSecond: 1, Burst: burst, Clients: clients, Now: clock.now})
	active := granted(throttle, "active", burst)
	for i := range 100 * clients {
		if got := granted(throttle, fmt.Sprintf("new-%d", i), burst+1); got != burst {
			t.Fatalf("new client %d was granted %d requests, want %d", i, got, burst)
		}
		active += granted(throttle, "active", 1)
	}
	if active != burst {
		t.Errorf("the active client was granted %d requests in no time, want %d", active, burst)
	}
	same.As(t, "clients in the table", clients, throttle.buckets.Len())
}

func TestLeastRecentlyUsedClientIsEvicted(t *testing.T) {
	throttle := newThrottle(t, Config{PerSecond: 1, Burst: 1, Clients: 2, Now: newClock().now})
	var got []bool
	for _, client := range []string{"a", "b", "a", "c", "a", "b"} {
		ok, _ := throttle.Allow(client)
		got = append(got, ok)
	}
	// The third request is refused and makes its client the most recent; c replaces
	// b, which is new again at the end.
	want := []bool{true, true, false, true, false, true}
	same.As(t, "answers", want, got)
}

func TestConcurrentClientsShareOneBucket(t *testing.T) {
	const burst = 100
	throttle := newThrottle(t, Config{PerSecond: 1, Burst: burst, Now: newClock().now})
	var yes atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { yes.Add(int64(granted(throttle, "a", burst))) })
	}
	wg.Wait()
	same.As(t, fmt.Sprintf("granted of %d requests in no time", 8*burst), burst, yes.Load())
}

func TestNewRefuses(t *testing.T) {
	tests := map[string]struct {
		config Config
		want   []string
	}{
		"no rate":        {config: Config{Burst: 1}, want: []string{"rate limit is 0 requests per second: use a number above 0"}},
		"no number":      {config: Config{PerSecond: math.NaN(), Burst: 1}, want: []string{"rate limit is NaN"}},
		"no end":         {config: Config{PerSecond: math.Inf(1), Burst: 1}, want: []string{"rate limit is +Inf"}},
		"no burst":       {config: Config{PerSecond: 1}, want: []string{"burst of the rate limit is 0: use 1 or more"}},
		"fewer than one": {config: Config{PerSecond: 1, Burst: 1, Clients: -1}, want: []string{"keeps -1 clients"}},
		"all at once":    {config: Config{PerSecond: -1, Burst: -1, Clients: -1}, want: []string{"rate limit is -1", "burst", "clients"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := New(tt.config)
			if err == nil {
				t.Fatal("accepted")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
		})
	}
}

func TestDefaults(t *testing.T) {
	throttle := newThrottle(t, Config{PerSecond: 1, Burst: 1})
	if ok, _ := throttle.Allow("a"); !ok {
		t.Error("the first request was denied by the machine's clock")
	}
	for i := range DefaultClients {
		throttle.Allow(strconv.Itoa(i))
	}
	same.As(t, "clients in the table", DefaultClients, throttle.buckets.Len())
}
