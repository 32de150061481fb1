package session

import (
	"context"
	"slices"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/measure/wire"
)

// startPending starts the pending step once the assignment is prepared and the
// time of this stream's coordinator is known.
func (w *worker) startPending() bool {
	s := w.pendingStart
	if s == nil || w.assembly == nil || w.probesAnswered == 0 {
		return false
	}
	w.pendingStart = nil
	if w.shuttingDown || w.run != nil || s.GetStep() < w.endedBefore {
		return false // the step runs or has ended: the message came twice
	}
	step, err := w.assembly.Step(s.GetStep())
	if err != nil {
		w.log.Error("start", "error", err.Error())
		return false
	}
	w.endOpening()
	w.endAuditing()
	now := time.Now()
	start := w.clock.local(s.GetStartUnixNanos(), now)
	w.waitAsLongAs(step.Index)
	w.sequence, w.startedAt, w.stopped = 0, time.Time{}, false
	w.run = w.assembly.Runner(step).Start(step, start)
	w.log.Info("step starts", "step", step.Index, "in", start.Sub(now).String(), "clockError", w.clock.bound(now).String())
	return true
}

// stopStep cuts a step. A step that was not started gets a final snapshot, too.
func (w *worker) stopStep(index int32) {
	if w.pendingStart != nil && w.pendingStart.GetStep() == index {
		w.pendingStart = nil
	}
	switch {
	case w.run != nil && w.run.Step().Index == index:
		w.log.Info("step is cut", "step", index)
		w.stopped = true
		w.run.Cut()
	case w.finals[index] != nil:
		w.sendSnapshot(w.finals[index])
	case index >= w.endedBefore && w.run == nil:
		w.finalizeUnstarted(index)
	}
}

// finalizeUnstarted makes and sends the empty final snapshot of a step.
func (w *worker) finalizeUnstarted(index int32) {
	w.endedBefore = index + 1
	nothing := measure.NewMeasurement(len(w.assignment.GetRequests()))
	nothing.Journeys = measure.NewJourneys(len(w.assignment.GetJourneys()))
	m, err := wire.Encode(nothing)
	if err != nil {
		w.log.Error("snapshot", "step", index, "error", err.Error())
		return
	}
	w.finals[index] = &workerv1.Snapshot{Step: index, Sequence: 1, Final: true, Measurement: m}
	w.sendSnapshot(w.finals[index])
}

// snapshot sends what the running step has measured so far.
func (w *worker) snapshot(final bool) {
	if w.run == nil {
		return
	}
	var step *measure.Measurement
	var s *workerv1.Snapshot
	var err error
	if final {
		step, s, err = w.measure(final)
	} else {
		w.background.Run(func() { step, s, err = w.measure(final) })
	}
	if err != nil {
		w.log.Error("snapshot", "step", w.run.Step().Index, "error", err.Error())
		return
	}
	if final {
		w.finals[s.GetStep()] = s
		w.logResult(s.GetStep(), step)
	}
	w.sendSnapshot(s)
}

// logResult leaves a copy of the result where it outlives both the worker and the
// operator: how many were due and sent, and the response times of all requests,
// as HdrHistogram V2, compressed, base64.
func (w *worker) logResult(index int32, step *measure.Measurement) {
	total, err := step.Total()
	if err != nil {
		w.log.Error("step ended", "step", index, "error", err.Error())
		return
	}
	histogram, err := total.Response.Encode()
	if err != nil {
		w.log.Error("step ended", "step", index, "error", err.Error())
		return
	}
	w.log.Info("step ended", "step", index, "due", step.Due, "sent", total.Sent, "histogram", histogram)
}

func (w *worker) measure(final bool) (*measure.Measurement, *workerv1.Snapshot, error) {
	step, err := w.run.Snapshot()
	if err != nil {
		return nil, nil, err
	}
	// The start is translated once: it must not change with the clock.
	if began, ok := w.run.Began(); ok && w.startedAt.IsZero() {
		w.startedAt = w.clock.remote(began)
	}
	step.FirstStart, step.LastStart = w.startedAt, w.startedAt
	if final {
		step.Clients = w.run.Clients()
	}
	if !final && !w.assignment.GetLiveIdeal() {
		step.DropIdeal() // which costs the operator half as much again
	}
	step.ClockError = w.clock.bound(time.Now())
	m, err := w.encode(step, final)
	if err != nil {
		return nil, nil, err
	}
	if final {
		if err := wire.AddSeries(m, w.run.Series(step.Due)); err != nil {
			w.log.Error("series", "step", w.run.Step().Index, "error", err.Error())
		}
	}
	w.sequence++
	return step, &workerv1.Snapshot{Step: w.run.Step().Index, Sequence: w.sequence, Final: final, Measurement: m, Cut: final && w.cut}, nil
}

// encode is the measurement as it travels. A final one may be sent again to another coordinator,
// which may not read packed histograms.
func (w *worker) encode(step *measure.Measurement, final bool) (*workerv1.StepMeasurement, error) {
	if final {
		return wire.Encode(step)
	}
	return wire.EncodeGroups(step, w.assignment.GetGroups(), w.packs)
}

// finishStep keeps the final snapshot of a step that is over, and opens the
// connections for the next.
func (w *worker) finishStep(ctx context.Context) {
	w.snapshot(true)
	index := w.run.Step().Index
	w.run, w.endedBefore = nil, index+1
	w.openNext(ctx)
}

// openNext opens the connections for the step that follows the last one, if it is known.
func (w *worker) openNext(ctx context.Context) {
	next, ok := w.assembly.StepAfter(w.endedBefore - 1)
	if !ok || w.shuttingDown {
		return
	}
	ctx, w.stopOpening = context.WithCancel(ctx)
	runner := w.assembly.Runner(next)
	go runner.Prepare(ctx, next)
}

// addSteps takes up the steps that follow those which are known, as a search adds them.
// None is added before the worker is ready.
func (w *worker) addSteps(ctx context.Context, steps []*workerv1.Step) {
	for _, s := range steps {
		if w.assembly == nil || len(w.plan) > 0 && s.GetIndex() <= w.plan[len(w.plan)-1].GetIndex() {
			continue
		}
		if err := w.assembly.AddStep(s); err != nil {
			w.log.Error("add step", "step", s.GetIndex(), "error", err.Error())
			continue
		}
		w.plan = append(slices.Clip(w.plan), s)
		w.log.Info("step added", "step", s.GetIndex())
		if w.run == nil && w.stopOpening == nil && w.endedBefore > 0 {
			w.openNext(ctx)
		}
	}
}

// endOpening ends the opening of connections for the next step.
func (w *worker) endOpening() {
	if w.stopOpening != nil {
		w.stopOpening()
		w.stopOpening = nil
	}
}

// acknowledge drops the final snapshots that the operator has stored.
func (w *worker) acknowledge(before int32) {
	for index := range w.finals {
		if index < before {
			delete(w.finals, index)
		}
	}
}
