package results

import (
	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// maxMistake is the longest mistake of a log that a status has, in bytes.
const maxMistake = 256

// replay is what became of the lines of a log; nil: the load has none, or no worker has said it yet.
func replay(load *v1beta1.StepLoad, merged *measure.Measurement) *v1beta1.ReplayResult {
	r := merged.Replay
	if !load.IsReplay() || r == nil {
		return nil
	}
	return &v1beta1.ReplayResult{
		Lines: r.Lines, NotParsed: r.NotParsed, OtherMethods: r.OtherMethods, NotRouted: r.NotRouted,
		OutOfOrder: r.OutOfOrder, OutsideWindow: r.OutsideWindow, Mistake: text.Truncate(r.Mistake, maxMistake),
	}
}
