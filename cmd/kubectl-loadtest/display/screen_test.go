//go:build unix

package display_test

import (
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/display"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// window is a terminal window of that size: what is written to it, and its other end.
type window struct {
	*os.File
	size *pty.Winsize

	mu      sync.Mutex
	written strings.Builder
	closed  chan struct{}
	// news holds a token when something was written.
	news chan struct{}
}

func newWindow(t *testing.T, columns, rows uint16) *window {
	t.Helper()
	master, terminal, err := pty.Open()
	if err != nil {
		t.Fatalf("open a pseudo terminal: %v", err)
	}
	w := &window{File: terminal, size: &pty.Winsize{Cols: columns, Rows: rows}, closed: make(chan struct{}), news: make(chan struct{}, 1)}
	w.resize(t, columns, rows)
	go func() {
		defer close(w.closed)
		buffer := make([]byte, 4096)
		for {
			n, err := master.Read(buffer)
			w.mu.Lock()
			w.written.Write(buffer[:n])
			w.mu.Unlock()
			select {
			case w.news <- struct{}{}:
			default:
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { _ = terminal.Close(); <-w.closed; _ = master.Close() })
	return w
}

func (w *window) resize(t *testing.T, columns, rows uint16) {
	t.Helper()
	w.size = &pty.Winsize{Cols: columns, Rows: rows}
	must.Succeed(t, pty.Setsize(w.File, w.size))
}

func (w *window) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.written.String()
}

// awaits waits until a text was written since a place, and returns the place after all
// that was.
func (w *window) awaits(t *testing.T, since int, want string) int {
	t.Helper()
	limit := time.After(time.Minute)
	for {
		if text := w.text(); strings.Contains(text[since:], want) {
			return len(text)
		}
		select {
		case <-w.news:
		case <-limit:
			t.Fatalf("%q was not written:\n%q", want, w.text()[since:])
		}
	}
}

const enter, leave = "\x1b[?1049h", "\x1b[?1049l"

// The block is drawn on a screen of its own in the size of the window, again when that
// changes, and what was said stands on the terminal after it was given back.
func TestTerminalInAWindow(t *testing.T) {
	w := newWindow(t, 80, 24)
	size := func() (int, int) { return int(w.size.Cols), int(w.size.Rows) }
	terminal := &display.Terminal{W: w.File, Size: size}
	var asked [2]int
	block := func(text string) func(int, int) []string {
		return func(width, height int) []string {
			asked = [2]int{width, height}
			return []string{text + strings.Repeat("x", width-len(text)), "✓ kept"}
		}
	}
	terminal.Say(at(0), "before")
	terminal.Show(at(0), block("first"), "")
	place := w.awaits(t, 0, "first"+strings.Repeat("x", 74))
	if asked != [2]int{79, 24} || !strings.Contains(w.text(), "before\r\n"+enter) && !strings.Contains(w.text(), enter) {
		t.Errorf("asked for %v; wrote %q", asked, w.text())
	}
	w.resize(t, 120, 40)
	terminal.Say(at(1), "trouble")
	terminal.Show(at(1), block("second"), "")
	place = w.awaits(t, place, "second"+strings.Repeat("x", 113))
	if asked != [2]int{119, 39} {
		t.Errorf("asked for %v after the window grew and a sentence took a line", asked)
	}
	w.resize(t, 40, 10)
	terminal.Show(at(2), block("third"), "")
	w.awaits(t, place, "third"+strings.Repeat("x", 34))
	terminal.Clear()
	terminal.Clear()
	terminal.Say(at(3), "after")
	w.awaits(t, 0, "after\r\n")
	if _, rest, ok := strings.Cut(w.text(), leave); !ok || !strings.Contains(rest, "trouble\r\nafter\r\n") {
		t.Errorf("after the screen was given back: %q", rest)
	}
}

// A terminal can be taken again, and one that was never taken is left alone.
func TestTerminalIsTakenAgain(t *testing.T) {
	w := newWindow(t, 80, 24)
	terminal := &display.Terminal{W: w.File, Size: func() (int, int) { return 80, 24 }}
	terminal.Clear()
	if text := w.text(); text != "" {
		t.Errorf("%q was written for nothing", text)
	}
	place := 0
	for _, text := range []string{"one", "two"} {
		terminal.Show(at(0), lines(text), "")
		place = w.awaits(t, place, text)
		terminal.Clear()
		place = w.awaits(t, place-1, leave)
	}
}

// What is not a window is written to all the same, and is left when it is closed.
func TestTerminalWithoutAWindow(t *testing.T) {
	terminal := &display.Terminal{W: io.Discard, Size: func() (int, int) { return 0, 0 }}
	terminal.Show(at(0), lines("one"), "")
	terminal.Clear()
}
