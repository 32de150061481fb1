package world

import (
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
)

// Die ends the pod at once.
func (x *Worker) Die(message string) {
	x.becomes(pod{state: exchange.PodEnded, reason: v1beta1.ReasonWorkerLost, message: message, job: x.job})
}

// becomes ends the process, after which its pod is like that.
func (x *Worker) becomes(p pod) {
	if x.alive {
		x.die()
		x.world.api.podBecomes(x.number, p)
	}
}

// die ends the process at once.
func (x *Worker) die() {
	if !x.alive {
		return
	}
	x.alive = false
	if e := x.running; e != nil {
		if !x.world.instant {
			x.counts(e, x.due(e, x.elapsed(e)))
		}
		x.running = nil
	}
	if o := x.session; o != nil && o.alive && !x.cutOff {
		o.detach(x)
	}
	x.session = nil
}

// end ends the pod in a while.
func (x *Worker) end(message string, in time.Duration) {
	x.later(in, func() { x.Die(message) })
}

// Drain deletes the pod with grace: the worker cuts its step, hands over what it measured,
// and is gone a second later.
func (x *Worker) Drain() {
	x.handsOver("its pod was evicted, as in a node drain")
	x.end("Error, exit code 1", time.Second)
}

// leave makes the process hand over what it measured, and end.
func (x *Worker) leave() {
	if x.leaving || !x.alive {
		return
	}
	x.leaving = true
	x.handsOver("its pod is being deleted")
	x.vanish(lastWords)
	x.leaveIfDone()
}

// handsOver ends the step, as the pod is being deleted.
func (x *Worker) handsOver(message string) {
	x.world.api.podBecomes(x.number, pod{state: exchange.PodRunning, ending: true, message: message, job: x.job})
	if x.running != nil {
		x.ends(true)
	}
}

func (x *Worker) leaveIfDone() {
	if x.leaving && x.running == nil && len(x.held) == 0 {
		x.vanish(0)
	}
}

// vanish deletes the pod in a while.
func (x *Worker) vanish(in time.Duration) {
	x.later(in, func() { x.becomes(pod{}) })
}

// later does something in a while to this pod, and to none that takes its place.
func (x *Worker) later(in time.Duration, what func()) {
	job := x.job
	x.world.After(in, func() {
		if x.job == job {
			what()
		}
	})
}

// FallSilent cuts the worker off for good, at once on both sides, and ends its step.
func (x *Worker) FallSilent() {
	x.cutOff, x.running = true, nil
	if o := x.session; o != nil {
		o.seats[x.number].seen = o.now()
		o.detach(x)
		x.session = nil
	}
}

// isCutOff lets nothing go either way for that long.
func (x *Worker) isCutOff(d time.Duration) {
	if x.cutOff {
		return
	}
	x.cutOff = true
	o := x.session
	x.world.After(deadPeer, func() {
		if x.cutOff && x.session == o && o != nil {
			if o.alive {
				o.detach(x)
			}
			x.session = nil
			x.connect()
		}
	})
	x.world.After(d, func() {
		x.cutOff = false
		if o := x.session; o != nil && o.alive {
			x.receives(o)
			x.saysReady(o)
		}
	})
}
