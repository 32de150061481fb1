package storetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
)

func emptyLog(t *testing.T, s Subject) {
	holds(t, s)
	if got, err := s.Subscription(t.Context(), "unknown"); got != 0 || err != nil {
		t.Errorf("unknown subscription = %d, %v, want 0", got, err)
	}
	if err := s.Ping(t.Context()); err != nil {
		t.Errorf("Ping() = %v", err)
	}
}

func roundTrip(t *testing.T, s Subject) {
	sent := []eventstore.Event{
		{Type: "order.created", Data: []byte(`{"a": [1, 2.50, "ü\u0000", null]}`), Timestamp: AppendTime},
		{Type: "größer", Data: []byte(`"` + strings.Repeat("x", 9_000) + `"`), Timestamp: AppendTime.AddDate(-300, 0, 0)},
		{Type: "elsewhere", Data: []byte(`0`), Timestamp: AppendTime.In(time.FixedZone("east", 3600))},
		{Type: "bare"},
	}
	want := slices.Clone(sent)
	for i := range want {
		want[i].Position = int64(i + 1)
	}
	want[2].Timestamp = AppendTime
	want[3].Data, want[3].Timestamp = []byte("null"), AppendTime
	if _, err := try(t, s, sent, eventstore.Terms{}); err != nil {
		t.Fatal(err)
	}
	var got []eventstore.Event
	for e, err := range s.Events(t.Context(), 1, 4) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func densePositions(t *testing.T, s Subject) {
	add(t, s, "a")
	add(t, s, "b", "c", "d")
	add(t, s, "e")
	holds(t, s, "a", "b", "c", "d", "e")
	full := make([]eventstore.Event, eventstore.MaxBatch)
	for i := range full {
		full[i] = event("full")
	}
	got, err := try(t, s, full, eventstore.Terms{})
	if want := (eventstore.Receipt{First: 6, Last: 1005}); err != nil || got != want {
		t.Errorf("receipt = %+v, %v, want %+v", got, err, want)
	}
}

func ranges(t *testing.T, s Subject) {
	add(t, s, "a", "b", "c", "d")
	for _, tc := range []struct {
		from, to int64
		want     []string
	}{
		{1, 4, []string{"a", "b", "c", "d"}},
		{2, 3, []string{"b", "c"}},
		{3, 3, []string{"c"}},
		{0, 2, []string{"a", "b"}},
		{4, 99, []string{"d"}},
		{5, 99, nil},
		{3, 2, nil},
	} {
		if diff := cmp.Diff(tc.want, read(t, s, tc.from, tc.to)); diff != "" {
			t.Errorf("%d to %d (-want +got):\n%s", tc.from, tc.to, diff)
		}
	}
}

func expectedPosition(t *testing.T, s Subject) {
	if _, err := try(t, s, events("a"), at(0)); err != nil {
		t.Fatal(err)
	}
	for _, expected := range []int64{0, 2} {
		_, err := try(t, s, events("no"), at(expected))
		var conflict eventstore.ConflictError
		want := eventstore.ConflictError{Expected: expected, Actual: 1}
		if !errors.As(err, &conflict) || conflict != want {
			t.Errorf("at %d: %v, want %v", expected, err, want)
		}
	}
	if _, err := try(t, s, events("b", "c"), at(1)); err != nil {
		t.Fatal(err)
	}
	holds(t, s, "a", "b", "c")
}

func keyStoresOnce(t *testing.T, s Subject) {
	add(t, s, "before")
	terms := eventstore.Terms{Key: "k1"}
	// Without a timestamp, which the second try would get anew.
	bare := func() []eventstore.Event { return []eventstore.Event{{Type: "a"}, event("b")} }
	first, err := try(t, s, bare(), terms)
	if want := (eventstore.Receipt{First: 2, Last: 3}); err != nil || first != want {
		t.Fatalf("first = %+v, %v, want %+v", first, err, want)
	}
	add(t, s, "between")
	a, err := eventstore.NewAppend(bare(), terms, AppendTime.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.Append(t.Context(), a)
	if want := (eventstore.Receipt{First: 2, Last: 3, Replayed: true}); err != nil || second != want {
		t.Errorf("second = %+v, %v, want %+v", second, err, want)
	}
	holds(t, s, "before", "a", "b", "between")
}

func keyReused(t *testing.T, s Subject) {
	if _, err := try(t, s, events("a"), eventstore.Terms{Key: "k"}); err != nil {
		t.Fatal(err)
	}
	later := event("a")
	later.Timestamp = AppendTime.Add(time.Nanosecond)
	for name, list := range map[string][]eventstore.Event{
		"another event": events("b"), "more of them": events("a", "a"), "another time": {later},
	} {
		if _, err := try(t, s, list, eventstore.Terms{Key: "k"}); !errors.Is(err, eventstore.ErrKeyReused) {
			t.Errorf("%s: %v, want %v", name, err, eventstore.ErrKeyReused)
		}
	}
	holds(t, s, "a")
}

func keySurvives(t *testing.T, s Subject) {
	terms := eventstore.Terms{Key: "k"}
	if _, err := try(t, s, events("a"), terms); err != nil {
		t.Fatal(err)
	}
	reopened := s.Reopen(t)
	got, err := try(t, reopened, events("a"), terms)
	if want := (eventstore.Receipt{First: 1, Last: 1, Replayed: true}); err != nil || got != want {
		t.Errorf("after reopening = %+v, %v, want %+v", got, err, want)
	}
	holds(t, reopened, "a")
}

func repetitionBeforeExpectation(t *testing.T, s Subject) {
	terms := at(0)
	terms.Key = "k"
	for _, replayed := range []bool{false, true} {
		got, err := try(t, s, events("a"), terms)
		if want := (eventstore.Receipt{First: 1, Last: 1, Replayed: replayed}); err != nil || got != want {
			t.Errorf("receipt = %+v, %v, want %+v", got, err, want)
		}
	}
	// A key of an append that was refused is not used up.
	refused := at(0)
	refused.Key = "k2"
	if _, err := try(t, s, events("b"), refused); err == nil {
		t.Error("stored at 1 what was expected at 0")
	}
	if got, err := try(t, s, events("c"), eventstore.Terms{Key: "k2"}); err != nil || got.Replayed {
		t.Errorf("key of a refused append: %+v, %v, want it stored", got, err)
	}
	holds(t, s, "a", "c")
}

func subscriptions(t *testing.T, s Subject) {
	steps := []struct {
		move eventstore.Move
		want error
		then int64
	}{
		{move: eventstore.Move{ID: "a", Position: 5}, then: 5},
		{move: eventstore.Move{ID: "a", Position: 5}, then: 5},
		{move: eventstore.Move{ID: "a", Position: 4}, want: eventstore.BackwardsError{Current: 5, Asked: 4}, then: 5},
		{move: eventstore.Move{ID: "a", Position: 2, Backwards: true}, then: 2},
		{move: eventstore.Move{ID: "a", Position: 7}, then: 7},
		{move: eventstore.Move{ID: "a", Position: -1, Backwards: true}, want: eventstore.InvalidError("position is -1: use 0 or more"), then: 7},
	}
	for i, step := range steps {
		if err := s.Move(t.Context(), step.move); !errors.Is(err, step.want) {
			t.Errorf("step %d: %v, want %v", i, err, step.want)
		}
		if got, err := s.Subscription(t.Context(), "a"); err != nil || got != step.then {
			t.Errorf("step %d: position %d, %v, want %d", i, got, err, step.then)
		}
	}
	if got, err := s.Subscription(t.Context(), "b"); err != nil || got != 0 {
		t.Errorf("another subscription is at %d, %v, want 0", got, err)
	}
	if _, err := s.Subscription(t.Context(), "no name"); err == nil {
		t.Error("a name with a blank was accepted")
	}
}

func senderGone(t *testing.T, s Subject) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	a, err := eventstore.NewAppend(events("a"), eventstore.Terms{}, AppendTime)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(gone, a); !errors.Is(err, eventstore.ErrNotStored) || !errors.Is(err, context.Canceled) {
		t.Errorf("append = %v, want not stored, cancelled", err)
	}
	if err := s.Move(gone, eventstore.Move{ID: "a", Position: 1}); !errors.Is(err, eventstore.ErrNotStored) {
		t.Errorf("move = %v, want not stored", err)
	}
	for _, err := range s.Events(gone, 1, 2) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("read = %v, want cancelled", err)
		}
	}
	holds(t, s)
}

