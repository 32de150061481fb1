package breaker

import (
	"errors"
	"fmt"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
)

const (
	// tolerated is how many failures in a row open the breaker: more than one
	// question's bad luck, fewer than clients would notice. Where requests share a
	// round trip, that is one question, and a lost connection one failure however
	// many they were. A store that hangs is then given up later, after so many of
	// its timeouts, of which two pass at a time: 6 s with Redis. Until then each
	// request is answered when its own time is up, and not later.
	tolerated = 5
	// Pause is the time between probes of a failed store. Each probe waits for the
	// store's timeout.
	Pause = time.Second
)

// Breaker lets the store be asked as long as it answers.
type Breaker struct {
	breaker *gobreaker.CircuitBreaker[struct{}]
}

// New returns a closed breaker. changed is called with false each time that the
// breaker opens and with true each time that it closes; it must not block.
func New(changed func(asking bool)) (*Breaker, error) {
	if changed == nil {
		return nil, errors.New("breaker: changed is required")
	}
	return &Breaker{gobreaker.NewCircuitBreaker[struct{}](gobreaker.Settings{
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
	})}, nil
}

// Ask puts one question to the store and returns its error, or fails at once with
// ErrNotAsked.
func (b *Breaker) Ask(question func() error) error {
	_, err := b.breaker.Execute(func() (struct{}, error) { return struct{}{}, question() })
	if errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests) {
		return fmt.Errorf("%w (%w)", ratelimiter.ErrNotAsked, err)
	}
	return err
}

// answered is true of a store that is contended: it is there, and busy.
func answered(err error) bool { return err == nil || errors.Is(err, ratelimiter.ErrContended) }
