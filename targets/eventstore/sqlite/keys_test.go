package sqlite

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
	"github.com/loadtest-dev/loadtest-operator/targets/eventstore/storetest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// A key is remembered for one window at least and two at most, whatever the
// sizes of the transactions.
func TestKeysAreKeptForWindow(t *testing.T) {
	const window = 30
	for _, size := range []int64{1, 7, 29, 30, 75} {
		k := newKeys(window, 0)
		for first := int64(1); first < 300; first += size {
			k.add(keyOf(fmt.Sprint(first)), first)
			last := first + size - 1
			k.commit(last)
			for old := int64(1); old <= first; old += size {
				// How many further events there are after the key's own.
				further := last - (old + size - 1)
				got, found := k.find(keyOf(fmt.Sprint(old)))
				if found && got != old || !found && further < window || found && further >= 2*window+size {
					t.Fatalf("size %d: the key of %d is found (%v, at %d) after %d further events", size, old, found, got, further)
				}
			}
			if held := int64(len(k.current) + len(k.previous)); held > 2*(window/size+1) {
				t.Fatalf("size %d: %d keys are held", size, held)
			}
		}
	}
}

func TestRollbackForgetsKeys(t *testing.T) {
	k := newKeys(10, 0)
	k.add(keyOf("kept"), 1)
	k.commit(1)
	k.add(keyOf("gone"), 2)
	if _, found := k.find(keyOf("gone")); !found {
		t.Error("a key is not found within its transaction")
	}
	k.rollback()
	for name, want := range map[string]bool{"kept": true, "gone": false} {
		if _, found := k.find(keyOf(name)); found != want {
			t.Errorf("%s is found: %v, want %v", name, found, want)
		}
	}
}

// appendKeyed reports whether the append was a repetition.
func appendKeyed(t *testing.T, s *Store, key string) bool {
	t.Helper()
	a, err := eventstore.NewAppend([]eventstore.Event{{Type: "a"}}, eventstore.Terms{Key: key}, storetest.AppendTime)
	must.Succeed(t, err)
	receipt, err := s.Append(t.Context(), a)
	must.Succeed(t, err)
	return receipt.Replayed
}

// Also over a restart a key is remembered for its window, and the file does not
// keep more than two.
func TestKeysSurviveRestart(t *testing.T) {
	const window = 10
	path := filepath.Join(t.TempDir(), "events.db")
	open := func() *Store {
		return openStore(t, path, Options{Synchronous: Normal, GroupCommit: true, Readers: 1, KeyWindow: window})
	}
	s := open()
	for i := range 100 {
		if appendKeyed(t, s, fmt.Sprint(i)) {
			t.Fatalf("key %d is known before it was used", i)
		}
		oldest := max(0, i-window+1)
		if !appendKeyed(t, s, fmt.Sprint(oldest)) {
			t.Fatalf("after key %d, key %d is forgotten", i, oldest)
		}
		if i%7 != 3 {
			continue
		}
		must.Succeed(t, s.Close())
		if s = open(); !appendKeyed(t, s, fmt.Sprint(oldest)) {
			t.Fatalf("after key %d and a restart, key %d is forgotten", i, oldest)
		}
	}
	var kept int
	must.Succeed(t, s.pool.QueryRowContext(t.Context(), "SELECT count(*) FROM requests").Scan(&kept))
	if kept < window || kept > 2*window {
		t.Errorf("%d keys are kept in the file, want %d to %d", kept, window, 2*window)
	}
	if appendKeyed(t, s, "0") {
		t.Error("a key outlived its windows")
	}
}

// The key of a batch that is larger than the window is remembered when the log is opened
// again, as long as fewer further events than the window have come.
func TestKeyOfALargeBatchSurvivesRestart(t *testing.T) {
	const window = 10
	path := filepath.Join(t.TempDir(), "events.db")
	open := func() *Store {
		return openStore(t, path, Options{Synchronous: Normal, GroupCommit: true, Readers: 1, KeyWindow: window})
	}
	batch := func(s *Store) eventstore.Receipt {
		events := make([]eventstore.Event, window+1)
		for i := range events {
			events[i].Type = "a"
		}
		a, err := eventstore.NewAppend(events, eventstore.Terms{Key: "batch"}, storetest.AppendTime)
		must.Succeed(t, err)
		receipt, err := s.Append(t.Context(), a)
		must.Succeed(t, err)
		return receipt
	}
	s := open()
	want := batch(s)
	want.Replayed = true
	for further := range window {
		must.Succeed(t, s.Close())
		s = open()
		if got := batch(s); got != want {
			t.Fatalf("after %d further events and a restart, the repetition has %+v, want %+v", further, got, want)
		}
		appendKeyed(t, s, fmt.Sprint(further))
	}
}

// A key of a transaction that failed is free again.
func TestFailedAppendReleasesKey(t *testing.T) {
	s := pause(t, Options{GroupCommit: true})
	a, err := eventstore.NewAppend([]eventstore.Event{{Type: "a"}}, eventstore.Terms{Key: "k"}, storetest.AppendTime)
	must.Succeed(t, err)
	broken := s.addRequest(t, 1, func(w *writer) error {
		if _, err := w.append(a); err != nil {
			return err
		}
		w.last--
		return adding("b")(w)
	})
	s.release()
	if err := <-broken.done; err == nil {
		t.Fatal("stored two events at one position")
	}
	if appendKeyed(t, s.Store, "k") {
		t.Error("the key is taken for used")
	}
	checkTypes(t, s, "a")
}
