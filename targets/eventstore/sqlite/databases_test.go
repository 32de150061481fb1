package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestLogsAreOpenedOnceAndApart(t *testing.T) {
	dir := t.TempDir()
	d, err := NewDatabases(dir, Options{Synchronous: Full, Readers: 1}, 0)
	must.Succeed(t, err)
	if got := d.Open(); len(got) != 0 {
		t.Errorf("%d logs are open before one was asked for", len(got))
	}
	a, err := d.Store(t.Context(), "a")
	must.Succeed(t, err)
	if again, err := d.Store(t.Context(), "a"); err != nil || again != a {
		t.Errorf("the same log again = %v, %v, want the same store", again, err)
	}
	// A failure to open a log is returned, and the next call tries again.
	must.Succeed(t, os.Mkdir(filepath.Join(dir, "b.db"), 0o700))
	if _, err := d.Store(t.Context(), "b"); err == nil || !strings.HasPrefix(err.Error(), "log b: ") {
		t.Errorf("a folder in the place of a log: %v", err)
	}
	must.Succeed(t, os.Remove(filepath.Join(dir, "b.db")))
	b, err := d.Store(t.Context(), "b")
	must.Succeed(t, err)
	appendAll(t, b, "of b")
	checkTypes(t, a)
	if got := len(d.Open()); got != 2 || d.Waiting() != 0 {
		t.Errorf("%d logs are open, %d requests wait, want 2 and 0", got, d.Waiting())
	}
	must.Succeed(t, d.Close())
	if _, err := d.Store(t.Context(), "a"); !errors.Is(err, eventstore.ErrClosed) {
		t.Errorf("after Close: %v, want %v", err, eventstore.ErrClosed)
	}
	if _, err := NewDatabases(dir, Options{}, 0); err == nil {
		t.Error("accepted options without a mode")
	}
	if _, err := NewDatabases(dir, Options{Synchronous: Full, Readers: 1}, -1); err == nil || err.Error() != "-1 logs may be open at a time: use 1 or more" {
		t.Errorf("-1 logs at a time: %v", err)
	}
}

// blockOpen blocks the opening of one log until release is called; begun receives
// the name at each opening.
func blockOpen(t *testing.T, d *Databases, name string) (begun <-chan string, release func()) {
	t.Helper()
	begins, released := make(chan string, 100), make(chan struct{})
	open := d.openFile
	d.openFile = func(path string, o Options) (*Store, error) {
		begins <- filepath.Base(path)
		if filepath.Base(path) == name+".db" {
			<-released
		}
		return open(path, o)
	}
	release = sync.OnceFunc(func() { close(released) })
	t.Cleanup(release)
	return begins, release
}

// ask asks for a log in the background.
func ask(ctx context.Context, d *Databases, name string) <-chan error {
	answer := make(chan error, 1)
	go func() {
		_, err := d.Store(ctx, name)
		answer <- err
	}()
	return answer
}

// await waits for what will be true, under the lock.
func (d *Databases) await(t *testing.T, what string, is func() bool) {
	t.Helper()
	await.True(t, what, func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return is()
	})
}

// To open a log with many keys takes seconds, which are those of its tenant only;
// and it is opened once, however many ask.
func TestSlowOpenDoesNotBlockOtherLogs(t *testing.T) {
	d := openDatabases(t, t.TempDir(), 0)
	begun, release := blockOpen(t, d, "slow")
	var answers []<-chan error
	for range 5 {
		answers = append(answers, ask(t.Context(), d, "slow"))
	}
	opened := []string{<-begun}
	d.await(t, "five wait", func() bool { return d.logs["slow"].users == 5 })
	appendAll(t, logOf(t, d, "quick"), "a")
	checkTypes(t, logOf(t, d, "quick"), "a")
	same.As(t, "requests that wait for writers", 0, d.Waiting())
	for _, answer := range answers {
		select {
		case err := <-answer:
			t.Errorf("the slow log was given out before it was open (%v)", err)
		default:
		}
	}
	release()
	for _, answer := range answers {
		must.Report(t, "answer", <-answer)
	}
	opened = append(opened, <-begun)
	if diff := cmp.Diff([]string{"slow.db", "quick.db"}, opened); diff != "" || len(begun) > 0 {
		t.Errorf("openings (-want +got), and %d more:\n%s", len(begun), diff)
	}
}

