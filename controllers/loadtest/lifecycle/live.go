package lifecycle

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
)

// A write of a status costs the store the whole object, spec and all: each is a revision
// of its own, kept for minutes and sent to each watcher. What a run came to is written at
// once, and then the next step waits for its turn; how it is getting on is written as
// often as these allow.
const (
	// refresh is the least time between two writes of how a run is getting on.
	refresh = time.Second
	// bytesPerSecond is what a run costs the store at most: 50 runs of small
	// objects make 1 MB/s or less, of which 10 minutes stay below a third of the 2 GB
	// that the store has by default.
	bytesPerSecond = 50_000
)

// Written is the latest write of the run's status by this process.
type Written struct {
	At time.Time
	// Size is what the object takes in the store, in bytes; 0: unknown.
	Size int
}

// pauseAfter is the time between a write of that size and one that is not urgent.
func pauseAfter(size int) time.Duration {
	return max(refresh, costs(size))
}

// costs is for how long a write of that size uses up what a run may write.
func costs(size int) time.Duration { return time.Duration(size) * time.Second / bytesPerSecond }

// affordable is when a step that sends load may begin, now that its beginning is written:
// its end is written at once, be it as short as it may. Only of a large object with short
// steps is it later than a step begins anyway.
func (r *run) affordable(step *v1alpha1.StepStatus) time.Time {
	w := r.seen.Written
	// This write is of about the size of the last one, which may not be paid yet.
	paid := later(r.now, earlier(w.At, r.now).Add(costs(w.Size))).Add(costs(w.Size))
	return paid.Add(-sendingTime(step))
}

// endsSoon says whether all that there is to say of step i will be written in so short a
// time that what could be written now would put off the next step.
func (r *run) endsSoon(i int) bool {
	step := &r.read.Steps[i]
	end := step.StartTime.Add(sendingTime(step))
	return r.now.Before(end) && r.now.Add(costs(r.seen.Written.Size)).After(end)
}

// sendingTime is for how long a step sends load; 0: until a number of requests is sent.
func sendingTime(step *v1alpha1.StepStatus) (sum time.Duration) {
	for _, length := range []*metav1.Duration{step.Load.WarmUp, step.Load.Duration} {
		if length != nil {
			sum += length.Duration
		}
	}
	return sum
}

// liveFrom is the instant from which may be written how the run is getting on.
func (r *run) liveFrom() time.Time {
	from := r.seen.LiveFrom
	if w := r.seen.Written; !w.At.IsZero() {
		// A clock that is set back must not put a write off.
		from = later(from, earlier(w.At, r.now).Add(pauseAfter(w.Size)))
	}
	return from
}

// mayWriteLive says whether it is that instant yet, and wakes at it if not.
func (r *run) mayWriteLive() bool {
	if from := r.liveFrom(); r.now.Before(from) {
		r.wake(from)
		return false
	}
	return true
}

// pace puts off a status that differs from the one that is stored only in how the run
// is getting on.
func (r *run) pace() {
	if r.now.Before(r.liveFrom()) && len(r.out.Events) == 0 &&
		!equality.Semantic.DeepEqual(r.read, r.out.Status) && equality.Semantic.DeepEqual(lasting(r.read), lasting(r.out.Status)) {
		r.wake(r.liveFrom())
		r.out.Status = r.read
	}
}

// lasting is a status without what says how the run is getting on; the figures of a
// running step are recorded only when they may be written. Whatever is not known to be of
// that kind is written at once.
func lasting(s v1alpha1.LoadTestStatus) v1alpha1.LoadTestStatus {
	s.Summary = v1alpha1.Summary{}
	s.Workers.Ready = 0
	s.Conditions = slices.Clone(s.Conditions)
	for i := range s.Conditions {
		c := &s.Conditions[i]
		c.Message = ""
		if c.Type == v1alpha1.ConditionWorkersReady { // what a worker waits for is its own word
			c.Reason = ""
		}
	}
	return s
}
