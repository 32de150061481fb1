package dial

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

var someAddr = netip.MustParseAddr("192.0.2.1")

func newTestResolver(host string, lookup Lookup) *resolver {
	return &resolver{host: host, lookup: lookup, now: time.Now}
}

func TestConcurrentCallersShareALookup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		r := newTestResolver("a.test", func(context.Context, string) ([]netip.Addr, error) {
			asked.Add(1)
			<-time.After(time.Second)
			return []netip.Addr{someAddr}, nil
		})
		var group sync.WaitGroup
		for range 1000 {
			group.Go(func() {
				if got, err := r.resolve(t.Context()); err != nil || len(got) != 1 || got[0] != someAddr {
					t.Errorf("resolve = %v, %v", got, err)
				}
			})
		}
		group.Wait()
		if n := asked.Load(); n != 1 {
			t.Errorf("asked %d times, want once", n)
		}
	})
}

func TestAnswersAndFailuresExpire(t *testing.T) {
	tests := map[string]struct {
		err  error
		life time.Duration
	}{
		"an answer": {life: answerLife},
		"a failure": {err: errors.New("no such host"), life: failureLife},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				r := newTestResolver("a.test", func(context.Context, string) ([]netip.Addr, error) {
					asked++
					return []netip.Addr{someAddr}, tt.err
				})
				var got []int
				for range 4 {
					if _, err := r.resolve(t.Context()); !errors.Is(err, tt.err) {
						t.Errorf("resolve = %v, want %v", err, tt.err)
					}
					got = append(got, asked)
					<-time.After(tt.life/2 + 1)
				}
				same.As(t, "asked so far, each half life", []int{1, 1, 2, 2}, got)
			})
		})
	}
}

func TestAddressNeedsNoLookup(t *testing.T) {
	r := newTestResolver("192.0.2.1", func(context.Context, string) ([]netip.Addr, error) {
		t.Error("asked for an address")
		return nil, nil
	})
	if got, err := r.resolve(t.Context()); err != nil || len(got) != 1 || got[0] != someAddr {
		t.Errorf("resolve = %v, %v", got, err)
	}
}

// The wait of a caller ends with its context. What became of its request is the same as if the lookup had ended first.
func TestCallersContextEndsItsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestResolver("a.test", func(ctx context.Context, _ string) ([]netip.Addr, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin := time.Now()
		_, err := r.resolve(ctx)
		if of := failure.Classify(&failure.Error{Phase: failure.Resolving, Err: err}); !errors.Is(err, context.DeadlineExceeded) || of != measure.DNS {
			t.Errorf("resolve = %v, of class %v; want the caller's deadline, and dns", err, of)
		}
		if waited := time.Since(begin); waited != time.Second {
			t.Errorf("waited %v, want the caller's second", waited)
		}
		<-time.After(lookupTimeout) // the lookup ends by itself
	})
}
