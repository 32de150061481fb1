package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/singleflight"
)

// held is a fetch that waits to be told to go on.
type held struct {
	release chan struct{}
	mu      sync.Mutex
	batches [][]string
}

func (h *held) fetch(keys []string) ([]any, error) {
	h.mu.Lock()
	h.batches = append(h.batches, slices.Sorted(slices.Values(keys)))
	h.mu.Unlock()
	<-h.release
	values := make([]any, len(keys))
	for i, key := range keys {
		values[i] = "value of " + key
	}
	return values, nil
}

// Keys that are asked for while all fetchers are busy go together, and each
// caller is given its own.
func TestLookupsGoTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &held{release: make(chan struct{})}
		s := lookups{fetch: h.fetch}
		ask := func(key string) {
			value, found, err := s.get(t.Context(), key)
			if err != nil || !found || value != "value of "+key {
				t.Errorf("%s is %q, %v, %v", key, value, found, err)
			}
		}
		var want [][]string
		for i := range maxFetchers {
			key := fmt.Sprintf("first-%d", i)
			go ask(key)
			synctest.Wait()
			want = append(want, []string{key})
		}
		var together []string
		for i := range 20 {
			key := fmt.Sprintf("together-%02d", i)
			go ask(key)
			together = append(together, key)
		}
		synctest.Wait()
		close(h.release)
		synctest.Wait()
		if diff := cmp.Diff(append(want, together), h.batches); diff != "" {
			t.Errorf("batches (-want +got):\n%s", diff)
		}
		if s.fetchers != 0 || s.waiting != nil {
			t.Errorf("%d fetchers and %d callers are left", s.fetchers, len(s.waiting))
		}
	})
}

// A value that is there is given to a caller whose time is up at that moment.
func TestLookupThatIsAnswered(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 { // of which half would go wrong
		l := &lookup{key: "key", value: "value", done: make(chan struct{})}
		close(l.done)
		if value, found, err := l.wait(over); value != "value" || !found || err != nil {
			t.Fatalf("answered, and given %q, %v, %v", value, found, err)
		}
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

func TestBatchIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &held{release: make(chan struct{})}
		s := lookups{fetch: h.fetch}
		const callers = maxFetchers + 2*maxTogether + 1
		for i := range callers {
			go func() {
				if _, _, err := s.get(t.Context(), fmt.Sprint(i)); err != nil {
					t.Error(err)
				}
			}()
			if i < maxFetchers {
				synctest.Wait() // which makes all fetchers busy
			}
		}
		synctest.Wait()
		close(h.release)
		synctest.Wait()
		var got []int
		for _, batch := range h.batches {
			got = append(got, len(batch))
		}
		slices.Sort(got)
		if diff := cmp.Diff([]int{1, 1, 1, maxTogether, maxTogether}, got); diff != "" {
			t.Errorf("sizes (-want +got):\n%s", diff)
		}
	})
}

func TestLookupFails(t *testing.T) {
	broken := errors.New("broken")
	tests := map[string]struct {
		values []any
		err    error
		want   string
	}{
		"with the fetch":              {err: broken, want: "broken"},
		"with too few values":         {values: []any{}, want: "redis answered 1 keys with 0 values"},
		"with what is no text":        {values: []any{int64(1)}, want: "value of key is a int64, want a text"},
		"not, with what is not there": {values: []any{nil}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := lookups{fetch: func([]string) ([]any, error) { return tt.values, tt.err }}
			_, found, err := s.get(t.Context(), "key")
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

func TestCallerMayLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &held{release: make(chan struct{})}
		s := lookups{fetch: h.fetch}
		ctx, leave := context.WithCancel(t.Context())
		left := make(chan error)
		go func() {
			_, _, err := s.get(ctx, "key")
			left <- err
		}()
		synctest.Wait()
		leave()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("error is %v, want that of the context", err)
		}
		close(h.release)
	})
}
