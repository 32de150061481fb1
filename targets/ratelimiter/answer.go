package ratelimiter

import (
	"math"
	"strconv"
	"time"
)

// Refusal is the kind of an answer to a request that was not granted. The set is
// closed, so that each protocol has a status for each.
type Refusal int

const (
	// Limited is the refusal of a client whose bucket is empty.
	Limited Refusal = iota + 1
	// Invalid is that of a client which is not properly named.
	Invalid
	// Unavailable is that of a request which could not be decided.
	Unavailable
	// Internal is that of a request which met a fault of the service.
	Internal
)

// Answer is what a request came to, for its sender.
type Answer struct {
	Outcome Outcome
	// Refusal is 0 where the request is granted.
	Refusal  Refusal
	Sentence string
	// Fields tell of the bucket: HTTP sends them as headers, gRPC as trailers.
	Fields []Field
	// Time is when the request came, in whole seconds.
	Time time.Time
}

// Field is a fact about a bucket, by the name of the header in which it is usual.
type Field struct{ Name, Value string }

// hit is the sentence of a request that was granted.
const hit = "Successfully Hit"

func failed(refusal Refusal, sentence string) Answer {
	return Answer{Outcome: Failed, Refusal: refusal, Sentence: sentence}
}

// fields are a decision by the names in wide use (X-RateLimit-*) and by those of
// the IETF draft (RateLimit, RateLimit-Policy).
func (c Contract) fields(d Decision) []Field {
	remaining := strconv.FormatInt(d.Remaining, 10)
	fields := []Field{
		{"X-RateLimit-Limit", strconv.FormatInt(c.Capacity, 10)},
		{"X-RateLimit-Remaining", remaining},
		{"RateLimit-Policy", c.policy()},
	}
	if d.Allowed {
		return append(fields, Field{"RateLimit", `"bucket";r=` + remaining})
	}
	wait := wholeSeconds(d.RetryAfter)
	return append(fields, Field{"RateLimit", `"bucket";r=` + remaining + `;t=` + wait}, Field{"Retry-After", wait})
}

// unchecked states the limit, and that the remaining tokens are unknown.
func (c Contract) unchecked() []Field {
	return []Field{
		{"X-RateLimit-Limit", strconv.FormatInt(c.Capacity, 10)},
		{"X-RateLimit-Unchecked", "store unavailable"},
		{"RateLimit-Policy", c.policy()},
	}
}

func (c Contract) policy() string {
	return `"bucket";q=` + strconv.FormatInt(c.Capacity, 10) + `;w=` + wholeSeconds(c.FillTime())
}

// wholeSeconds rounds up, and never to 0, which clients read as "at once".
func wholeSeconds(d time.Duration) string {
	return strconv.FormatInt(max(1, int64(math.Ceil(d.Seconds()))), 10)
}
