package rpc

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// A request takes memory from the time on at which it is slow, until it is read.
func TestSlowRequestsReserveMemory(t *testing.T) {
	full := errors.New("no memory")
	for name, tc := range map[string]struct {
		takes, took time.Duration
		refused     error
		reserved    int64
	}{
		"in time":           {takes: slowAfter - 1, took: slowAfter - 1},
		"slow":              {takes: 2 * slowAfter, took: 2 * slowAfter, reserved: 1},
		"without room left": {takes: 2 * slowAfter, took: slowAfter, refused: full, reserved: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, err := endable(t.Context(), nil)
				must.Succeed(t, err)
				var reserved, released atomic.Int64
				ctx = Reserving(ctx, func() (func(), error) {
					reserved.Add(1)
					if tc.refused != nil {
						return nil, tc.refused
					}
					return func() { released.Add(1) }, nil
				})
				start := time.Now() // of the simulated clock, which is exact
				err = receive(ctx, func(any) error {
					if reserved.Load() > 0 {
						t.Error("memory is reserved before the request is read")
					}
					select {
					case <-time.After(tc.takes):
						return nil
					case <-ctx.Done():
						return ctx.Err()
					}
				}, nil)
				if took := time.Since(start); !errors.Is(err, tc.refused) || took != tc.took || reserved.Load() != tc.reserved {
					t.Errorf("%v after %v, reserved %d times; want %v after %v, %d times", err, took, reserved.Load(), tc.refused, tc.took, tc.reserved)
				}
				if got := released.Load(); tc.refused == nil && got != tc.reserved {
					t.Errorf("released %d times, want %d", got, tc.reserved)
				}
			})
		})
	}
}
