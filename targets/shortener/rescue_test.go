package shortener_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/clickstest"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/storetest"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestClicksAreRescuedWithinASecond(t *testing.T) {
	click := shortener.NewClick("code", storetest.Start)
	tests := map[string]struct {
		store shortener.ClickStore
		want  bool
		added int
	}{
		"no store": {},
		"stored":   {clickstest.StoreFunc(func(context.Context, []shortener.Click) (int, error) { return 1, nil }), true, 1},
		// It was delivered in the same moment.
		"stored before": {clickstest.StoreFunc(func(context.Context, []shortener.Click) (int, error) { return 0, nil }), true, 0},
		"failed":        {clickstest.StoreFunc(func(context.Context, []shortener.Click) (int, error) { return 0, errors.New("down") }), false, 0},
		"hangs": {clickstest.StoreFunc(func(ctx context.Context, _ []shortener.Click) (int, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		}), false, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				counts, start := counter{}, time.Now() // of the simulated clock
				same.As(t, "rescued", tt.want, shortener.Rescue(t.Context(), tt.store, click, counts.count))
				if took := time.Since(start); took > time.Second {
					t.Errorf("a redirect waited %v, want 1s at most", took)
				}
				same.As(t, "counted", tt.added, counts[shortener.ClickStored])
			})
		})
	}
}
