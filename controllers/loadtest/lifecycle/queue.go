package lifecycle

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/queue"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/instant"
)

const (
	// placeRefresh is the least time for which a place stands in a status. The places of all
	// runs that wait change with each run that begins.
	placeRefresh = 10 * time.Second
	// placeRefreshEach is the same for each run that waits, so that all of them together write
	// at most ten statuses a second.
	placeRefreshEach = 100 * time.Millisecond
	// placeBytesPerSecond bounds what they write together if all are as large as this one: the
	// store takes the whole object each time, whose spec may be of 1 MB.
	placeBytesPerSecond = 200_000
)

// queueLooked is how long a run that waits is left alone at most. The end of another run leads to
// a pass over it; should that be missed, it does not wait for the write of its place.
const queueLooked = 5 * time.Minute

// placeRefreshFor is how long a place stands in the status of one of so many runs that wait,
// which takes that many bytes in the store.
func placeRefreshFor(waiting, size int) time.Duration {
	return max(placeRefresh, time.Duration(waiting)*placeRefreshEach, time.Duration(waiting)*(time.Duration(size)*time.Second/placeBytesPerSecond))
}

// queue keeps a run that may not begin yet waiting. The end of another run leads to a pass
// over it; it asks for passes itself only to show people its place.
func (r *accepting) queue(place queue.Place) {
	s := &r.out.Status
	s.Phase = v1beta1.PhaseQueued
	s.Baseline = nil // read again when it begins
	r.withoutJob()
	r.resumed()
	refresh := placeRefreshFor(place.Of, r.seen.Written.Size)
	queued := meta.IsStatusConditionTrue(r.read.Conditions, v1beta1.ConditionQueued)
	if at := instant.Earlier(r.seen.Written.At, r.now).Add(refresh); queued && r.now.Before(at) {
		r.wake(instant.Earlier(at, r.now.Add(queueLooked)))
		return
	}
	r.wake(r.now.Add(min(refresh, queueLooked)))
	message := strings.TrimSpace(fmt.Sprintf("Place %d of %d: %s %s", place.Number, place.Of, place.Message, r.gaveWay()))
	if !queued {
		r.event(string(v1beta1.PhaseQueued), message)
	}
	r.set(v1beta1.ConditionQueued, metav1.ConditionTrue, string(place.Reason), message)
	s.Summary = v1beta1.Summary{Step: place.String()}
}

// GoesOnWaiting is Decide for a run that waits in the queue, and goes on waiting. Of the
// LoadTest it needs the metadata and the status: what the spec says is looked at again when
// its place comes.
func GoesOnWaiting(lt *v1beta1.LoadTest, place queue.Place, written Written, now time.Time) Decision {
	r := &accepting{pass: newPass(lt, policy.Rules{}, Observed{Place: &place, Written: written}, now)}
	r.queue(place)
	r.requeue()
	return r.out
}

// IsQueued says whether a pass has put a run into the queue, and has seen it as it is now.
func IsQueued(lt *v1beta1.LoadTest) bool {
	return lt.Status.ObservedGeneration == lt.Generation && meta.IsStatusConditionTrue(lt.Status.Conditions, v1beta1.ConditionQueued)
}

// leaveQueue says how long a run waited that now begins; empty: it did not wait.
func (r *accepting) leaveQueue() string {
	c := meta.FindStatusCondition(r.read.Conditions, v1beta1.ConditionQueued)
	if c == nil || c.Status != metav1.ConditionTrue {
		return ""
	}
	waited := fmt.Sprintf("The run waited %v in the queue.", r.now.Sub(c.LastTransitionTime.Time).Round(time.Second))
	r.set(v1beta1.ConditionQueued, metav1.ConditionFalse, v1beta1.ReasonBegun, waited)
	return waited + " "
}
