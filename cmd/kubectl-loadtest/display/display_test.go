package display_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/display"
)

var start = time.Date(2026, 11, 20, 10, 15, 0, 0, time.UTC)

func at(seconds float64) time.Time {
	return start.Add(time.Duration(seconds * float64(time.Second)))
}

// lines is a block that does not ask for the width.
func lines(list ...string) func(int) []string {
	return func(int) []string { return list }
}

func TestLog(t *testing.T) {
	type show struct {
		at   float64
		line string
	}
	tests := map[string]struct {
		shows []show
		want  []string
	}{
		"nothing": {},
		"the first at once": {
			shows: []show{{0, "a"}},
			want:  []string{"10:15:00  a"},
		},
		"the same line once": {
			shows: []show{{0, "a"}, {5, "a"}, {10, "a"}},
			want:  []string{"10:15:00  a"},
		},
		"changes within the pace wait": {
			shows: []show{{0, "a"}, {0.5, "b"}, {1, "c"}, {1.9, "d"}, {2, "e"}, {2.5, "f"}},
			want:  []string{"10:15:00  a", "10:15:02  e"},
		},
		"a state shorter than the interval is not printed": {
			shows: []show{{0, "a"}, {1, "b"}, {2, "a"}},
			want:  []string{"10:15:00  a"},
		},
		"back and forth": {
			shows: []show{{0, "a"}, {3, "b"}, {6, "a"}},
			want:  []string{"10:15:00  a", "10:15:03  b", "10:15:06  a"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			log := &display.Log{W: &out}
			for _, s := range test.shows {
				log.Show(at(s.at), lines("a block", "of two lines"), s.line)
			}
			log.Clear()
			want := strings.Join(append(test.want, ""), "\n")
			if diff := cmp.Diff(want, out.String()); diff != "" {
				t.Errorf("the log (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLogPrintsMessagesImmediately(t *testing.T) {
	var out strings.Builder
	log := &display.Log{W: &out}
	log.Show(at(0), nil, "a")
	log.Say(at(1), "trouble")
	log.Show(at(3), nil, "a")
	log.Say(at(3), "b")
	log.Say(at(4), "b")
	want := "10:15:00  a\n10:15:01  trouble\n10:15:03  a\n10:15:03  b\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("the log (-want +got):\n%s", diff)
	}
	if strings.Contains(out.String(), "\x1b") || strings.Contains(out.String(), "\r") {
		t.Errorf("the log holds control characters: %q", out.String())
	}
}

// Logs of several machines are read together.
func TestLogTimesAreUTC(t *testing.T) {
	var out strings.Builder
	(&display.Log{W: &out}).Say(at(0).In(time.FixedZone("", 3600)), "a")
	if want := "10:15:00  a\n"; out.String() != want {
		t.Errorf("the log says %q, want %q", out.String(), want)
	}
}

// TestTerminal reads the screen that a terminal would show.
func TestTerminal(t *testing.T) {
	var out strings.Builder
	terminal := &display.Terminal{W: &out, Width: func() int { return 80 }}
	steps := []struct {
		name string
		do   func()
		want []string
	}{
		{"before anything", func() { terminal.Clear() }, nil},
		{"a block", func() { terminal.Show(at(0), lines("one", "1s"), "") }, []string{"one", "1s"}},
		{"is written over", func() { terminal.Show(at(1), lines("one", "2s"), "") }, []string{"one", "2s"}},
		{"by a shorter one", func() { terminal.Show(at(2), lines("two"), "") }, []string{"two"}},
		{"a sentence stays", func() { terminal.Say(at(3), "trouble") }, []string{"trouble"}},
		{"above the block", func() { terminal.Show(at(4), lines("three", "4s"), "") }, []string{"trouble", "three", "4s"}},
		{"which goes", func() { terminal.Clear() }, []string{"trouble"}},
		{"once", func() { terminal.Clear() }, []string{"trouble"}},
	}
	for _, step := range steps {
		step.do()
		if diff := cmp.Diff(step.want, screen(out.String())); diff != "" {
			t.Fatalf("%s: the screen (-want +got):\n%s", step.name, diff)
		}
	}
}

func TestTerminalWritesOnlyChanges(t *testing.T) {
	var out strings.Builder
	terminal := &display.Terminal{W: &out, Width: func() int { return 80 }}
	terminal.Show(at(0), lines("one"), "")
	before := out.Len()
	terminal.Show(at(1), lines("one"), "")
	if out.Len() != before {
		t.Errorf("wrote %q for a block that is there already", out.String()[before:])
	}
	terminal.Clear()
	terminal.Show(at(2), lines("one"), "")
	if diff := cmp.Diff([]string{"one"}, screen(out.String())); diff != "" {
		t.Errorf("the same block after it was erased (-want +got):\n%s", diff)
	}
}

func TestTerminalReadsWidthOnEachUpdate(t *testing.T) {
	width := 80
	terminal := &display.Terminal{W: &strings.Builder{}, Width: func() int { return width }}
	for _, test := range []struct{ terminal, block int }{{80, 79}, {40, 39}, {1, 1}, {0, 1}} {
		width = test.terminal
		got := -1
		terminal.Show(at(0), func(w int) []string { got = w; return []string{"one"} }, "")
		if got != test.block {
			t.Errorf("the block was asked for width %d on a terminal of %d, want %d", got, test.terminal, test.block)
		}
	}
}

// screen is what a terminal shows after the output, if it knows no other
// controls than going up and clearing from the cursor on.
func screen(output string) []string {
	var rows []string
	for output != "" {
		if rest, ok := strings.CutPrefix(output, "\x1b["); ok {
			up := int(rest[0] - '0')
			rows = rows[:len(rows)-up]
			output = strings.TrimPrefix(rest[1:], "A\r\x1b[J")
			continue
		}
		line, rest, _ := strings.Cut(output, "\n")
		rows, output = append(rows, line), rest
	}
	if len(rows) == 0 {
		return nil
	}
	return rows
}
