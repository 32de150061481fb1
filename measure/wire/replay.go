package wire

import (
	"errors"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/text"
)

func fromReplay(r *measure.Replay) *workerv1.ReplayLines {
	if r == nil {
		return nil
	}
	return &workerv1.ReplayLines{
		Lines: r.Lines, NotParsed: r.NotParsed, OtherMethods: r.OtherMethods, NotRouted: r.NotRouted,
		OutOfOrder: r.OutOfOrder, OutsideWindow: r.OutsideWindow, Mistake: text.Clean(r.Mistake, measure.MaxErrorBytes),
	}
}

func toReplay(m *workerv1.ReplayLines) *measure.Replay {
	if m == nil {
		return nil
	}
	return &measure.Replay{
		Lines: m.GetLines(), NotParsed: m.GetNotParsed(), OtherMethods: m.GetOtherMethods(), NotRouted: m.GetNotRouted(),
		OutOfOrder: m.GetOutOfOrder(), OutsideWindow: m.GetOutsideWindow(), Mistake: text.Clean(m.GetMistake(), measure.MaxErrorBytes),
	}
}

// checkReplay refuses counts that are not parts of the lines.
func checkReplay(m *workerv1.ReplayLines) error {
	left := m.GetLines()
	errs := []error{count("replay.lines", left)}
	for _, part := range []struct {
		name string
		n    int64
	}{
		{"replay.not_parsed", m.GetNotParsed()}, {"replay.other_methods", m.GetOtherMethods()}, {"replay.not_routed", m.GetNotRouted()},
		{"replay.out_of_order", m.GetOutOfOrder()}, {"replay.outside_window", m.GetOutsideWindow()},
	} {
		errs = append(errs, within(part.name, part.n, "replay.lines without the parts before it", left))
		left -= part.n
	}
	return errors.Join(errs...)
}
