package ratelimiter_test

import (
	"math/rand/v2"
	"testing"
	"testing/quick"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

var epoch = time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)

func TestDecisionsAreAnsweredAndCounted(t *testing.T) {
	contract := ratelimiter.Contract{Capacity: 50, RefillPerSecond: 10}
	at := func(d time.Duration) time.Time { return epoch.Add(d) }
	tests := map[string]struct {
		bucket   ratelimiter.Bucket
		now      time.Time
		want     ratelimiter.Bucket
		decision ratelimiter.Decision
	}{
		"a new client": {
			bucket:   contract.Full(at(0)),
			now:      at(0),
			want:     ratelimiter.Bucket{Tokens: 49, Last: at(0)},
			decision: ratelimiter.Decision{Allowed: true, Remaining: 49},
		},
		"the last token": {
			bucket:   ratelimiter.Bucket{Tokens: 1, Last: at(0)},
			now:      at(0),
			want:     ratelimiter.Bucket{Tokens: 0, Last: at(0)},
			decision: ratelimiter.Decision{Allowed: true},
		},
		"empty": {
			bucket:   ratelimiter.Bucket{Tokens: 0, Last: at(0)},
			now:      at(0),
			want:     ratelimiter.Bucket{Tokens: 0, Last: at(0)},
			decision: ratelimiter.Decision{RetryAfter: 100 * time.Millisecond},
		},
		"half a token is kept": {
			bucket:   ratelimiter.Bucket{Tokens: 0, Last: at(0)},
			now:      at(50 * time.Millisecond),
			want:     ratelimiter.Bucket{Tokens: 0.5, Last: at(50 * time.Millisecond)},
			decision: ratelimiter.Decision{RetryAfter: 50 * time.Millisecond},
		},
		"and becomes a whole one": {
			bucket:   ratelimiter.Bucket{Tokens: 0.5, Last: at(50 * time.Millisecond)},
			now:      at(100 * time.Millisecond),
			want:     ratelimiter.Bucket{Tokens: 0, Last: at(100 * time.Millisecond)},
			decision: ratelimiter.Decision{Allowed: true},
		},
		"never above the capacity": {
			bucket:   ratelimiter.Bucket{Tokens: 30, Last: at(0)},
			now:      at(time.Hour),
			want:     ratelimiter.Bucket{Tokens: 49, Last: at(time.Hour)},
			decision: ratelimiter.Decision{Allowed: true, Remaining: 49},
		},
		"a clock that runs backwards refills nothing and takes nothing": {
			bucket:   ratelimiter.Bucket{Tokens: 2, Last: at(time.Hour)},
			now:      at(0),
			want:     ratelimiter.Bucket{Tokens: 1, Last: at(time.Hour)},
			decision: ratelimiter.Decision{Allowed: true, Remaining: 1},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			bucket, decision := contract.Take(tc.bucket, tc.now)
			same.As(t, "bucket", tc.want, bucket)
			same.As(t, "decision", tc.decision, decision)
		})
	}
}

// Whatever the contract and however the clock jumps, a client is never granted
// more than its capacity and the refill of the time that really passed.
func TestGrantsStayWithinContract(t *testing.T) {
	property := func(seed uint64, capacity uint8, refill uint8) bool {
		random := rand.New(rand.NewPCG(seed, 0))
		contract := ratelimiter.Contract{Capacity: int64(capacity) + 1, RefillPerSecond: float64(refill) + 0.5}
		latest, granted := epoch, 0
		bucket := contract.Full(epoch)
		for range 500 {
			now := latest.Add(time.Duration(random.Int64N(int64(200*time.Millisecond))) - 50*time.Millisecond)
			if now.After(latest) {
				latest = now
			}
			var decision ratelimiter.Decision
			if bucket, decision = contract.Take(bucket, now); decision.Allowed {
				granted++
			}
		}
		// The bound of the contract, with room for the rounding of 500 sums.
		bound := float64(contract.Capacity) + contract.RefillPerSecond*latest.Sub(epoch).Seconds() + 1e-6
		return float64(granted) <= bound
	}
	must.Report(t, "Check", quick.Check(property, nil))
}

// A denied client that waits for its RetryAfter is granted.
func TestRetryAfterIsEnough(t *testing.T) {
	for _, refill := range []float64{0.25, 1, 3, 7, 10, 64} {
		contract := ratelimiter.Contract{Capacity: 1, RefillPerSecond: refill}
		bucket, denied := contract.Take(ratelimiter.Bucket{Last: epoch}, epoch)
		if denied.Allowed {
			t.Fatalf("refill %v: an empty bucket granted", refill)
		}
		if _, decision := contract.Take(bucket, epoch.Add(denied.RetryAfter)); !decision.Allowed {
			t.Errorf("refill %v: still denied after %v", refill, denied.RetryAfter)
		}
	}
}
