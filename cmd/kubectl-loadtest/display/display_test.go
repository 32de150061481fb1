package display_test

import (
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/display"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

var start = time.Date(2026, 11, 20, 10, 15, 0, 0, time.UTC)

func at(seconds float64) time.Time {
	return start.Add(time.Duration(seconds * float64(time.Second)))
}

// lines is a block that does not ask for the size.
func lines(list ...string) func(int, int) []string {
	return func(int, int) []string { return list }
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
		"nothing":                      {},
		"the first at once":            {shows: []show{{0, "a"}}, want: []string{"10:15:00  a"}},
		"the same line once":           {shows: []show{{0, "a"}, {5, "a"}, {10, "a"}}, want: []string{"10:15:00  a"}},
		"changes within the pace wait": {shows: []show{{0, "a"}, {0.5, "b"}, {1, "c"}, {1.9, "d"}, {2, "e"}, {2.5, "f"}}, want: []string{"10:15:00  a", "10:15:02  e"}},
		"a state shorter than the interval is not printed": {shows: []show{{0, "a"}, {1, "b"}, {2, "a"}}, want: []string{"10:15:00  a"}},
		"back and forth": {shows: []show{{0, "a"}, {3, "b"}, {6, "a"}}, want: []string{"10:15:00  a", "10:15:03  b", "10:15:06  a"}},
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
			same.As(t, "the log", want, out.String())
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
	same.As(t, "the log", want, out.String())
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
