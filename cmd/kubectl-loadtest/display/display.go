package display

import (
	"fmt"
	"io"
	"time"

	"github.com/loadtest-dev/loadtest-operator/text"
)

// Display shows the state of what is followed. A caller shows the state as
// often as it chooses.
type Display interface {
	// Show shows the state at a time: the block on a terminal, the line in a log.
	Show(now time.Time, block func(width, height int) []string, line string)
	// Say writes a sentence that stays.
	Say(now time.Time, sentence string)
	// Clear ends what was shown before something else is written.
	Clear()
}

// Pace is the least time between two lines of a log.
const Pace = 2 * time.Second

// On is the display on a terminal, of which size tells the columns and rows, or with nil that of a log.
func On(w io.Writer, size func() (columns, rows int)) Display {
	if size == nil {
		return &Log{W: w}
	}
	return &Terminal{W: w, Size: size}
}

// Log writes a line when the state changed, at most one for each Pace.
type Log struct {
	W io.Writer

	last string
	at   time.Time
}

var _ Display = (*Log)(nil)

// Show writes the line when it is news.
func (l *Log) Show(now time.Time, _ func(int, int) []string, line string) {
	if line == l.last || now.Sub(l.at) < Pace {
		return
	}
	l.at = now
	l.Say(now, line)
}

// Say writes the sentence with the time, unless it stands there already.
func (l *Log) Say(now time.Time, sentence string) {
	sentence = text.Lines(sentence)
	if sentence == l.last {
		return
	}
	l.last = sentence
	_, _ = fmt.Fprintf(l.W, "%s  %s\n", now.UTC().Format("15:04:05"), sentence)
}

// Clear has nothing to do: what is in a log stays.
func (l *Log) Clear() {}
