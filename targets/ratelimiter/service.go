package ratelimiter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// decideTimeout bounds a whole decision: the wait for its batch or for a
// connection, and all attempts. It is no more than the store's timeout for one
// command, so that clients with a timeout of three seconds get a reply also if the
// store hangs.
const decideTimeout = 2 * time.Second

// Service answers requests of clients, in the same way over every protocol.
type Service struct {
	Limiter        Limiter
	Contract       Contract
	OnStoreFailure FailurePolicy
	// StorePause is the time without requests to a failed store, and the
	// retry-after of the requests that fail meanwhile.
	StorePause time.Duration
	// Observe receives the outcome of each request, once, before it is answered.
	Observe func(Outcome, time.Duration)
	Now     func() time.Time
	Logger  *slog.Logger
}

// Validate reports what is missing.
func (s Service) Validate() error {
	if s.Limiter == nil || s.Observe == nil || s.Now == nil || s.Logger == nil {
		return errors.New("service is incomplete: set Limiter, Observe, Now and Logger")
	}
	if s.StorePause <= 0 {
		return fmt.Errorf("StorePause is %v: use a time above 0s", s.StorePause)
	}
	return nil
}

// Answer decides, counts, and answers, in this order: a client that has the answer
// finds the request counted.
func (s Service) Answer(ctx context.Context, client func() (string, error)) Answer {
	start := s.Now()
	a := s.decide(ctx, client)
	a.Time = start.UTC().Truncate(time.Second)
	s.Observe(a.Outcome, s.Now().Sub(start))
	return a
}

// decide turns every way in which a request can end into one answer. A panic is
// one of them; let through, it would leave the request uncounted.
func (s Service) decide(ctx context.Context, client func() (string, error)) (a Answer) {
	defer func() {
		if v := recover(); v != nil {
			s.Logger.Error("panic while deciding", "panic", fmt.Sprint(v))
			a = failed(Internal, "internal error")
		}
	}()
	name, err := client()
	if err != nil {
		return failed(Invalid, err.Error())
	}
	// A client that goes away ends no decision: its token may be taken already,
	// and to the breaker it would look as if the store had failed.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), decideTimeout)
	defer cancel()
	decision, err := s.Limiter.Take(ctx, name)
	if err != nil {
		return s.undecided(err)
	}
	if !decision.Allowed {
		return Answer{Outcome: Denied, Refusal: Limited, Sentence: "rate limit exceeded", Fields: s.Contract.fields(decision)}
	}
	return Answer{Outcome: Granted, Sentence: hit, Fields: s.Contract.fields(decision)}
}

// undecided refuses or grants by the failure policy; a contended bucket is refused
// either way. It never denies, which would be a statement about the bucket.
func (s Service) undecided(err error) Answer {
	if errors.Is(err, ErrContended) {
		return failed(Unavailable, "rate limiter contended: try again")
	}
	if !errors.Is(err, ErrNotAsked) {
		s.Logger.Warn("cannot decide", "error", err)
	}
	if s.OnStoreFailure == Open {
		return Answer{Outcome: Unchecked, Sentence: hit, Fields: s.Contract.unchecked()}
	}
	a := failed(Unavailable, "rate limiter unavailable: its store does not answer")
	a.Fields = []Field{{"Retry-After", wholeSeconds(s.StorePause)}}
	return a
}
