package ratelimiter

import (
	"context"
	"errors"
	"time"
)

// Limiter decides whether a client may be served now. A call that is granted
// takes one token of the client's bucket; a call that is denied, or that
// fails, takes none.
type Limiter interface {
	Take(ctx context.Context, client string) (Decision, error)
}

// Decision is the answer to one request.
type Decision struct {
	Allowed bool
	// Remaining is the number of whole tokens left after this request.
	Remaining int64
	// RetryAfter is how long a denied client has to wait for its next token;
	// zero when the request is allowed.
	RetryAfter time.Duration
}

// ErrContended says that a limiter gave up because other replicas kept changing the
// same bucket. It is no denial: the bucket may well have tokens left, and a denial
// would be false.
var ErrContended = errors.New("bucket contended: every attempt met a concurrent change")

// ErrNotAsked says that the store was not asked, because the last requests to it
// failed. It differs from a failure so that an outage is logged once, and not by
// every request.
var ErrNotAsked = errors.New("store not asked: it failed the requests before")

// Outcome is what one request to the service came to. The set is closed, so
// that it can label a metric.
type Outcome string

const (
	// Granted is a request that took a token.
	Granted Outcome = "granted"
	// Denied is a request that met an empty bucket.
	Denied Outcome = "denied"
	// Unchecked is a request that was granted without its bucket, because the store
	// failed and the failure policy is Open.
	Unchecked Outcome = "unchecked"
	// Failed is a request without a decision: the client could not be identified,
	// or the bucket was contended or unreachable.
	Failed Outcome = "error"
)

// Outcomes returns every outcome.
func Outcomes() []Outcome { return []Outcome{Granted, Denied, Unchecked, Failed} }
