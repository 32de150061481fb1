package coordinator

import (
	"fmt"
	"time"

	"github.com/loadtest-dev/loadtest-operator/controllers/control"
	"github.com/loadtest-dev/loadtest-operator/measure/wire"
)

// Observe returns what is known of a run. It merges only if a snapshot came
// since it last did.
func (c *Coordinator) Observe(id RunID) control.Observation {
	var o control.Observation
	var r *runState
	var toMerge *readings
	c.locked(func() {
		if r = c.runs[id]; r == nil {
			return
		}
		o = control.Observation{Since: r.since, From: r.from, Workers: r.observeWorkers(), Step: r.merged}
		if r.mergedVersion != r.version {
			toMerge = r.observeStep()
		}
	})
	if toMerge == nil {
		return o
	}
	o.Step = c.merge(toMerge)
	c.locked(func() {
		if toMerge.version > r.mergedVersion {
			r.merged, r.mergedVersion = o.Step, toMerge.version
		}
	})
	return o
}

func (r *runState) observeWorkers() []control.Worker {
	workers := make([]control.Worker, len(r.directive.Assignments))
	for number := range workers {
		w := r.worker(int32(number))
		workers[number] = control.Worker{
			Connected: w.session != nil,
			Ready:     w.ready,
			Reason:    w.reason,
			Message:   w.message,
			Answers:   w.answers,
			PodUID:    w.identity.PodUID,
			Node:      w.identity.Node,
			LastSeen:  w.lastSeen,
		}
		if r.directive.ActiveStep() != control.NoStep {
			latest, ok := w.snapshots[r.directive.Start.Step]
			workers[number].Reported, workers[number].Final, workers[number].Cut = ok, latest.final, latest.cut
			workers[number].Sent = latest.sent
		}
	}
	return workers
}

// readings is what is known of a step, to be merged without the mutex.
type readings struct {
	version int64
	// report is nil when nothing was reported.
	report   *control.Report
	requests int
	of       []*wire.Reading
}

// observeStep returns what is known of the directed step.
func (r *runState) observeStep() *readings {
	found := &readings{version: r.version}
	if r.directive.ActiveStep() == control.NoStep {
		return found
	}
	o := &control.Report{Step: r.directive.Start.Step}
	var windows time.Duration
	for number := range r.directive.Assignments {
		latest, ok := r.worker(int32(number)).snapshots[o.Step]
		if !ok {
			continue
		}
		window := latest.reading.Window()
		if windows += window; len(found.of) == 0 || window < o.ShortestWindow {
			o.ShortestWindow = window
		}
		found.of = append(found.of, latest.reading)
		o.Reporting++
		if latest.final {
			o.Final++
		}
		if latest.received.After(o.Until) {
			o.Until = latest.received
		}
	}
	if o.Reporting > 0 {
		o.MeanWindow = windows / time.Duration(o.Reporting)
		found.report, found.requests = o, len(r.directive.Assignments[0].GetRequests())
	}
	return found
}

// merge adds the readings up. Each was validated against the plan that it is merged
// for; that it cannot be merged all the same is a fault of ours, which ends the run
// and not the operator.
func (c *Coordinator) merge(r *readings) *control.Report {
	if r.report == nil {
		return nil
	}
	err := c.guarded(func() (err error) {
		r.report.Merged, err = wire.Merge(r.requests, r.of...)
		return err
	})
	if err != nil {
		r.report.Merged, r.report.Err = nil, fmt.Errorf("the measurements of %d workers cannot be merged: %w", r.report.Reporting, err)
	}
	return r.report
}
