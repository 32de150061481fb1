package coordinator

import (
	"fmt"
	"time"
	"weak"

	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/measure/wire"
)

// Observe returns what is known of a run. It merges only if a snapshot came
// since it last did.
func (c *Coordinator) Observe(id RunID) exchange.Observation {
	var r *runState
	c.locked(func() { r = c.runs[id] })
	if r == nil {
		return exchange.Observation{}
	}
	o, toMerge := c.collect(r)
	if toMerge == nil {
		return o
	}
	began := c.clock.Now()
	o.Step = c.merge(toMerge)
	if o.Step != nil {
		c.metrics.merges.Observe(c.clock.Since(began).Seconds())
	}
	c.locked(func() {
		if toMerge.version >= r.mergedVersion {
			r.merged, r.mergedVersion = weak.Make(o.Step), toMerge.version
		}
	})
	return o
}

// collect returns what is known of a run without the step, and what to merge for it;
// nil: the step is known. The ledgers and the series are of
// the same moment as the snapshots.
func (c *Coordinator) collect(r *runState) (o exchange.Observation, found *readings) {
	r.finals.mu.Lock()
	defer r.finals.mu.Unlock()
	var pending []*final
	c.locked(func() {
		o = exchange.Observation{Since: r.since, From: r.from, Started: exchange.NoStep, Workers: r.observeWorkers(), Step: r.merged.Value()}
		if r.directive.Start != nil {
			o.Started = r.directive.Start.Step
		}
		if o.Step == nil || r.mergedVersion != r.version {
			found = r.observeStep()
			pending = r.takeFinals()
		}
	})
	c.addFinals(r, pending)
	if found == nil || found.report == nil {
		return o, found
	}
	found.report.Series = r.finals.copySeries()
	if found.audited {
		var err error
		if found.clients, err = r.finals.copyClients(); err != nil {
			found.err = err
		}
	}
	return o, found
}

func (r *runState) observeWorkers() []exchange.Worker {
	workers := make([]exchange.Worker, len(r.directive.Assignments))
	for number := range workers {
		w := r.worker(int32(number))
		workers[number] = exchange.Worker{
			Connected: w.session != nil && r.refusal(w) == "",
			Refusal:   r.refusal(w),
			Ready:     w.ready,
			Reason:    w.reason,
			Message:   w.message,
			Answers:   w.answers,
			Targets:   w.targets,

			Descriptors: w.descriptors, ControlDescriptors: w.controlDescriptors,

			Readings: w.of(r.directive.AuditRound(int32(number))),
			PodUID:   w.identity.PodUID,
			Node:     w.identity.Node,
			LastSeen: w.lastSeen,
			Begun:    w.begun,
		}
		if r.directive.ActiveStep() != exchange.NoStep {
			latest, ok := w.snapshots[r.directive.Start.Step]
			workers[number].Reported, workers[number].Final, workers[number].Cut = ok, latest.final, latest.cut
			workers[number].Due, workers[number].Sent, workers[number].SessionsDue = latest.due, latest.sent, latest.sessionsDue
		}
	}
	return workers
}

// readings is what is known of a step, to be merged without the mutex.
type readings struct {
	version int64
	// report is nil when nothing was reported.
	report   *exchange.Report
	requests int
	of       []*wire.Reading

	// audited says that workers keep ledgers, clients are those of the workers that are
	// done, and unseen is how many requests the others sent.
	audited bool
	clients *measure.Clients
	unseen  int64
	// err is why there is no result.
	err error
}

// observeStep returns what is known of the directed step.
func (r *runState) observeStep() *readings {
	found := &readings{version: r.version}
	if r.directive.ActiveStep() == exchange.NoStep {
		return found
	}
	o := &exchange.Report{Step: r.directive.Start.Step}
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
		if !latest.ledgers {
			found.unseen += latest.sent
		}
		o.Reporting++
		if latest.final {
			o.Final++
		}
		if latest.received.After(o.Until) {
			o.Until = latest.received
		}
	}
	if r.tooLarge {
		found.err = errTooLarge
	}
	if o.Reporting > 0 {
		o.MeanWindow = windows / time.Duration(o.Reporting)
		found.report, found.requests = o, len(r.directive.Assignments[0].GetRequests())
		found.audited = r.directive.Assignments[0].GetClientHeader() != ""
	}
	return found
}

// merge adds the readings up. Each was validated against the plan that it is merged
// for; that it cannot be merged all the same is a fault of ours, which ends the run
// and not the operator.
func (c *Coordinator) merge(r *readings) *exchange.Report {
	if r.report == nil {
		return nil
	}
	err := r.err
	if err == nil {
		err = c.guarded(func() (err error) {
			r.report.Merged, err = wire.Merge(r.requests, r.of...)
			return err
		})
	}
	if err != nil {
		r.report.Merged, r.report.Err = nil, fmt.Errorf("the measurements of %d workers cannot be merged: %w", r.report.Reporting, err)
		return r.report
	}
	if r.audited {
		r.clients.Unseen += r.unseen
		r.report.Merged.Clients = r.clients
	}
	return r.report
}
