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
	c.mu.Lock()
	r, ok := c.runs[id]
	if !ok {
		c.mu.Unlock()
		return control.Observation{}
	}
	o := control.Observation{Since: r.since, From: r.from, Workers: r.observeWorkers(), Step: r.merged}
	version, fresh := r.version, r.mergedVersion == r.version
	var step *control.Report
	var readings []*wire.Reading
	if !fresh {
		step, readings = r.observeStep()
	}
	requests := r.requests()
	c.mu.Unlock()
	if fresh {
		return o
	}

	o.Step = mergeStep(step, requests, readings)
	c.mu.Lock()
	if version > r.mergedVersion {
		r.merged, r.mergedVersion = o.Step, version
	}
	c.mu.Unlock()
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

// observeStep returns the directed step without the merge, and what to merge;
// nil when nothing was reported.
func (r *runState) observeStep() (*control.Report, []*wire.Reading) {
	if r.directive.ActiveStep() == control.NoStep {
		return nil, nil
	}
	o := &control.Report{Step: r.directive.Start.Step}
	var readings []*wire.Reading
	var windows time.Duration
	for number := range r.directive.Assignments {
		latest, ok := r.worker(int32(number)).snapshots[o.Step]
		if !ok {
			continue
		}
		window := latest.reading.Window()
		if windows += window; len(readings) == 0 || window < o.ShortestWindow {
			o.ShortestWindow = window
		}
		readings = append(readings, latest.reading)
		o.Reporting++
		if latest.final {
			o.Final++
		}
		if latest.received.After(o.Until) {
			o.Until = latest.received
		}
	}
	if o.Reporting == 0 {
		return nil, nil
	}
	o.MeanWindow = windows / time.Duration(o.Reporting)
	return o, readings
}

func (r *runState) requests() int {
	if len(r.directive.Assignments) == 0 {
		return 0
	}
	return len(r.directive.Assignments[0].GetRequests())
}

func mergeStep(o *control.Report, requests int, readings []*wire.Reading) *control.Report {
	if o == nil {
		return nil
	}
	merged, err := wire.Merge(requests, readings...)
	if err != nil {
		// Each reading was validated against the plan that it is merged for.
		panic(fmt.Sprintf("merge validated readings: %v", err))
	}
	o.Merged = merged
	return o
}
