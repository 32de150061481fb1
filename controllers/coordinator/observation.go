package coordinator

import (
	"fmt"
	"time"

	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/measure/wire"
)

// Observation is what is known of a run's workers and of the step that was
// started last and is not acknowledged yet.
type Observation struct {
	// Workers are by number, always as many as there are assignments.
	Workers []Worker
	// Step is nil when nothing was reported for the directed Start.Step yet.
	Step *StepObservation
}

// Worker is what is known of a worker.
type Worker struct {
	Connected bool
	// Ready is what the worker said last; while it is not ready, Reason and
	// Message are why, if it said so. It holds across reconnects of a pod.
	Ready           bool
	Reason, Message string
	// Answers is how many questions of the preflight a worker that is ready had
	// answered as expected.
	Answers int32
	// Pod and Node are those of the latest session.
	Pod, Node string
	// LastSeen is when its latest message came; zero: never.
	LastSeen time.Time
	// Reported says that a snapshot of the directed step is here, Final that it is
	// the final one.
	Reported, Final bool
}

// StepObservation is what the workers reported of the directed step.
type StepObservation struct {
	Step int32
	// Merged is all of it; it is shared and must not be modified.
	Merged *measure.Measurement
	// Reporting is how many workers are in it, Final how many of them are done.
	Reporting, Final int32
	// ReportedUntil is when the newest snapshot in it came.
	ReportedUntil time.Time
	// MeanWindow is the mean of the windows in it. Workers report at different moments
	// of each second: while the step runs, what they all did is of the mean.
	MeanWindow time.Duration
}

// Observe returns what is known of a run. It merges only if a snapshot came
// since it last did.
func (c *Coordinator) Observe(id RunID) Observation {
	c.mu.Lock()
	r, ok := c.runs[id]
	if !ok {
		c.mu.Unlock()
		return Observation{}
	}
	o := Observation{Workers: r.observeWorkers(), Step: r.merged}
	version, fresh := r.version, r.mergedVersion == r.version
	var step *StepObservation
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

func (r *runState) observeWorkers() []Worker {
	workers := make([]Worker, len(r.directive.Assignments))
	for number := range workers {
		w := r.worker(int32(number))
		workers[number] = Worker{
			Connected: w.session != nil,
			Ready:     w.ready,
			Reason:    w.reason,
			Message:   w.message,
			Answers:   w.answers,
			Pod:       w.identity.Pod,
			Node:      w.identity.Node,
			LastSeen:  w.lastSeen,
		}
		if r.directive.open() {
			latest, ok := w.snapshots[r.directive.Start.Step]
			workers[number].Reported, workers[number].Final = ok, latest.final
		}
	}
	return workers
}

// observeStep returns the directed step without the merge, and what to merge;
// nil when nothing was reported.
func (r *runState) observeStep() (*StepObservation, []*wire.Reading) {
	if !r.directive.open() {
		return nil, nil
	}
	o := &StepObservation{Step: r.directive.Start.Step}
	var readings []*wire.Reading
	var windows time.Duration
	for number := range r.directive.Assignments {
		latest, ok := r.worker(int32(number)).snapshots[o.Step]
		if !ok {
			continue
		}
		readings = append(readings, latest.reading)
		windows += latest.reading.Window()
		o.Reporting++
		if latest.final {
			o.Final++
		}
		if latest.received.After(o.ReportedUntil) {
			o.ReportedUntil = latest.received
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

func mergeStep(o *StepObservation, requests int, readings []*wire.Reading) *StepObservation {
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
