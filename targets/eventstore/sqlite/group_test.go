package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	engine "zombiezen.com/go/sqlite"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
	"github.com/loadtest-dev/loadtest-operator/targets/eventstore/storetest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// paused is a store whose writer is busy until release is called.
type paused struct {
	*Store
	release func()
	// commits are those after the one that keeps the writer busy.
	commits func() []eventstore.Commit
}

func pause(t *testing.T, o Options) *paused {
	t.Helper()
	var mu sync.Mutex
	var commits []eventstore.Commit
	o.Synchronous, o.Readers = Normal, 2
	o.Observe = func(c eventstore.Commit) {
		mu.Lock()
		defer mu.Unlock()
		c.Took = 0
		commits = append(commits, c)
	}
	s := openStore(t, filepath.Join(t.TempDir(), "events.db"), o)
	entered, leave := make(chan struct{}), make(chan struct{})
	first := &request{ctx: t.Context(), done: make(chan error, 1), work: func(*writer) error {
		close(entered)
		<-leave
		return nil
	}}
	must.Succeed(t, s.enqueue(first))
	<-entered
	release := sync.OnceFunc(func() { close(leave) })
	t.Cleanup(release)
	return &paused{Store: s, release: release, commits: func() []eventstore.Commit {
		mu.Lock()
		defer mu.Unlock()
		return commits[1:]
	}}
}

// line up hands work to the writer without waiting for it.
func (p *paused) addRequest(t *testing.T, events int, work func(*writer) error) *request {
	t.Helper()
	r := &request{ctx: t.Context(), events: events, done: make(chan error, 1), work: work}
	must.Succeed(t, p.enqueue(r))
	return r
}

func adding(types ...string) func(*writer) error {
	return func(w *writer) error {
		for _, name := range types {
			if err := w.insert(eventstore.Event{Type: name, Data: []byte("1"), Timestamp: storetest.AppendTime}); err != nil {
				return err
			}
		}
		return nil
	}
}

func types(t *testing.T, s eventstore.Store) []string {
	t.Helper()
	var list []string
	for e, err := range s.Events(t.Context(), 1, 1<<40) {
		must.Succeed(t, err)
		list = append(list, e.Type)
	}
	return list
}

func checkTypes(t *testing.T, s eventstore.Store, want ...string) {
	t.Helper()
	same.As(t, "log", want, types(t, s))
}

