package model

import (
	"maps"
	"slices"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
)

const (
	// reconnect is the time between two attempts to connect.
	reconnect = 700 * time.Millisecond
	// deadPeer is when both sides notice that nothing comes from the other.
	deadPeer = 15 * time.Second
	// lastWords is how long a worker that must end waits for its results to be stored.
	lastWords = 10 * time.Second
)

// worker is a pod with its process.
type worker struct {
	world  *world
	number int
	job    int // whose pod it is

	alive      bool
	session    *operator // as far as the worker has noticed
	cutOff     bool
	connecting bool
	leaving    bool

	assigned, prepared bool
	running            *execution
	held               map[int32]snapshot // final ones that are not acknowledged
	endedBefore        int32
	round              int32 // in which it reads the number; 0: it reads none
}

// execution is a step that a worker runs.
type execution struct {
	step   int32
	load   v1alpha1.StepLoad
	start  time.Time // by the world's clock
	length time.Duration
	// late is how long after the start the worker received it.
	late time.Duration
	// began is when it did begin, by the clock of the operator that said so.
	began time.Time
}

// boot brings the pod up: its process runs after a second, and connects after two.
func (x *worker) boot(job int) {
	*x = worker{world: x.world, number: x.number, job: job, held: map[int32]snapshot{}}
	w := x.world
	w.api.pods[x.number] = pod{state: exchange.PodWaiting, job: job}
	if w.story.unschedulable[x.number] {
		return
	}
	is := func() bool { return x.job == job && w.api.pods[x.number].job == job }
	w.after(time.Second, func() {
		if is() {
			x.alive = true
			w.api.podBecomes(x.number, pod{state: exchange.PodRunning, job: job})
		}
	})
	w.after(2*time.Second, func() {
		if is() {
			x.connect()
		}
	})
}

// connect opens a session, as soon as there is an operator to be found.
func (x *worker) connect() {
	w := x.world
	if !x.alive || x.session != nil || x.connecting {
		return
	}
	if x.cutOff || w.leader == nil {
		x.connecting = true
		w.after(reconnect, func() {
			x.connecting = false
			x.connect()
		})
		return
	}
	o := w.leader
	x.session, x.round = o, 0
	o.attach(x)
	x.receives(o)
	w.after(50*time.Millisecond, func() { x.saysReady(o) })
}

// loseSession is noticed after a while.
func (x *worker) loseSession(noticed time.Duration) {
	o := x.session
	x.world.after(noticed, func() {
		if x.session == o {
			x.session = nil
			x.connect()
		}
	})
}

// receives carries out what an operator directs, and sends what it may lack.
func (x *worker) receives(o *operator) {
	if !x.alive || x.session != o || x.cutOff || o.since.IsZero() {
		return
	}
	d := o.directive
	maps.DeleteFunc(x.held, func(step int32, _ snapshot) bool { return step < d.Acknowledged })
	if d.Finish {
		x.end("Completed, exit code 0", time.Second)
		return
	}
	if !x.assigned {
		x.assigned = true
		x.world.after(100*time.Millisecond, func() {
			x.prepared = true
			if x.session != nil {
				x.saysReady(x.session)
				x.receives(x.session)
			}
		})
	}
	if round := d.AuditRound(int32(x.number)); round != x.round {
		if x.round = round; round != 0 {
			x.reads(round, exchange.Reading{}, x.world.now)
		}
	}
	if step := d.ActiveStep(); step != exchange.NoStep {
		x.begin(o, step, d.Start.At)
		if d.Stop {
			x.stop(step, false)
		}
	}
	x.sends(o)
	x.leaveIfDone()
}

// reads reads the number of the audit again and again, as long as the round lasts.
func (x *worker) reads(round int32, last exchange.Reading, since time.Time) {
	if !x.alive || x.round != round {
		return
	}
	now := exchange.Reading{Read: true, Value: x.world.stored()}
	if now != last {
		last, since = now, x.world.now
	}
	now.Unchanged = x.world.now.Sub(since)
	if o := x.session; o != nil && o.alive && !x.cutOff {
		o.takeReading(x, round, now)
	}
	x.world.after(500*time.Millisecond, func() { x.reads(round, last, since) })
}

// saysReady sends the readiness.
func (x *worker) saysReady(o *operator) {
	if x.alive && x.session == o && !x.cutOff && o.alive && x.prepared {
		refuses, not := x.world.refuses[x.number]
		o.isReady(x, !not, refuses)
	}
}

