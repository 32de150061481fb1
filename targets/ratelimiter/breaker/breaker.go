package breaker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
)

const (
	// tolerated is how many failures in a row open the breaker: more than one
	// request's bad luck, fewer than clients would notice. Requests that shared a
	// round trip fail together, so that under load a single lost connection may
	// bring about as many; it then costs a pause.
	tolerated = 5
	// Pause is how long the store is left alone. One request in each pause waits
	// for the store's timeout, to find out whether it is back.
	Pause = time.Second
)

// Limiter asks another limiter as long as that one's store answers.
type Limiter struct {
	next    ratelimiter.Limiter
	breaker *gobreaker.CircuitBreaker[ratelimiter.Decision]
}

var _ ratelimiter.Limiter = (*Limiter)(nil)

// New returns a limiter that asks next. changed is told each time that the
// store is given up (asking is false) and taken up again (true); it must not
// block.
func New(next ratelimiter.Limiter, changed func(asking bool)) (*Limiter, error) {
	if next == nil || changed == nil {
		return nil, errors.New("breaker is incomplete: set the limiter and what is told of changes")
	}
	return &Limiter{
		next: next,
		breaker: gobreaker.NewCircuitBreaker[ratelimiter.Decision](gobreaker.Settings{
			MaxRequests:  1,
			Timeout:      Pause,
			ReadyToTrip:  func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= tolerated },
			IsSuccessful: answered,
			OnStateChange: func(_ string, from, to gobreaker.State) {
				switch {
				case to == gobreaker.StateClosed:
					changed(true)
				case from == gobreaker.StateClosed:
					changed(false)
				}
			},
		}),
	}, nil
}

// Take asks the store, or fails at once with ErrNotAsked.
func (l *Limiter) Take(ctx context.Context, client string) (ratelimiter.Decision, error) {
	decision, err := l.breaker.Execute(func() (ratelimiter.Decision, error) { return l.next.Take(ctx, client) })
	if errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests) {
		return ratelimiter.Decision{}, fmt.Errorf("%w (%w)", ratelimiter.ErrNotAsked, err)
	}
	return decision, err
}

// answered is true of a store that is contended: it is there, and busy.
func answered(err error) bool { return err == nil || errors.Is(err, ratelimiter.ErrContended) }
