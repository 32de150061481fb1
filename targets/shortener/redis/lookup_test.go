package redis

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/singleflight"
)

// Each caller is given the value of its own key.
func TestLookupsAreNotMixedUp(t *testing.T) {
	s := newLookups(func(keys []string) ([]any, error) {
		values := make([]any, len(keys))
		for i, key := range keys {
			values[i] = "value of " + key
		}
		return values, nil // the last one is the generation
	})
	var callers sync.WaitGroup
	for i := range 100 {
		callers.Go(func() {
			key := fmt.Sprint(i)
			value, found, generation, err := s.get(t.Context(), key)
			if err != nil || !found || value != "value of "+key || generation != "value of url-generation" {
				t.Errorf("%s is %q, %v, of generation %q, %v", key, value, found, generation, err)
			}
		})
	}
	callers.Wait()
}

// What the store answered is given to a caller whose time is up at that moment.
func TestCompletedLookupWinsOverCancellation(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 { // of which half would go wrong
		flight := make(chan singleflight.Result, 1)
		flight <- singleflight.Result{Val: link("abc", time.Hour)}
		if _, err := landed(over, flight); err != nil {
			t.Fatalf("answered by the store, and given %v", err)
		}
	}
	if _, err := landed(over, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("no answer: %v, want the end of the context", err)
	}
}

func TestLookupFails(t *testing.T) {
	broken := errors.New("broken")
	tests := map[string]struct {
		values []any
		err    error
		want   string
	}{
		"with the fetch":              {err: broken, want: "look up key: broken"},
		"with too few values":         {values: []any{nil}, want: "look up key: redis answered 2 keys with 1 values"},
		"with what is no text":        {values: []any{int64(1), nil}, want: "look up key: value is a int64, want a text"},
		"with no text as generation":  {values: []any{nil, int64(1)}, want: "look up key: value is a int64, want a text"},
		"not, with what is not there": {values: []any{nil, nil}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newLookups(func([]string) ([]any, error) { return tt.values, tt.err })
			_, found, _, err := s.get(t.Context(), "key")
			if found {
				t.Error("found")
			}
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("error is %q, want %q", got, tt.want)
			}
		})
	}
}
