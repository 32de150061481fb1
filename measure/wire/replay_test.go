package wire_test

import (
	"strings"
	"testing"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/measure/wire"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestLinesOfALogTravel(t *testing.T) {
	sent := measure.NewMeasurement(1)
	sent.Replay = &measure.Replay{Lines: 20, NotParsed: 1, OtherMethods: 2, NotRouted: 3, OutOfOrder: 4, OutsideWindow: 5, Mistake: "line 1: a\nb" + strings.Repeat("x", 1000)}
	m, err := wire.Encode(sent)
	must.Succeed(t, err)
	got, err := wire.Decode(m, 1)
	must.Succeed(t, err)
	if mistake := got.Replay.Mistake; len(mistake) > measure.MaxErrorBytes || strings.Contains(mistake, "\n") {
		t.Errorf("the mistake is %q", mistake)
	}
	sent.Replay.Mistake, got.Replay.Mistake = "", ""
	same.As(t, "lines", sent.Replay, got.Replay)
	for want, lines := range map[string]*workerv1.ReplayLines{
		"replay.lines: -1":         {Lines: -1},
		"replay.not_parsed: 2 is":  {Lines: 1, NotParsed: 2},
		"replay.other_methods: -1": {Lines: 1, OtherMethods: -1},
		// Each is not more than the lines, but all are.
		"replay.outside_window: 5 is": {Lines: 8, NotRouted: 4, OutsideWindow: 5},
	} {
		m.Replay = lines
		if _, err := wire.Decode(m, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v, want …%s…", lines, err, want)
		}
	}
}