// sends sends what the worker holds, and has measured so far.
func (x *worker) sends(o *operator) {
	if !x.alive || x.session != o || x.cutOff || !o.alive {
		return
	}
	for _, step := range slices.Sorted(maps.Keys(x.held)) {
		o.takes(x, step, x.held[step])
	}
	if x.running != nil {
		o.takes(x, x.running.step, x.measured())
	}
}

// begin runs a step from an instant of the operator's clock on.
func (x *worker) begin(o *operator, step int32, at time.Time) {
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
	w.after(later(start, w.now).Add(200*time.Millisecond).Sub(w.now), func() { x.tick(e) })
	w.after(max(0, start.Add(e.length+100*time.Millisecond).Sub(w.now)), func() {
		if x.alive && x.running == e {
			x.ends(false)
		}
	})
}

// tick sends a snapshot each second.
func (x *worker) tick(e *execution) {
	if !x.alive || x.running != e {
		return
	}
	if o := x.session; o != nil {
		x.sends(o)
	}
	x.world.after(time.Second, func() { x.tick(e) })
}

// stop ends a step before its time. One that has not begun ends with nothing.
func (x *worker) stop(step int32, cut bool) {
	switch {
	case x.running != nil && x.running.step == step:
		x.ends(cut)
	case x.running == nil && step >= x.endedBefore && x.assigned:
		x.held[step] = snapshot{final: true}
		x.endedBefore = step + 1
	}
}

// ends keeps the final snapshot of the step that runs.
func (x *worker) ends(cut bool) {
	e := x.running
	m := x.measured()
	m.final, m.cut = true, cut
	x.world.served[e.step] += m.sent
	x.held[e.step] = m
	x.running, x.endedBefore = nil, e.step+1
	if o := x.session; o != nil {
		x.sends(o)
	}
}

// die ends the process at once.
func (x *worker) die() {
	if !x.alive {
		return
	}
	x.alive = false
	if x.running != nil {
		x.world.served[x.running.step] += x.measured().sent
		x.running = nil
	}
	if o := x.session; o != nil && o.alive && !x.cutOff {
		o.detach(x)
	}
	x.session = nil
}

// end ends the process in a while.
func (x *worker) end(message string, in time.Duration) {
	job := x.job
	x.world.after(in, func() {
		if x.alive && x.job == job {
			x.die()
			x.world.api.podBecomes(x.number, pod{state: exchange.PodEnded, message: message, job: job})
		}
	})
}

// leave has the process hand over what it measured, and end.
func (x *worker) leave() {
	if x.leaving || !x.alive {
		return
	}
	w, job := x.world, x.job
	x.leaving = true
	w.api.podBecomes(x.number, pod{state: exchange.PodRunning, ending: true, message: "its pod is being deleted", job: job})
	if x.running != nil {
		x.ends(true)
	}
	w.after(lastWords, func() { x.gone(job) })
	x.leaveIfDone()
}

func (x *worker) leaveIfDone() {
	if x.leaving && x.running == nil && len(x.held) == 0 {
		job := x.job
		x.world.after(0, func() { x.gone(job) })
	}
}

// gone is a pod that was deleted.
func (x *worker) gone(job int) {
	if x.alive && x.job == job {
		x.die()
		x.world.api.podBecomes(x.number, pod{})
	}
}

// isCutOff has nothing go either way for so long.
func (x *worker) isCutOff(d time.Duration) {
	if x.cutOff {
		return
	}
	x.cutOff = true
	o := x.session
	x.world.after(deadPeer, func() {
		if x.cutOff && x.session == o && o != nil {
			if o.alive {
				o.detach(x)
			}
			x.session = nil
			x.connect()
		}
	})
	x.world.after(d, func() {
		x.cutOff = false
		if o := x.session; o != nil && o.alive {
			x.receives(o)
			x.saysReady(o)
		}
	})
}

// measured is what the worker has measured of its step until now.
func (x *worker) measured() snapshot {
	e := x.running
	elapsed := min(max(0, x.world.now.Sub(e.start)), e.length)
	return snapshot{
		sent: x.due(e, elapsed), late: x.due(e, min(e.late, elapsed)), lateBy: e.late,
		window: elapsed, began: e.began,
	}
}

// due is how many requests are due on this worker in the first part of a step.
func (x *worker) due(e *execution, elapsed time.Duration) int64 {
	share, _ := plan.Requests(&e.load, int32(x.number), int32(len(x.world.workers)))
	return int64(float64(share) * elapsed.Seconds() / e.length.Seconds())
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
