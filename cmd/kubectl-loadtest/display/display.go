package display

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Display shows the state of what is followed. A caller shows the state as
// often as it likes.
type Display interface {
	// Show shows the state at a time: the block on a terminal, the line in a log.
	Show(now time.Time, block func(width int) []string, line string)
	// Say writes a sentence that stays.
	Say(now time.Time, sentence string)
	// Clear ends what was shown before something else is written.
	Clear()
}

// Pace is the least time between two lines of a log.
const Pace = 2 * time.Second

// Log writes a line when the state changed, at most one for each Pace.
type Log struct {
	W io.Writer

	last string
	at   time.Time
}

var _ Display = (*Log)(nil)

// Show writes the line when it is news.
func (l *Log) Show(now time.Time, _ func(int) []string, line string) {
	if line == l.last || now.Sub(l.at) < Pace {
		return
	}
	l.at = now
	l.Say(now, line)
}

// Say writes the sentence with the time, unless it stands there already.
func (l *Log) Say(now time.Time, sentence string) {
	if sentence == l.last {
		return
	}
	l.last = sentence
	_, _ = fmt.Fprintf(l.W, "%s  %s\n", now.UTC().Format("15:04:05"), sentence)
}

// Clear has nothing to do: what is in a log stays.
func (l *Log) Clear() {}

// Terminal writes a block over the one before.
type Terminal struct {
	W io.Writer
	// Width is asked each time, because windows change.
	Width func() int

	shown []string
}

var _ Display = (*Terminal)(nil)

// Show writes the block, when it is another one, in the place of the last.
func (t *Terminal) Show(_ time.Time, block func(int) []string, _ string) {
	// The last column stays free: some terminals wrap when it is written.
	lines := block(max(t.Width()-1, 1))
	if strings.Join(lines, "\n") == strings.Join(t.shown, "\n") {
		return
	}
	_, _ = io.WriteString(t.W, t.erase()+strings.Join(lines, "\n")+"\n")
	t.shown = lines
}

// Say writes the sentence in the place of the block.
func (t *Terminal) Say(_ time.Time, sentence string) {
	t.Clear()
	_, _ = fmt.Fprintln(t.W, sentence)
}

// Clear erases the block.
func (t *Terminal) Clear() {
	_, _ = io.WriteString(t.W, t.erase())
	t.shown = nil
}

// erase goes up to the first line of the block and clears from there on.
func (t *Terminal) erase() string {
	if len(t.shown) == 0 {
		return ""
	}
	return fmt.Sprintf("\x1b[%dA\r\x1b[J", len(t.shown))
}
