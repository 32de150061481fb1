package lifecycle

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/instant"
)

// A write of a status costs the store the whole object, spec and all: each is a revision
// of its own, kept for minutes and sent to each watcher. The end of a step is written at
// once, and then the next step waits for its turn; progress is written as often as these
// allow.
const (
	// refresh is the least time between two writes of a run's progress.
	refresh = time.Second
	// bytesPerSecond bounds what a run costs the store: 50 runs of small
	// objects make 1 MB/s or less, and 10 minutes of it stay below a third of the store's
	// default size of 2 GB.
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

// costs is the time in which a run may write that many bytes.
func costs(size int) time.Duration { return time.Duration(size) * time.Second / bytesPerSecond }

// affordable is the instant from which a step that sends load may begin, so that its end,
// which is written at once, can be paid for. It is later than the step begins anyway only if
// the object is large and its steps are short.
func (r *inputs) affordable(step *v1beta1.StepStatus) time.Time {
	w := r.seen.Written
	// This write is of about the size of the last one, which may not be paid yet.
	paid := instant.Later(r.now, instant.Earlier(w.At, r.now).Add(costs(w.Size))).Add(costs(w.Size))
	return paid.Add(-sendingTime(step))
}

// endsSoon says whether the end of step i is so near that a write of its progress now would
// delay the next step.
func (r *inputs) endsSoon(i int) bool {
	step := &r.read.Steps[i]
	end := step.StartTime.Add(sendingTime(step))
	return r.now.Before(end) && r.now.Add(costs(r.seen.Written.Size)).After(end)
}

// sendingTime is how long a step sends load; 0: until a number of requests is sent.
func sendingTime(step *v1beta1.StepStatus) (sum time.Duration) {
	for _, length := range []*metav1.Duration{step.Load.WarmUp, step.Load.Duration} {
		if length != nil {
			sum += length.Duration
		}
	}
	return sum
}

// liveFrom is the instant from which the run's progress may be written.
func (r *inputs) liveFrom() time.Time {
	w := r.seen.Written
	// A clock that is set back must not put a write off.
	return instant.Later(r.seen.LiveFrom, instant.Earlier(w.At, r.now).Add(pauseAfter(w.Size)))
}

// delayWrite asks for a pass at that instant, unless it has come.
func (r *pass) delayWrite() (delayed bool) {
	from := r.liveFrom()
	if !r.now.Before(from) {
		return false
	}
	r.wake(from)
	return true
}

// paceWrites puts off a status that differs from the stored one only in the progress of the
// run. It reads the whole next status, the events and whether LoadTests are created, whose UIDs
// are written with it, and takes the status back.
func (r *pass) paceWrites() (goesOn bool) {
	if r.now.Before(r.liveFrom()) && len(r.out.Events) == 0 && len(r.out.CreateLoads) == 0 &&
		!equality.Semantic.DeepEqual(r.read, r.out.Status) && equality.Semantic.DeepEqual(lasting(r.read), lasting(r.out.Status)) {
		r.wake(r.liveFrom())
		r.out.Status = r.read
	}
	return true
}

// lasting is a status without the parts that only tell the run's progress; the figures of a
// running step are recorded only when they may be written. Every other part is written at
// once.
func lasting(s v1beta1.LoadTestStatus) v1beta1.LoadTestStatus {
	s.Summary = v1beta1.Summary{}
	s.Workers.Ready = 0
	s.Conditions = slices.Clone(s.Conditions)
	for i := range s.Conditions {
		s.Conditions[i].Message, s.Conditions[i].Reason = "", ""
	}
	return s
}
