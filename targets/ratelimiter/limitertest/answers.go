package limitertest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
)

// Func is a limiter that is one function.
type Func func(context.Context, string) (ratelimiter.Decision, error)

// Take calls the function.
func (f Func) Take(ctx context.Context, client string) (ratelimiter.Decision, error) {
	return f(ctx, client)
}

// Decide is a limiter that decides the same for all.
func Decide(d ratelimiter.Decision, err error) Func {
	return func(context.Context, string) (ratelimiter.Decision, error) { return d, err }
}

// Answer is what a front says of a decision, over whichever protocol.
type Answer struct {
	Limiter Func
	Policy  ratelimiter.FailurePolicy
	// Client is what X-Forwarded-For says.
	Client string
	// Status is that of HTTP.
	Status int
	// Headers are those of HTTP in lower case, and the trailers of gRPC.
	Headers map[string]string
	// Error is the sentence, but of what is granted.
	Error   string
	Outcome ratelimiter.Outcome
}

// Answers are all of them, by a limit of 50 tokens that refill in 5 s, and a pause of 3 s when
// there is no store.
func Answers() map[string]Answer {
	contended := Decide(ratelimiter.Decision{}, fmt.Errorf("take after 10 retries: %w", ratelimiter.ErrContended))
	gone := Decide(ratelimiter.Decision{}, errors.New("dial redis:6379: password hunter2"))
	const tryAgain = "rate limiter contended: try again"
	return map[string]Answer{
		"granted": {
			Limiter: Decide(ratelimiter.Decision{Allowed: true, Remaining: 49}, nil), Status: 200, Outcome: ratelimiter.Granted,
			Headers: map[string]string{"x-ratelimit-limit": "50", "x-ratelimit-remaining": "49", "ratelimit-policy": `"bucket";q=50;w=5`, "ratelimit": `"bucket";r=49`},
		},
		"denied": {
			Limiter: Decide(ratelimiter.Decision{RetryAfter: 2100 * time.Millisecond}, nil), Status: 429, Error: "rate limit exceeded", Outcome: ratelimiter.Denied,
			Headers: map[string]string{"x-ratelimit-limit": "50", "x-ratelimit-remaining": "0", "retry-after": "3", "ratelimit-policy": `"bucket";q=50;w=5`, "ratelimit": `"bucket";r=0;t=3`},
		},
		"contended is not denied":                  {Limiter: contended, Status: 503, Error: tryAgain, Outcome: ratelimiter.Failed},
		"contended is not granted, even when open": {Limiter: contended, Policy: ratelimiter.Open, Status: 503, Error: tryAgain, Outcome: ratelimiter.Failed},
		"no store fails closed, and says nothing of it": {
			Limiter: gone, Status: 503, Error: "rate limiter unavailable: its store does not answer", Outcome: ratelimiter.Failed,
			Headers: map[string]string{"retry-after": "3"},
		},
		"no store fails open, and says so": {
			Limiter: gone, Policy: ratelimiter.Open, Status: 200, Outcome: ratelimiter.Unchecked,
			Headers: map[string]string{"x-ratelimit-limit": "50", "ratelimit-policy": `"bucket";q=50;w=5`, "x-ratelimit-unchecked": "store unavailable"},
		},
		"a panic is counted": {
			Limiter: func(context.Context, string) (ratelimiter.Decision, error) { panic("boom") },
			Status:  500, Error: "internal error", Outcome: ratelimiter.Failed,
		},
		"a client without a proper name": {
			Limiter: func(context.Context, string) (ratelimiter.Decision, error) { panic("asked") }, Client: "a b",
			Status: 400, Error: "first address of X-Forwarded-For: use 1 to 64 letters, digits and any of . : _ -", Outcome: ratelimiter.Failed,
		},
	}
}
