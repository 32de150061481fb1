package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
)

const (
	clients          = 16
	appendsPerClient = 20
)

// concurrentAppends checks every receipt against the stored events.
func concurrentAppends(t *testing.T, s Subject) {
	var mu sync.Mutex
	want := map[int64]string{}
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			for i := range appendsPerClient {
				var names []string
				for j := range 1 + (c+i)%3 {
					names = append(names, fmt.Sprintf("%d/%d/%d", c, i, j))
				}
				receipt, err := try(t, s, events(names...), eventstore.Terms{})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				for j, name := range names {
					want[receipt.First+int64(j)] = name
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	got := map[int64]string{}
	for i, name := range read(t, s, 1, 1<<40) {
		got[int64(i+1)] = name
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("log (-acknowledged +stored):\n%s", diff)
	}
}

func concurrentKey(t *testing.T, s Subject) {
	var mu sync.Mutex
	stored := 0
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for i := range appendsPerClient {
				name := fmt.Sprint(i)
				receipt, err := try(t, s, events(name, name+"+"), eventstore.Terms{Key: name})
				if err != nil || receipt.Last != receipt.First+1 {
					t.Errorf("receipt = %+v, %v", receipt, err)
				}
				mu.Lock()
				if !receipt.Replayed {
					stored++
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if stored != appendsPerClient {
		t.Errorf("%d appends were reported as stored first, want %d", stored, appendsPerClient)
	}
	got := read(t, s, 1, 1<<40)
	slices.Sort(got)
	if n := len(got); n != 2*appendsPerClient || len(slices.Compact(got)) != n {
		t.Errorf("%d events are stored, want %d that differ: %v", n, 2*appendsPerClient, got)
	}
}

// concurrentExpectation is a race that one wins, each time.
func concurrentExpectation(t *testing.T, s Subject) {
	for round := range int64(appendsPerClient) {
		outcomes := make(chan error, clients)
		var wg sync.WaitGroup
		for range clients {
			wg.Go(func() {
				_, err := try(t, s, events("x"), at(round))
				outcomes <- err
			})
		}
		wg.Wait()
		close(outcomes)
		won := 0
		for err := range outcomes {
			var conflict eventstore.ConflictError
			switch {
			case err == nil:
				won++
			case !errors.As(err, &conflict) || conflict.Actual != round+1:
				t.Errorf("round %d: %v, want a conflict with %d", round, err, round+1)
			}
		}
		if won != 1 {
			t.Fatalf("round %d: %d appends were stored at the same position", round, won)
		}
	}
}

// reportedOutcomes cancels appends at any moment, and closes the store during
// others. Each returned outcome stays true: stored, or not stored, unless it is
// unknown.
func reportedOutcomes(t *testing.T, s Subject) {
	var (
		mu       sync.Mutex
		reported = map[string]error{}
		half     = make(chan struct{})
		group    sync.WaitGroup
	)
	for c := range clients {
		group.Go(func() {
			for i := range appendsPerClient {
				name := fmt.Sprintf("%d/%d", c, i)
				err := tryInHurry(t, s, name, i%2 == 0)
				mu.Lock()
				if reported[name] = err; len(reported) == clients*appendsPerClient/2 {
					close(half)
				}
				mu.Unlock()
			}
		})
	}
	<-half
	reopened := s.Reopen(t)
	group.Wait()
	stored := map[string]int{}
	for _, name := range read(t, reopened, 1, 1<<40) {
		stored[name]++
	}
	for name, err := range reported {
		n := stored[name]
		switch {
		case err == nil && n != 1:
			t.Errorf("%s was acknowledged and is stored %d times", name, n)
		case errors.Is(err, eventstore.ErrOutcomeUnknown) && n > 1:
			t.Errorf("%s is stored %d times", name, n)
		case errors.Is(err, eventstore.ErrNotStored), errors.Is(err, eventstore.ErrClosed):
			if n != 0 {
				t.Errorf("%s is stored, and its append returned %v", name, err)
			}
		case err != nil && !errors.Is(err, eventstore.ErrOutcomeUnknown):
			t.Errorf("%s: %v, want nothing but the end of its sender or of the store", name, err)
		}
	}
}

// tryInHurry appends an event; the call may be canceled at any moment.
func tryInHurry(t *testing.T, s eventstore.Store, name string, leaves bool) error {
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	a, err := eventstore.NewAppend(events(name), eventstore.Terms{Key: name}, AppendTime)
	if err != nil {
		return err
	}
	if leaves {
		go leave()
	}
	_, err = s.Append(ctx, a)
	return err
}