func TestQueuedAppendsShareCommit(t *testing.T) {
	for name, tc := range map[string]struct {
		group bool
		want  []eventstore.Commit
	}{
		"group commit on":  {true, []eventstore.Commit{{Requests: 3, Events: 4}}},
		"group commit off": {false, []eventstore.Commit{{Requests: 1, Events: 1}, {Requests: 1, Events: 2}, {Requests: 1, Events: 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := pause(t, Options{GroupCommit: tc.group})
			a := s.addRequest(t, 1, adding("a"))
			b := s.addRequest(t, 2, adding("b", "b"))
			c := s.addRequest(t, 1, adding("c"))
			same.As(t, "requests that wait", 3, s.Waiting())
			s.release()
			for _, r := range []*request{a, b, c} {
				must.Report(t, "done", <-r.done)
			}
			same.As(t, "commits", tc.want, s.commits())
			checkTypes(t, s, "a", "b", "b", "c")
		})
	}
}

func TestGroupSizeIsLimited(t *testing.T) {
	s := pause(t, Options{GroupCommit: true})
	var last *request
	for range 3 {
		last = s.addRequest(t, groupEvents/2, func(*writer) error { return nil })
	}
	s.release()
	must.Succeed(t, <-last.done)
	same.As(t, "commits", []eventstore.Commit{{Requests: 2}, {Requests: 1}}, s.commits())
}

// A refusal is an answer: it does not undo what others of its group store.
func TestRefusedAppendKeepsGroupCommitted(t *testing.T) {
	s := pause(t, Options{GroupCommit: true})
	a := s.addRequest(t, 1, adding("a"))
	no := s.addRequest(t, 1, func(w *writer) error {
		_, err := w.append(eventstore.Append{Events: []eventstore.Event{{Type: "no"}}, Expected: new(int64)})
		return err
	})
	b := s.addRequest(t, 1, adding("b"))
	s.release()
	if errA, errB := <-a.done, <-b.done; errA != nil || errB != nil {
		t.Errorf("others: %v, %v", errA, errB)
	}
	if err := <-no.done; !errors.Is(err, eventstore.ConflictError{Expected: 0, Actual: 1}) {
		t.Errorf("refused with %v, want a conflict of 0 with 1", err)
	}
	same.As(t, "commits", []eventstore.Commit{{Requests: 3, Events: 2}}, s.commits())
	checkTypes(t, s, "a", "b")
}

// What breaks the transaction fails alone, with nothing of it stored, and the
// positions of the others are dense.
func TestFailedAppendKeepsGroupCommitted(t *testing.T) {
	s := pause(t, Options{GroupCommit: true})
	a := s.addRequest(t, 1, adding("a"))
	broken := s.addRequest(t, 2, func(w *writer) error {
		if err := adding("half")(w); err != nil {
			return err
		}
		w.last-- // the position that was just taken
		return adding("other half")(w)
	})
	b := s.addRequest(t, 1, adding("b"))
	s.release()
	if errA, errB := <-a.done, <-b.done; errA != nil || errB != nil {
		t.Errorf("others: %v, %v", errA, errB)
	}
	if err := <-broken.done; err == nil || !strings.HasPrefix(err.Error(), "store: insert event: ") || !strings.Contains(err.Error(), ": UNIQUE constraint failed: events.position") {
		t.Errorf("broken: %v, want that the constraint failed", err)
	}
	want := []eventstore.Commit{{Requests: 3, Failed: true}, {Requests: 1, Events: 1}, {Requests: 1, Failed: true}, {Requests: 1, Events: 1}}
	same.As(t, "commits", want, s.commits())
	checkTypes(t, s, "a", "b")
	same.As(t, "position", 2, s.Position())
}

// An append that runs out of memory at one event is not stored in part.
func TestOutOfMemoryRollsBackAppend(t *testing.T) {
	noMemory := engine.ResultNoMem.ToError()
	s := pause(t, Options{GroupCommit: true})
	broken := s.addRequest(t, 2, func(w *writer) error {
		if err := adding("half")(w); err != nil {
			return err
		}
		return fmt.Errorf("insert event: %w", storageError{noMemory})
	})
	after := s.addRequest(t, 1, adding("after"))
	s.release()
	if err := <-broken.done; !errors.Is(err, noMemory) {
		t.Errorf("broken: %v, want %v", err, noMemory)
	}
	must.Report(t, "done", <-after.done)
	checkTypes(t, s, "after")
}

func TestCanceledAppendIsNotStored(t *testing.T) {
	s := pause(t, Options{GroupCommit: true})
	ctx, leave := context.WithCancel(t.Context())
	outcome := make(chan error, 1)
	go func() {
		_, err := submit(ctx, s.Store, 1, func(w *writer) (any, error) { return nil, adding("gone")(w) })
		outcome <- err
	}()
	stays := s.addRequest(t, 1, adding("stays"))
	leave()
	if err := <-outcome; !errors.Is(err, eventstore.ErrNotStored) || !errors.Is(err, context.Canceled) {
		t.Errorf("canceled append = %v, want not stored", err)
	}
	s.release()
	must.Report(t, "done", <-stays.done)
	checkTypes(t, s, "stays")
}

// A withdrawn request in the queue holds no events.
func TestCancelReleasesQueuedEvents(t *testing.T) {
	s := pause(t, Options{GroupCommit: true})
	ctx, leave := context.WithCancel(t.Context())
	outcome := make(chan error, 1)
	go func() {
		_, err := submit(ctx, s.Store, 1, func(w *writer) (any, error) { return nil, adding("gone")(w) })
		outcome <- err
	}()
	r := <-s.queue // the writer is busy: only the test takes it
	leave()
	if err := <-outcome; !errors.Is(err, eventstore.ErrNotStored) {
		t.Errorf("canceled append = %v, want not stored", err)
	}
	if r.work != nil || r.take() {
		t.Error("the queue still holds the work, or the writer would take it")
	}
}

// An append that is canceled during the commit has an unknown outcome; all its
// events are stored.
func TestCancelDuringCommitIsUnknown(t *testing.T) {
	s := pause(t, Options{GroupCommit: true})
	ctx, leave := context.WithCancel(t.Context())
	inside, finish := make(chan struct{}), make(chan struct{})
	outcome := make(chan error, 1)
	go func() {
		_, err := submit(ctx, s.Store, 2, func(w *writer) (any, error) {
			close(inside)
			<-finish
			return nil, adding("a", "b")(w)
		})
		outcome <- err
	}()
	s.release()
	<-inside
	leave()
	if err := <-outcome; !errors.Is(err, eventstore.ErrOutcomeUnknown) {
		t.Errorf("canceled append = %v, want that the outcome is unknown", err)
	}
	close(finish)
	after := s.addRequest(t, 1, adding("after"))
	must.Succeed(t, <-after.done)
	checkTypes(t, s, "a", "b", "after")
}

// A canceled call returns a result that is there, whichever case select takes.
func TestCompletedResultWinsOverCancellation(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	leave()
	for range 100 { // of which half would go wrong
		r := &request{ctx: ctx, done: make(chan error, 1)}
		r.state.Store(taken)
		r.done <- nil
		if err := r.outcome(ctx); err != nil {
			t.Fatalf("stored, but error = %v", err)
		}
	}
}

// The same is true of a log that is open.
func TestCompletedOpenWinsOverCancellation(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	leave()
	for range 100 {
		turn := newTurn()
		close(turn.done)
		if err := turn.wait(ctx); err != nil {
			t.Fatalf("opened, but error = %v", err)
		}
	}
}

func TestFullQueueReturnsError(t *testing.T) {
	s := pause(t, Options{GroupCommit: true})
	var last *request
	for range queueLength {
		last = s.addRequest(t, 0, func(*writer) error { return nil })
	}
	err := s.Move(t.Context(), eventstore.Move{ID: "a", Position: 1})
	if !errors.Is(err, eventstore.ErrBusy) {
		t.Errorf("Move() = %v, want %v", err, eventstore.ErrBusy)
	}
	s.release()
	must.Succeed(t, <-last.done)
	must.Report(t, "Move() after the queue is empty", s.Move(t.Context(), eventstore.Move{ID: "a", Position: 1}))
}

// Close stores what waits.
func TestCloseCommitsAcceptedAppends(t *testing.T) {
	s := pause(t, Options{GroupCommit: true})
	a := s.addRequest(t, 1, adding("a"))
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	s.release()
	must.Succeed(t, <-closed)
	must.Report(t, "accepted before Close", <-a.done)
	checkTypes(t, openStore(t, s.writer.path, Options{Synchronous: Full, Readers: 1}), "a")
}
