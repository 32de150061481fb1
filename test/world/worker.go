package world

import (
	"maps"
	"slices"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/instant"
)

const (
	// reconnect is the time between two attempts to connect.
	reconnect = 700 * time.Millisecond
	// deadPeer is the time after which both sides notice that nothing comes from the other.
	deadPeer = 15 * time.Second
	// lastWords is the time for which a worker that must end waits for its results to be
	// stored.
	lastWords = 10 * time.Second
	// readEvery is the time between two readings of a number.
	readEvery = 500 * time.Millisecond
	// reportEvery is the time between two reports of a step.
	reportEvery = time.Second
)

// Worker is a pod with its process.
type Worker struct {
	world  *World
	number int
	job    int // whose pod it is
	Traits

	alive      bool
	session    *operator // as far as the worker has noticed
	cutOff     bool
	connecting bool
	leaving    bool

	assigned, prepared bool
	answers            int32 // to the questions of preflight
	running            *execution
	held               map[int32]*snapshot // final ones that are not acknowledged
	endedBefore        int32
	round              int32 // in which it reads the number; 0: it reads none
}

// Traits make a worker differ from one that is ready at once and carries every step out. A
// pod that takes its place has them, too.
type Traits struct {
	// Hindered is the reason and the message with which the pod waits; empty: it does not.
	Hindered [2]string
	// Refuses is the reason and the message of a worker that is not ready, and Busy says that
	// it is not ready for no reason.
	Refuses [2]string
	Busy    bool
	// Stuck keeps the pod waiting for no reason that its status says. Refused keeps it from
	// being created, which is known once it has been missing for a while.
	Stuck, Refused bool
	// Lingers says that the worker lives on when its Job is deleted, until its successor's
	// pod is there.
	Lingers bool
	// DiesIn ends the pod that long after a step has begun; 0: never.
	DiesIn time.Duration
}

// execution is a step that a worker runs.
type execution struct {
	step   int32
	load   v1beta1.StepLoad
	start  time.Time // by the world's clock
	length time.Duration
	// late is how long after the start the worker received it.
	late time.Duration
	// began is the instant at which it did begin, by the clock of the operator that said so.
	began time.Time
	// counted is how many of its requests the target has counted, and reported what was
	// reported last.
	counted  int64
	reported *snapshot
}

// isClosed says whether its users wait for responses: no number of requests is planned, and a
// worker that begins late misses none.
func (e *execution) isClosed() bool { return e.load.Requests == 0 }

// Boot brings the pod up: its process runs after a second, and connects after two.
func (x *Worker) Boot() {
	w, job := x.world, x.world.api.jobs
	if x.Lingers && x.session != nil {
		x.session.detach(x)
		x.Traits = Traits{}
	}
	*x = Worker{world: w, number: x.number, job: job, held: map[int32]*snapshot{}, Traits: x.Traits}
	if x.Refused {
		w.After(lifecycle.PodsExpected, func() {
			if x.Refused {
				w.api.podBecomes(x.number, pod{reason: v1beta1.ReasonCreateRefused, message: "the pod cannot be created: exceeded quota: tests, requested: pods=1, used: pods=2, limited: pods=2"})
			}
		})
		return
	}
	w.api.pods[x.number] = pod{state: exchange.PodWaiting, reason: x.Hindered[0], message: x.Hindered[1], job: job}
	if x.Stuck || x.Hindered[0] != "" {
		return
	}
	is := func() bool {
		p := w.api.pods[x.number]
		return x.job == job && (x.Lingers || p.job == job && p.state != exchange.PodEnded)
	}
	w.After(time.Second, func() {
		if is() {
			x.alive = true
			w.api.podBecomes(x.number, pod{state: exchange.PodRunning, job: job})
		}
	})
	w.After(2*time.Second, func() {
		if is() {
			x.connect()
		}
	})
}

// connect opens a session, as soon as there is an operator to be found.
func (x *Worker) connect() {
	w := x.world
	if !x.alive || x.session != nil || x.connecting {
		return
	}
	if x.cutOff || w.leader == nil {
		x.connecting = true
		w.After(reconnect, func() {
			x.connecting = false
			x.connect()
		})
		return
	}
	o := w.leader
	x.session, x.round = o, 0
	o.attach(x)
	x.receives(o)
	w.in(w.says, func() { x.saysReady(o) })
}

// loseSession is noticed after a while.
func (x *Worker) loseSession(noticed time.Duration) {
	o := x.session
	x.world.After(noticed, func() {
		if x.session == o {
			x.session = nil
			x.connect()
		}
	})
}

// receives carries out what an operator directs, and sends what it may lack.
func (x *Worker) receives(o *operator) {
	if !x.alive || x.session != o || x.cutOff || o.since.IsZero() {
		return
	}
	d := o.directive
	maps.DeleteFunc(x.held, func(step int32, _ *snapshot) bool { return step < d.Acknowledged })
	if d.Finish {
		x.end("Completed, exit code 0", time.Second)
		return
	}
	if !x.assigned {
		x.assigned = true
		x.world.in(x.world.prepares, x.prepare)
	}
	if round := d.AuditRound(int32(x.number)); round != x.round {
		if x.round = round; round != 0 {
			x.world.in(x.world.reads, func() { x.read(round, exchange.Reading{}, x.world.now) })
		}
	}
	if step := d.ActiveStep(); step != exchange.NoStep {
		x.begin(o, step, d.Start.At)
		if d.Stop {
			x.stop(step)
		}
	}
	x.sends(o)
	x.leaveIfDone()
}

