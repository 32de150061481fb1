package ratelimiter

import "time"

// Bucket is the state of one client's token bucket: it held Tokens at the
// instant Last. The fraction of a token counts; without it a bucket that is
// asked often would never refill.
type Bucket struct {
	Tokens float64
	Last   time.Time
}

// Full is the bucket of a client that has not been seen before.
func (c Contract) Full(now time.Time) Bucket {
	return Bucket{Tokens: float64(c.Capacity), Last: now}
}

// Take settles one request against b at the instant now, and returns the bucket
// that is left. With capacity C, refill r and the bucket (tokens, last):
//
//	available = min(C, tokens + r * max(0, now - last))
//	allowed   = available >= 1
//	left      = available - 1 if allowed, else available
//
// Replicas' clocks disagree, and a clock may be set back: time that seems to
// run backwards refills nothing, and Last never decreases, since the next
// request would otherwise be refilled for the same time twice.
func (c Contract) Take(b Bucket, now time.Time) (Bucket, Decision) {
	if now.Before(b.Last) {
		now = b.Last
	}
	available := min(float64(c.Capacity), b.Tokens+c.RefillPerSecond*now.Sub(b.Last).Seconds())
	allowed := available >= 1
	if allowed {
		available--
	}
	return Bucket{Tokens: available, Last: now}, c.Decide(allowed, available)
}