// More readers stop early than there are connections to read with.
func earlyStop(t *testing.T, s Subject) {
	add(t, s, "a", "b", "c")
	for range 100 {
		for range s.Events(t.Context(), 1, 3) {
			break
		}
	}
	holds(t, s, "a", "b", "c")
}

func reopen(t *testing.T, s Subject) {
	add(t, s, "a", "b")
	if err := s.Move(t.Context(), eventstore.Move{ID: "r", Position: 2}); err != nil {
		t.Fatal(err)
	}
	reopened := s.Reopen(t)
	holds(t, reopened, "a", "b")
	if got, err := reopened.Subscription(t.Context(), "r"); err != nil || got != 2 {
		t.Errorf("subscription = %d, %v, want 2", got, err)
	}
	add(t, reopened, "c")
	holds(t, reopened, "a", "b", "c")
}

func closed(t *testing.T, s Subject) {
	add(t, s, "a")
	closer, ok := s.Store.(interface{ Close() error })
	if !ok {
		t.Fatalf("%T has no Close", s.Store)
	}
	for range 2 {
		if err := closer.Close(); err != nil {
			t.Errorf("Close() = %v", err)
		}
	}
	if _, err := try(t, s, events("b"), eventstore.Terms{}); !errors.Is(err, eventstore.ErrClosed) {
		t.Errorf("append = %v, want %v", err, eventstore.ErrClosed)
	}
	for _, err := range s.Events(t.Context(), 1, 1) {
		if err == nil {
			t.Error("read from a closed store")
		}
	}
}
