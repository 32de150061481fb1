package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// interval between two checks: short against the seconds that things take to
// start, long against the microseconds that a check takes.
const interval = 100 * time.Millisecond

// ErrHopeless is in the error of a check that will never succeed.
var ErrHopeless = errors.New("no use to wait")

// Check says whether what is waited for is there yet.
type Check func(context.Context) error

// Until repeats the check until it succeeds or is hopeless. When ctx ends, the
// error says what was waited for and why the last check failed.
func Until(ctx context.Context, what string, check Check) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		if errors.Is(err, ErrHopeless) {
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
