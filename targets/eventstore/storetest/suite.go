package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
)

// AppendTime is the time at which the suite's events are appended.
var AppendTime = time.Date(2026, time.November, 20, 12, 0, 0, 123456789, time.UTC)

// Subject is a store that is empty.
type Subject struct {
	eventstore.Store
	// Reopen closes the store and opens it again.
	Reopen func(t *testing.T) eventstore.Store
}

// Factory returns a store that the test's end closes.
type Factory func(t *testing.T) Subject

// promises are the rules that hold as well for a client of a protocol.
var promises = map[string]func(*testing.T, Subject){
	"events come back as they were":                 roundTrip,
	"positions are dense and a batch is contiguous": densePositions,
	"a range is inclusive and clipped to the log":   ranges,
	"an expected position":                          expectedPosition,
	"a key of another content is refused":           keyReused,
	"a repetition wins over the expected position":  repetitionBeforeExpectation,
	"appends at once share no position":             concurrentAppends,
	"the same key at once stores once":              concurrentKey,
	"one of many at once finds the log as expected": concurrentExpectation,
	"subscriptions never go backwards unless asked": subscriptions,
	"a reader may stop early and the store goes on": earlyStop,
}

// Run examines a store.
func Run(t *testing.T, create Factory) {
	t.Helper()
	RunFront(t, create)
	for name, rule := range map[string]func(*testing.T, Subject){
		"an empty log":                                     emptyLog,
		"a key stores once":                                keyStoresOnce,
		"a key survives":                                   keySurvives,
		"reported outcomes are true":                       reportedOutcomes,
		"an append whose sender is gone is not stored":     senderGone,
		"stored events are there after a reopen":           reopen,
		"a closed store returns an error, and closes once": closed,
	} {
		run(t, name, create, rule)
	}
}

// RunFront examines a store by way of a protocol.
func RunFront(t *testing.T, create Factory) {
	t.Helper()
	for name, rule := range promises {
		run(t, name, create, rule)
	}
}

func run(t *testing.T, name string, create Factory, rule func(*testing.T, Subject)) {
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		rule(t, create(t))
	})
}

// event returns an event with its name in its content.
func event(name string) eventstore.Event {
	return eventstore.Event{Type: name, Data: []byte(`{"name":"` + name + `"}`), Timestamp: AppendTime}
}

// events are those of the names.
func events(names ...string) []eventstore.Event {
	var list []eventstore.Event
	for _, name := range names {
		list = append(list, event(name))
	}
	return list
}

// try appends and returns what came of it.
func try(t *testing.T, s eventstore.Store, list []eventstore.Event, terms eventstore.Terms) (eventstore.Receipt, error) {
	t.Helper()
	a, err := eventstore.NewAppend(list, terms, AppendTime)
	if err != nil {
		return eventstore.Receipt{}, err
	}
	return s.Append(t.Context(), a)
}

// add appends events that must be stored at the next positions.
func add(t *testing.T, s eventstore.Store, names ...string) {
	t.Helper()
	first := s.Position() + 1
	got, err := try(t, s, events(names...), eventstore.Terms{})
	if err != nil {
		t.Fatal(err)
	}
	want := eventstore.Receipt{First: first, Last: first + int64(len(names)) - 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("receipt (-want +got):\n%s", diff)
	}
}

// read returns the types of the events of a range, whose positions it checks.
func read(t *testing.T, s eventstore.Store, from, to int64) []string {
	t.Helper()
	var types []string
	next := max(1, from)
	for e, err := range s.Events(t.Context(), from, to) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Position != next {
			t.Fatalf("position %d after %d", e.Position, next-1)
		}
		next++
		types = append(types, e.Type)
	}
	return types
}

// holds checks the whole content of a log and its last position.
func holds(t *testing.T, s eventstore.Store, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, read(t, s, 1, 1<<40)); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	if got := s.Position(); got != int64(len(want)) {
		t.Errorf("position = %d, want %d", got, len(want))
	}
}

func at(position int64) eventstore.Terms { return eventstore.Terms{Expected: &position} }
