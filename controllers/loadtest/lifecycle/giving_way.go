package lifecycle

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/instant"
	"github.com/loadtest-dev/loadtest-operator/text"
)

const (
	// placeUnused is how long a run may have a place in the queue in which its workers do not become
	// ready, while others wait for it: nodes and images come in less.
	placeUnused = 2 * time.Minute
	// awaitedLooked is the time between two looks at whether others wait.
	awaitedLooked = 10 * time.Second
)

// MayGiveWay says whether a run has had its place for so long without a step that it may have to
// give it to others that wait.
func MayGiveWay(lt *v1beta1.LoadTest, now time.Time) bool {
	in := &inputs{read: lt.Status}
	return in.read.StartTime != nil && !isFinished(in.read.Conditions) && !in.hasStarted() && !now.Before(in.read.StartTime.Add(placeUnused))
}

// giveWay takes a run back into the queue whose workers do not become ready while others wait for
// its place. Nothing was sent: what a setup has sent could not be sent again.
func (r *starting) giveWay() (goesOn bool) {
	// A process that took the run over knows of its workers only since then.
	switch at := instant.Later(r.read.StartTime.Time, r.seen.Since).Add(placeUnused); {
	case r.seen.Since.IsZero():
		return true
	case r.now.Before(at):
		r.wake(at)
		return true
	case !r.seen.PlaceAwaited, r.mayHaveSetUp():
		r.wake(r.now.Add(awaitedLooked))
		return true
	}
	had := r.placeHad() + r.now.Sub(r.read.StartTime.Time)
	r.withoutPlace()
	s := &r.out.Status
	s.Phase = v1beta1.PhaseQueued
	s.Internal.GaveWayAfter = &metav1.Duration{Duration: had}
	message := r.gaveWay() + " " + sentence(r.wait.message)
	r.set(v1beta1.ConditionQueued, metav1.ConditionTrue, v1beta1.ReasonGaveWay, message)
	r.warn(v1beta1.ReasonGaveWay, message)
	return false
}

// mayHaveSetUp says whether a worker may have sent a part of the setup.
func (r *starting) mayHaveSetUp() bool {
	return r.spec.Setup != nil && slices.ContainsFunc(r.seen.Workers, func(w exchange.Worker) bool {
		return w.Connected || w.Pod != exchange.PodAbsent && w.Pod != exchange.PodWaiting
	})
}

// LetsOthersPass says whether a run that gave its place away comes after the others that wait: for as
// long as it had places. A run of priority is not last for ever because its nodes took minutes.
func LetsOthersPass(lt *v1beta1.LoadTest, now time.Time) bool {
	had, queued := lt.Status.Internal.GaveWayAfter, meta.FindStatusCondition(lt.Status.Conditions, v1beta1.ConditionQueued)
	return had != nil && queued != nil && queued.Status == metav1.ConditionTrue && now.Before(queued.LastTransitionTime.Add(had.Duration))
}

// gaveWay is a sentence that says that a run did; empty: it did not.
func (r *pass) gaveWay() string {
	had := r.out.Status.Internal.GaveWayAfter
	if had == nil {
		return ""
	}
	return fmt.Sprintf("The run had a place for %s and its workers were not ready; for as long, others that wait come first.", text.Short(had.Round(time.Second)))
}

// placeHad is for how long a run had places before this one.
func (r *inputs) placeHad() time.Duration {
	if had := r.read.Internal.GaveWayAfter; had != nil {
		return had.Duration
	}
	return 0
}

// startDeadline is when the workers must be ready: the time in places that it gave to others counts. A load
// waits, with its workers ready, for the loads before it: a worker that is not ready any more has the whole
// time again; and so have loads that were held with the run.
func (r *inputs) startDeadline() (at time.Time, limited bool) {
	from := r.read.StartTime.Add(-r.placeHad())
	switch {
	case r.seen.Parent != nil:
		from = instant.Later(from, r.lastTrue(v1beta1.ConditionWorkersReady))
	case len(r.spec.Loads) > 0:
		from = instant.Later(from, r.lastTrue(v1beta1.ConditionSuspended))
	}
	return deadline(from, r.startSeconds())
}

// startSeconds is the time that the workers have to become ready; nil: any. A setup sends load until then,
// and the spec may say more by now than what was judged.
func (r *inputs) startSeconds() *int64 {
	seconds, limit := r.spec.StartDeadlineSeconds, int64(r.rules.Limits.Duration/time.Second)
	if r.spec.Setup != nil && seconds != nil && limit > 0 {
		return ptr.To(min(*seconds, limit))
	}
	return seconds
}

// lastTrue is the latest instant at which a condition was True, as far as it is known; zero: there is no such
// condition. Of one that never was, it is the instant at which it came.
func (r *inputs) lastTrue(kind string) time.Time {
	switch c := meta.FindStatusCondition(r.read.Conditions, kind); {
	case c == nil:
		return time.Time{}
	case c.Status == metav1.ConditionTrue:
		return r.now
	default:
		return c.LastTransitionTime.Time
	}
}
