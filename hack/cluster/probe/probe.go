package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// interval between two checks: short compared with the seconds that a
// process takes to start, long compared with the microseconds of a check.
const interval = 100 * time.Millisecond

// ErrPermanent is in the error of a check that cannot succeed any more.
var ErrPermanent = errors.New("permanent failure")

// Check returns an error until the awaited state is reached.
type Check func(context.Context) error

// Until repeats the check until it succeeds or fails permanently. When ctx ends,
// the error has the name of the awaited thing and the last check's error.
func Until(ctx context.Context, what string, check Check) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		if errors.Is(err, ErrPermanent) {
			return fmt.Errorf("wait for %s: %w", what, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w (last: %w)", what, context.Cause(ctx), err)
		case <-ticker.C:
		}
	}
}

// Dial is the check that something listens.
func Dial(network, address string) Check {
	return func(ctx context.Context) error {
		connection, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err != nil {
			return err
		}
		return connection.Close()
	}
}