// prepare asks the questions of the assignment and makes the worker ready.
func (x *Worker) prepare() {
	spec := &x.world.api.lt.Spec
	x.prepared, x.answers = true, int32(len(spec.Preflight)+len(plan.ControlPreflight(spec)))
	if x.session != nil {
		x.saysReady(x.session)
		x.receives(x.session)
	}
}

// read reads the number of the audits again and again, as long as the round lasts.
func (x *Worker) read(round int32, last exchange.Reading, since time.Time) {
	if !x.alive || x.round != round {
		return
	}
	now := x.world.tell()
	if now != last {
		last, since = now, x.world.now
	}
	now.Unchanged = x.world.now.Sub(since)
	if o := x.session; o != nil && o.alive && !x.cutOff {
		o.takeReading(x, round, now)
	}
	x.world.After(readEvery, func() { x.read(round, last, since) })
}

// tell is what the target tells of what it has stored.
func (t *Target) tell() exchange.Reading {
	if t.Problem != "" {
		return exchange.Reading{Problem: t.Problem}
	}
	if t.Restless {
		t.Extra++
	}
	return exchange.Reading{Read: true, Value: t.stored() - t.Hidden}
}

// BecomesReady removes what keeps the worker from being ready.
func (x *Worker) BecomesReady() {
	x.Refuses, x.Busy = [2]string{}, false
	if o := x.session; o != nil {
		x.saysReady(o)
	}
}

// saysReady sends the readiness.
func (x *Worker) saysReady(o *operator) {
	if x.alive && x.session == o && !x.cutOff && o.alive && x.prepared {
		o.isReady(x, !x.Busy && x.Refuses[0] == "", x.Refuses)
	}
}

// sends sends what the worker holds, and what it has measured so far.
func (x *Worker) sends(o *operator) {
	if !x.alive || x.session != o || x.cutOff || !o.alive {
		return
	}
	for _, step := range slices.Sorted(maps.Keys(x.held)) {
		o.takes(x, step, x.held[step])
	}
	if e := x.running; e != nil && !x.world.instant {
		x.reports(o, e)
	}
}

// reports sends what the worker has measured of its step so far.
func (x *Worker) reports(o *operator, e *execution) {
	e.reported = x.measured(e, x.elapsed(e), false)
	o.takes(x, e.step, e.reported)
}

// begin runs a step from an instant of the operator's clock on.
func (x *Worker) begin(o *operator, step int32, at time.Time) {
	if x.leaving || x.running != nil || step < x.endedBefore || !x.prepared {
		return
	}
	w := x.world
	start := at.Add(-o.skew)
	e := &execution{step: step, load: w.api.lt.Status.Steps[step].Load, start: start, length: time.Second} // of a burst
	if d := e.load.Duration; d != nil {
		e.length = d.Duration
	}
	e.late = max(0, w.now.Sub(start))
	w.latest = max(w.latest, e.late)
	e.began = at.Add(e.late)
	x.running = e
	x.ticks(e, instant.Later(start, w.now).Add(w.reports).Sub(w.now))
	w.After(max(0, start.Add(e.length+100*time.Millisecond).Sub(w.now)), func() {
		if x.alive && x.running == e {
			x.ends(false)
		}
	})
	if x.DiesIn > 0 {
		w.After(start.Add(x.DiesIn).Sub(w.now), func() {
			if x.running == e {
				x.Die("OOMKilled, exit code 137")
			}
		})
	}
}

// ticks sends a report after a while, and then each second. The last report of a world
// without faults is the one at the end of the step.
func (x *Worker) ticks(e *execution, in time.Duration) {
	w := x.world
	if w.instant && !w.now.Add(in).Before(e.start.Add(e.length)) {
		return
	}
	w.After(in, func() {
		if !x.alive || x.running != e {
			return
		}
		if o := x.session; o != nil {
			x.sends(o)
			if w.instant {
				x.reports(o, e)
			}
		}
		x.ticks(e, reportEvery)
	})
}

// stop ends a step before its time. A step that has not begun ends with nothing.
func (x *Worker) stop(step int32) {
	switch {
	case x.running != nil && x.running.step == step:
		if !x.world.instant {
			x.ends(false)
		} else if m := x.running.reported; m != nil {
			x.holds(m) // which is what a reader of a story knows
		}
	case x.running == nil && step >= x.endedBefore && x.assigned:
		x.held[step] = &snapshot{final: true}
		x.endedBefore = step + 1
	}
}

// ends keeps the final snapshot of the step that runs.
func (x *Worker) ends(cut bool) {
	m := x.measured(x.running, x.elapsed(x.running), true)
	m.cut = cut
	x.holds(m)
}

// holds keeps the last snapshot of the step that runs until it is acknowledged.
func (x *Worker) holds(m *snapshot) {
	step := x.running.step
	m.final = true
	x.held[step] = m
	x.running, x.endedBefore = nil, step+1
	if o := x.session; o != nil {
		x.sends(o)
	}
}
