package session

import (
	"context"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/measure/wire"
)

// startWaiting starts the step that was asked for, if it is not an old one and
// the time of this stream's coordinator is known.
func (w *worker) startWaiting() bool {
	s := w.waiting
	if s == nil || w.plan == nil || w.asked == 0 {
		return false
	}
	w.waiting = nil
	if w.leaving || w.run != nil || s.GetStep() < w.ended {
		return false // it runs or has run: it was said twice
	}
	step, err := w.plan.step(s.GetStep())
	if err != nil {
		w.log.Error("start", "error", err.Error())
		return false
	}
	w.stopWarmUp()
	now := time.Now()
	start := w.clock.local(s.GetStartUnixNanos(), now)
	w.sequence, w.startedAt = 0, time.Time{}
	w.run = w.plan.runner.Start(step, start)
	w.log.Info("step starts", "step", step.Index, "in", start.Sub(now).String(), "clockError", w.clock.bound(now).String())
	return true
}

// stopStep cuts a step. One that never began has its final snapshot too.
func (w *worker) stopStep(index int32) {
	if w.waiting != nil && w.waiting.GetStep() == index {
		w.waiting = nil
	}
	switch {
	case w.run != nil && w.run.Step().Index == index:
		w.log.Info("step is cut", "step", index)
		w.run.Cut()
	case w.finals[index] != nil:
		w.saySnapshot(w.finals[index])
	case index >= w.ended && w.run == nil:
		w.neverBegan(index)
	}
}

func (w *worker) neverBegan(index int32) {
	w.ended = index + 1
	m, err := wire.FromStep(measure.NewStep(len(w.assignment.GetRequests())))
	if err != nil {
		w.log.Error("snapshot", "step", index, "error", err.Error())
		return
	}
	w.finals[index] = &workerv1.Snapshot{Step: index, Sequence: 1, Final: true, Measurement: m}
	w.saySnapshot(w.finals[index])
}

// snapshot says what the running step measured so far.
func (w *worker) snapshot(final bool) {
	if w.run == nil {
		return
	}
	step, s, err := w.measure(final)
	if err != nil {
		w.log.Error("snapshot", "step", w.run.Step().Index, "error", err.Error())
		return
	}
	if final {
		w.finals[s.GetStep()] = s
		w.copyToLog(s.GetStep(), step)
	}
	w.saySnapshot(s)
}

// copyToLog leaves a copy of the result where it outlives both the worker and the
// operator: how many were due and sent, and the response times of all requests,
// as HdrHistogram V2, compressed, base64.
func (w *worker) copyToLog(index int32, step *measure.Step) {
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

func (w *worker) measure(final bool) (*measure.Step, *workerv1.Snapshot, error) {
	step, err := w.run.Snapshot()
	if err != nil {
		return nil, nil, err
	}
	// When it began is translated once: it must not change with the clock.
	if began, ok := w.run.Began(); ok && w.startedAt.IsZero() {
		w.startedAt = w.clock.remote(began)
	}
	step.FirstStart, step.LastStart = w.startedAt, w.startedAt
	step.ClockError = w.clock.bound(time.Now())
	m, err := wire.FromStep(step)
	if err != nil {
		return nil, nil, err
	}
	w.sequence++
	return step, &workerv1.Snapshot{Step: w.run.Step().Index, Sequence: w.sequence, Final: final, Measurement: m}, nil
}

// finishStep keeps the final snapshot of a step that is over, and opens the
// connections for the next.
func (w *worker) finishStep(ctx context.Context) {
	w.snapshot(true)
	index := w.run.Step().Index
	w.run, w.ended = nil, index+1
	next, ok := w.plan.after(index)
	if !ok || w.leaving {
		return
	}
	ctx, w.warmUp = context.WithCancel(ctx)
	runner := w.plan.runner
	go runner.Prepare(ctx, next)
}

func (w *worker) stopWarmUp() {
	if w.warmUp != nil {
		w.warmUp()
		w.warmUp = nil
	}
}

// acknowledge forgets what the operator has stored.
func (w *worker) acknowledge(before int32) {
	for index := range w.finals {
		if index < before {
			delete(w.finals, index)
		}
	}
}