func TestCanceledWaitForOpen(t *testing.T) {
	d := openDatabases(t, t.TempDir(), 0)
	begun, release := blockOpen(t, d, "slow")
	stays := ask(t.Context(), d, "slow")
	<-begun
	ctx, leave := context.WithCancel(t.Context())
	leaves := ask(ctx, d, "slow")
	d.await(t, "both wait", func() bool { return d.logs["slow"].users == 2 })
	leave()
	if err := <-leaves; !errors.Is(err, eventstore.ErrNotOpened) || !errors.Is(err, context.Canceled) {
		t.Errorf("canceled call = %v, want that the log is not open", err)
	}
	release()
	must.Report(t, "stays", <-stays)
	d.await(t, "the log has no users", func() bool { return d.logs["slow"].users == 0 })
}

// All waiting calls fail with a failed open; the next call tries again.
func TestFailedOpenFailsAllWaiters(t *testing.T) {
	d := openDatabases(t, t.TempDir(), 1)
	begun, release := blockOpen(t, d, "a")
	open, tries := d.openFile, 0
	d.openFile = func(path string, o Options) (*Store, error) {
		if tries++; tries > 1 {
			return open(path, o)
		}
		s, err := open(path, o)
		return nil, errors.Join(errors.New("broken"), err, s.Close())
	}
	first, second := ask(t.Context(), d, "a"), ask(t.Context(), d, "a")
	<-begun
	d.await(t, "both wait", func() bool { return d.logs["a"].users == 2 })
	release()
	for _, answer := range []<-chan error{first, second} {
		if err := <-answer; err == nil || err.Error() != "log a: broken" {
			t.Errorf("error = %v, want that it is broken", err)
		}
	}
	appendAll(t, logOf(t, d, "a"), "a")
	appendAll(t, logOf(t, d, "b"), "b")
	checkTypes(t, logOf(t, d, "a"), "a")
}

func TestCloseDuringOpen(t *testing.T) {
	d := openDatabases(t, t.TempDir(), 1)
	begun, release := blockOpen(t, d, "slow")
	inside := ask(t.Context(), d, "slow")
	<-begun
	waits := ask(t.Context(), d, "waits")
	d.await(t, "one waits", func() bool { return len(d.waiting) == 1 })
	closed := make(chan error, 1)
	go func() { closed <- d.Close() }()
	if err := <-waits; !errors.Is(err, eventstore.ErrClosed) {
		t.Errorf("waiting call = %v, want %v", err, eventstore.ErrClosed)
	}
	release()
	must.Report(t, "inside", <-inside)
	must.Report(t, "closed", <-closed)
	if d.held != 0 || d.closing != 0 {
		t.Errorf("%d logs are held and %d close after the end", d.held, d.closing)
	}
}

// The logs that are open by default fit into a pod of 1 GiB, with all the pages
// and keys that they may have; and pages take less than the half that Go's
// collector gives up for them.
func TestDefaultOpenLogsFitMemory(t *testing.T) {
	const (
		limit = 1 << 30 / 10 * 9
		keys  = 2 * DefaultKeyWindow * 40 // two generations; see keys
	)
	pages := Options{Readers: 4}.PageMemory()
	if all := DefaultMostOpen * (pages + keys); all > limit/4*3 {
		t.Errorf("%d logs take %d bytes, more than three quarters of %d", DefaultMostOpen, all, limit)
	}
	if all := DefaultMostOpen * pages; all > limit/2 {
		t.Errorf("pages of %d logs take %d bytes, more than half of %d", DefaultMostOpen, all, limit)
	}
}
