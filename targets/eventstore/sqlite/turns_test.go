package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
	"github.com/loadtest-dev/loadtest-operator/targets/eventstore/storetest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// openNames are the logs that are open, when all turns have ended.
func openNames(t *testing.T, d *Databases) []string {
	t.Helper()
	d.await(t, "the turns end", func() bool { return d.closing == 0 && len(d.waiting) == 0 })
	var names []string
	for _, s := range d.Open() {
		names = append(names, s.(*log).name)
	}
	slices.Sort(names)
	return names
}

func checkOpen(t *testing.T, d *Databases, want ...string) {
	t.Helper()
	same.As(t, "logs that are open", want, openNames(t, d))
}

func TestLeastRecentlyUsedLogIsClosed(t *testing.T) {
	d := openDatabases(t, t.TempDir(), 2)
	a, b := logOf(t, d, "a"), logOf(t, d, "b")
	appendAll(t, b, "1", "2")
	appendAll(t, a, "3")
	checkOpen(t, d, "a", "b")
	// To be pinged is no use: b is older still.
	must.Report(t, "Ping", b.Ping(t.Context()))
	logOf(t, d, "c")
	checkOpen(t, d, "a", "c")
	// Of a log that is closed the last position is known, and it is well; neither
	// opens it.
	same.As(t, "position of a closed log", 2, b.Position())
	must.Report(t, "Ping", b.Ping(t.Context()))
	checkOpen(t, d, "a", "c")
	checkTypes(t, b, "1", "2")
	checkOpen(t, d, "b", "c")
}

// A log with a reader closes only after it, even if other calls wait; and a log
// that closes admits no new users.
func TestLogInUseIsNotClosed(t *testing.T) {
	d := openDatabases(t, t.TempDir(), 1)
	a := logOf(t, d, "a")
	appendAll(t, a, "1", "2", "3")
	var other, again <-chan error
	var seen []string
	for e, err := range a.Events(t.Context(), 1, 3) {
		must.Succeed(t, err)
		if seen = append(seen, e.Type); len(seen) == 1 {
			other = ask(t.Context(), d, "b")
			d.await(t, "the log closes", func() bool { return d.logs["a"].state == closing })
			again = ask(t.Context(), d, "a")
		}
	}
	same.As(t, "events", []string{"1", "2", "3"}, seen)
	must.Report(t, "Join", errors.Join(<-other, <-again))
	checkTypes(t, a, "1", "2", "3")
}

// A log that is in use is closed only if every other is, too.
func TestIdleLogIsClosedFirst(t *testing.T) {
	d := openDatabases(t, t.TempDir(), 2)
	a, b := logOf(t, d, "a"), logOf(t, d, "b")
	appendAll(t, a, "1")
	for _, err := range a.Events(t.Context(), 1, 1) {
		must.Succeed(t, err)
		appendAll(t, b, "2")
		logOf(t, d, "c")
		checkOpen(t, d, "a", "c")
	}
}

// A canceled wait for a log that closes returns that nothing is stored.
func TestCanceledWaitForClose(t *testing.T) {
	d := openDatabases(t, t.TempDir(), 1)
	a := logOf(t, d, "a")
	appendAll(t, a, "1")
	for _, err := range a.Events(t.Context(), 1, 1) {
		must.Succeed(t, err)
		other := ask(t.Context(), d, "b")
		d.await(t, "the log closes", func() bool { return d.logs["a"].state == closing })
		ctx, leave := context.WithCancel(t.Context())
		leave()
		append1, err := eventstore.NewAppend([]eventstore.Event{{Type: "2"}}, eventstore.Terms{}, storetest.AppendTime)
		must.Succeed(t, err)
		if _, err := a.Append(ctx, append1); !errors.Is(err, eventstore.ErrNotStored) || !errors.Is(err, eventstore.ErrNotOpened) {
			t.Errorf("canceled append = %v, want not stored", err)
		}
		select {
		case err := <-other:
			t.Errorf("the other log was opened before this one was closed (%v)", err)
		default:
		}
	}
	checkTypes(t, a, "1")
}

// More tenants than places, each with several clients that never rest: none is
// kept out, nothing is lost, and never are more open than may be.
func TestManyTenantsShareFewOpenLogs(t *testing.T) {
	const most, tenants, clients, each = 2, 5, 3, 4
	d := openDatabases(t, t.TempDir(), most)
	var mu sync.Mutex
	files, largest := 0, 0
	open := d.openFile
	d.openFile = func(path string, o Options) (*Store, error) {
		s, err := open(path, o)
		mu.Lock()
		defer mu.Unlock()
		files++
		d.mu.Lock()
		defer d.mu.Unlock()
		largest = max(largest, d.held)
		return s, err
	}
	var wg sync.WaitGroup
	for tenant := range tenants {
		for range clients {
			wg.Go(func() {
				s, err := d.Store(t.Context(), fmt.Sprint(tenant))
				if err != nil {
					t.Error(err)
					return
				}
				for range each {
					before := s.Position()
					appendAll(t, s, fmt.Sprint(tenant))
					if after := s.Position(); after <= before {
						t.Errorf("position went from %d to %d", before, after)
					}
				}
			})
		}
	}
	wg.Wait()
	for tenant := range tenants {
		want := slices.Repeat([]string{fmt.Sprint(tenant)}, clients*each)
		checkTypes(t, logOf(t, d, fmt.Sprint(tenant)), want...)
	}
	mu.Lock()
	defer mu.Unlock()
	if largest > most || files < tenants {
		t.Errorf("%d logs were held at a time and %d opened, want at most %d, and %d or more", largest, files, most, tenants)
	}
}

// The error of a log that could not be closed is reported at the end, once.
func TestCloseErrorIsReportedOnce(t *testing.T) {
	d, err := NewDatabases(t.TempDir(), Options{Synchronous: Full, Readers: 1}, 1)
	must.Succeed(t, err)
	logOf(t, d, "a")
	d.mu.Lock()
	err = d.logs["a"].store.lock.Close() // what Close is to do
	d.mu.Unlock()
	must.Succeed(t, err)
	logOf(t, d, "b")
	if err := d.Close(); err == nil || err.Error()[:13] != "close log a: " {
		t.Errorf("Close() = %v, want what went wrong with a", err)
	}
	must.Report(t, "second Close()", d.Close())
}
