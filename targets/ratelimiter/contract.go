package ratelimiter

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// maxCapacity keeps a bucket's arithmetic exact: a float64 can represent each token
// exactly up to 2^53; a billion is enough for any contract.
const maxCapacity = 1_000_000_000

// maxFill bounds the time an empty bucket takes to fill. A refill so slow that
// it takes years is a mistake in a unit, and its lifetime in the store would
// overflow.
const maxFill = 365 * 24 * time.Hour

// Contract is what a client is promised: Capacity requests at once, and
// RefillPerSecond more for every second that passes. Over any span of t seconds
// no client is granted more than Capacity + RefillPerSecond*t.
type Contract struct {
	Capacity        int64
	RefillPerSecond float64
}

// Validate reports every way in which the contract cannot be kept.
func (c Contract) Validate() error {
	var errs []error
	if c.Capacity < 1 || c.Capacity > maxCapacity {
		errs = append(errs, fmt.Errorf("capacity is %d: use 1 to %d tokens", c.Capacity, int64(maxCapacity)))
	}
	// Written so that NaN, for which every comparison is false, is refused too.
	if !(c.RefillPerSecond > 0) || math.IsInf(c.RefillPerSecond, 1) {
		errs = append(errs, fmt.Errorf("refill is %v tokens per second: use a number above 0", c.RefillPerSecond))
	} else if len(errs) == 0 && c.fillSeconds() > maxFill.Seconds() {
		errs = append(errs, fmt.Errorf("refill of %v tokens per second takes more than a year to fill %d tokens: use a larger one",
			c.RefillPerSecond, c.Capacity))
	}
	return errors.Join(errs...)
}

// FillTime is how long an empty bucket takes to fill.
func (c Contract) FillTime() time.Duration { return seconds(c.fillSeconds()) }

// Lifetime is how long an untouched bucket has to be remembered: twice the
// time it takes to fill. By then it is full, so that forgetting it changes
// nothing; the factor of two leaves room for clocks that count whole seconds,
// which is also why it is a second at least.
func (c Contract) Lifetime() time.Duration { return max(time.Second, 2*c.FillTime()) }

// Decide is the decision that leaves tokens in the bucket.
func (c Contract) Decide(allowed bool, tokens float64) Decision {
	d := Decision{Allowed: allowed, Remaining: max(0, int64(math.Floor(tokens)))}
	if !allowed {
		d.RetryAfter = seconds((1 - tokens) / c.RefillPerSecond)
	}
	return d
}

func (c Contract) fillSeconds() float64 { return float64(c.Capacity) / c.RefillPerSecond }

// seconds rounds up, so that a client that waits that long is granted.
func seconds(s float64) time.Duration {
	return time.Duration(math.Ceil(s * float64(time.Second)))
}
