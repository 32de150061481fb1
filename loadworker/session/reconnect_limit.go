package session

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// waitAsLongAs has the link wait for the coordinator for as long as the plan may take
// from step index on, or from the first after it.
func (w *worker) waitAsLongAs(index int32) {
	for _, s := range w.plan {
		if s.GetIndex() >= index {
			w.patience.Store(int64(w.config.GiveUp) + s.GetRemainingNanos())
			return
		}
	}
}

// giveUp ends a worker whose coordinator was unreachable for too long. Its error adds
// what it still holds, of which the log has a copy.
func (w *worker) giveUp(err error) error {
	if w.run != nil {
		w.run.Cut()
		<-w.run.Done()
		w.snapshot(true)
		w.run = nil
	}
	if len(w.finals) == 0 {
		return err
	}
	var held []string
	for _, index := range slices.Sorted(maps.Keys(w.finals)) {
		m, sent := w.finals[index].GetMeasurement(), int64(0)
		for _, r := range m.GetRequests() {
			sent += r.GetSent()
		}
		held = append(held, fmt.Sprintf("step %d (due %d, sent %d)", index, m.GetDue(), sent))
	}
	return fmt.Errorf("%w; it held the results of %s, which are in its log", err, strings.Join(held, ", "))
}
