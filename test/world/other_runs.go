package world

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/queue"
)

// Of other runs the world has only what the queue has of them: each begins in a pass of an
// operator, as the run itself does, and ends after a while.

// oneAtATime are the limits of the queue.
var oneAtATime = queue.Limits{Runs: 1}

// adds makes another run, in that state, that takes that long.
func (w *World) adds(state queue.State, priority int32, d time.Duration) queue.Run {
	r := queue.Run{
		UID: types.UID(fmt.Sprintf("other %d", len(w.lengths)+1)), Namespace: "default", State: state,
		Priority: priority, Created: Began.Add(-time.Minute), Workers: 1,
	}
	w.lengths[r.UID] = d
	w.api.others = append(slices.Clone(w.api.others), r)
	return r
}

// occupied has another run have the only place from the beginning on, for so long.
func occupied(d time.Duration) func(*World) {
	return func(w *World) {
		w.begun(w.adds(queue.Begun, 0, d).UID)
		w.leader.cache.others = w.api.others
	}
}

// another makes a run that begins before the run does, unless that has begun.
func another(d time.Duration) func(*World) {
	return func(w *World) {
		w.slack += d + 2*lastRetry
		r := w.adds(queue.Waiting, 1, d)
		w.say("%s comes", r.UID)
		w.api.othersChanged()
	}
}

// begun ends a run that begins now, when its time is over.
func (w *World) begun(uid types.UID) {
	w.After(w.lengths[uid], func() {
		w.say("%s ends", uid)
		w.api.others = slices.DeleteFunc(slices.Clone(w.api.others), func(r queue.Run) bool { return r.UID == uid })
		w.api.othersChanged()
	})
}

// othersChanged tells every operator of the other runs, each when its cache has them.
func (a *apiServer) othersChanged() {
	a.revision++
	for _, o := range a.world.all {
		o.watch(a.copy())
	}
}

// beginOther writes that another run begins.
func (a *apiServer) beginOther(uid types.UID) error {
	if err := a.reachable(); err != nil {
		return err
	}
	a.others = slices.Clone(a.others)
	for i := range a.others {
		if r := &a.others[i]; r.UID == uid && r.State == queue.Waiting {
			r.State = queue.Begun
			a.world.say("%s begins", uid)
			a.world.begun(uid)
			a.othersChanged()
		}
	}
	return a.answered()
}

// runs are all that have not ended, as the queue reads them.
func (o *operator) runs() []queue.Run {
	lt := o.cache.lt
	if lifecycle.Finished(lt) {
		return o.cache.others
	}
	own := queue.Run{UID: lt.UID, Namespace: lt.Namespace, Name: lt.Name, Created: Began, Workers: int32(len(o.seats)), State: o.stateOf(lt)}
	own.GaveWay = lifecycle.LetsOthersPass(lt, o.now())
	return append(slices.Clone(o.cache.others), own)
}

// stateOf is what the run asks of the queue.
func (o *operator) stateOf(lt *v1beta1.LoadTest) queue.State {
	switch {
	case lt.Status.StartTime != nil || lifecycle.Finished(lt):
		return queue.Begun
	case lt.Spec.Suspend || lt.Spec.Terminate || o.rules().Hold(o.now()) != nil:
		return queue.Held
	}
	return queue.Waiting
}

// place is where the run stands that is to begin; it has the place from then on.
func (o *operator) place() *queue.Place {
	if o.world.instant {
		return o.world.Place
	}
	if o.stateOf(o.cache.lt) != queue.Waiting {
		return nil
	}
	place, line := o.ledger.Admit(o.cache.lt.UID, o.runs(), oneAtATime)
	o.wakeNext(line, o.cache.lt.UID)
	return &place
}

// wouldBegin is the same, and changes nothing.
func (o *operator) wouldBegin() *queue.Place {
	if o.stateOf(o.cache.lt) != queue.Waiting {
		return nil
	}
	place := o.ledger.Line(o.runs(), oneAtATime).Place(o.cache.lt.UID)
	return &place
}

// isAwaited says whether another run waits for the place of one that may give way.
func (o *operator) isAwaited() bool {
	lt := o.cache.lt
	if !lifecycle.MayGiveWay(lt, o.now()) {
		return false
	}
	if o.world.instant {
		return o.world.PlaceAwaited
	}
	return o.ledger.Line(o.runs(), oneAtATime).WaitsFor(lt.Namespace)
}

// leaves takes back the place of a run that is over, or does not begin although it may.
func (o *operator) leaves(seen lifecycle.Observed, d lifecycle.Decision) {
	if o.world.instant {
		return
	}
	waits := seen.Place != nil && !seen.Place.Begins
	if uid := o.cache.lt.UID; lifecycle.Finished(o.cache.lt) || d.Status.StartTime == nil && !waits {
		o.ledger.Withdraw(uid)
		o.settle(uid)
	}
}

// settle looks at the runs that may begin.
func (o *operator) settle(but types.UID) {
	o.wakeNext(o.ledger.Line(o.runs(), oneAtATime), but)
}

// wakeNext asks for a pass over each run that may begin. The notification of the run itself may
// be lost.
func (o *operator) wakeNext(line *queue.Line, but types.UID) {
	for _, r := range line.Begin() {
		switch uid := r.UID; {
		case uid == but:
		case uid != o.cache.lt.UID:
			o.world.After(0, func() { o.passOther(uid) })
		case o.world.dropNotices > 0:
			o.world.dropNotices--
			o.world.say("a notification of the queue is lost")
		default:
			o.enqueue()
		}
	}
}

// passOther is a pass over another run, which begins if it may.
func (o *operator) passOther(uid types.UID) {
	waits := func(r queue.Run) bool { return r.UID == uid && r.State == queue.Waiting }
	if !o.alive || !slices.ContainsFunc(o.cache.others, waits) {
		return
	}
	place, line := o.ledger.Admit(uid, o.runs(), oneAtATime)
	o.wakeNext(line, uid)
	if place.Begins && o.world.api.beginOther(uid) != nil {
		o.world.After(lastRetry, func() { o.passOther(uid) })
	}
}
