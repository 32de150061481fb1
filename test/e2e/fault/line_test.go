package fault

import (
	"errors"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestLine(t *testing.T) {
	o := lost
	o.Missing = n(11)
	excused := kept
	late(&excused)
	tests := map[string]struct {
		line Line
		want string
	}{
		"ok": {
			Line{Fault: "operator killed", Run: "the gate", At: "Running, step 2 in 0.2s", Outcome: kept},
			"operator killed the gate Running, step 2 in 0.2s Passed 240 240 240 240 - 10s ok",
		},
		"busy": {
			Line{Fault: "f", Run: "r", At: "a", Outcome: excused, Busy: true},
			"f r a Inconclusive 240 240 240 240 - 10s ok (busy machine: waiting 50%, stolen 0%)",
		},
		"a problem": {
			Line{Fault: "worker killed", Run: "one worker", At: "step 1", Outcome: o, Problems: Judge(loss, o)},
			"worker killed one worker step 1 Inconclusive 212 200 200 240 <=11 10s PROBLEM miscounted: the target received 212, " +
				"the status has 200 sent and at most 11 missing; it says: WorkerLost",
		},
		"not judged": {
			Line{Fault: "worker killed", Run: "one worker", Err: errors.New("no\npod")},
			"worker killed one worker - 0 0 0 0 - 0s PROBLEM not judged: no pod",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			same.As(t, "line", tt.want, strings.Join(strings.Fields(tt.line.String()), " "))
		})
	}
}

func TestHeaderHasAColumnForEachFigure(t *testing.T) {
	line := Line{Fault: "f", Run: "r", At: "a", Outcome: kept}.String()
	header := Header()
	for _, name := range []string{"RUN", "AT", "VERDICT", "RESULT"} {
		at := strings.Index(header, name)
		if line[at-1] != ' ' || line[at] == ' ' {
			t.Errorf("nothing begins under %s:\n%s\n%s", name, header, line)
		}
	}
}

func TestSummary(t *testing.T) {
	stuck, wrong := Problem{Kind: Stuck}, Problem{Kind: WronglyPassed}
	tests := map[string]struct {
		lines []Line
		want  string
	}{
		"none":             {nil, "faults: 0 injected, 0 stuck, 0 miscounted, 0 wrongly passed, 0 wrongly failed"},
		"ok":               {[]Line{{}, {}}, "faults: 2 injected, 0 stuck, 0 miscounted, 0 wrongly passed, 0 wrongly failed"},
		"once for a class": {[]Line{{Problems: []Problem{stuck, stuck, wrong}}, {}}, "faults: 2 injected, 1 stuck, 0 miscounted, 1 wrongly passed, 0 wrongly failed"},
		"wrongly failed":   {[]Line{{Problems: []Problem{{Kind: WronglyFailed}, {Kind: Unexpected}}}, {}}, "faults: 2 injected, 0 stuck, 0 miscounted, 0 wrongly passed, 1 wrongly failed, 1 unexpected"},
		"unexpected":       {[]Line{{Problems: []Problem{{Kind: Unexpected}}}}, "faults: 1 injected, 0 stuck, 0 miscounted, 0 wrongly passed, 0 wrongly failed, 1 unexpected"},
		"busy":             {[]Line{{Busy: true}, {Busy: true, Problems: []Problem{stuck}}}, "faults: 2 injected, 1 stuck, 0 miscounted, 0 wrongly passed, 0 wrongly failed, 1 on a busy machine"},
		"not judged":       {[]Line{{Err: errors.New("no")}, {}}, "faults: 1 injected, 0 stuck, 0 miscounted, 0 wrongly passed, 0 wrongly failed, 1 not judged"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Summary(tt.lines); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestExcused(t *testing.T) {
	lines := []Line{{}, {Busy: true}, {Busy: true, Problems: []Problem{{Kind: Stuck}}}, {Err: errors.New("no"), Busy: true}, {}}
	if busy, of := Excused(lines); busy != 1 || of != 4 {
		t.Errorf("%d of %d are excused, want 1 of 4", busy, of)
	}
}
