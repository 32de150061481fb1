package exchange

import (
	"time"

	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/measure/wire"
)

// Observation is what is known of a run's workers and of the step that was
// started last and is not acknowledged yet.
type Observation struct {
	// Since is when this process first directed the run; zero: not yet, so that no
	// worker could have been seen.
	Since time.Time
	// From is the first step that this process began, or may yet begin.
	From int32
	// Started is the step that this process directed workers to begin last, or NoStep.
	Started int32
	// Workers are by number, as many as there are assignments.
	Workers []Worker
	// Step is nil when nothing was reported of the active step yet.
	Step *Report
}

// PodState is the state of a worker's pod.
type PodState int

const (
	// PodAbsent is no pod.
	PodAbsent PodState = iota
	// PodWaiting is a pod whose container does not run yet.
	PodWaiting
	// PodRunning is a pod whose container runs.
	PodRunning
	// PodEnded is a pod whose container has ended; it does not come back.
	PodEnded
)

// Worker is one worker as its pod and its session show it.
type Worker struct {
	// Pod is the state of its pod, which is not known from the session.
	Pod PodState
	// PodReason is an API condition reason, and PodMessage a sentence, of why the
	// pod waits or ended; both empty when nothing is known to be wrong.
	PodReason, PodMessage string

	// PodEnding says that its pod is being deleted: the container may run on for
	// its grace period, and sends what it measured before it ends.
	PodEnding bool
	// PodTakenAway says that its pod ends, or has ended, because it was deleted, evicted or
	// preempted, or that its node is lost: not because of what the worker did.
	PodTakenAway bool

	// PodUID and Node are those of its latest session.
	PodUID, Node string
	// Connected says that it has a session, and that its snapshots of the active step are accepted.
	Connected bool
	// Refusal is why they are not, for example that the worker's version counts otherwise; empty: they are.
	Refusal string
	// Ready is what the worker said last; while it is not ready, Reason and
	// Message are why, if it said so. It holds across reconnects of a pod.
	Ready           bool
	Reason, Message string
	// Answers is how many questions of the preflight a worker that is ready had
	// answered as expected.
	Answers int32
	// Targets is how many targets a worker that is ready has prepared; 0 from one that
	// has one at most.
	Targets int32
	// Descriptors is the digest of the descriptors by which a worker that is ready encodes
	// calls to the target, and ControlDescriptors of those for the control; empty: of none.
	Descriptors, ControlDescriptors string
	// LastSeen is when its latest message came, before a snapshot that was not accepted; zero: never
	// in this operator's life.
	LastSeen time.Time
	// Begun is how many steps it has begun, as far as this process can tell from the
	// snapshots that it sent. A worker that is ready has sent that of the step it is in.
	Begun int32
	// Reported says that a snapshot of the active step is here, Final that it is
	// the final one, and Cut that the worker ended the step by itself before its time.
	Reported, Final, Cut bool
	// Readings are what it read of the audits' numbers, by audit, in the round that it
	// is directed to read; nil: nothing yet.
	Readings []Reading
	// Due and Sent are how many requests that snapshot says were due, and sent.
	Due, Sent int64
	// SessionsDue is how many sessions of a rate it says were due.
	SessionsDue int64
}

// Reading is what a worker has read of a number of an audit.
type Reading struct {
	// Read says that the latest attempt read the number, Value. Problem is why it did
	// not.
	Read    bool
	Value   int64
	Problem string
	// Unchanged is for how long every attempt has read Value.
	Unchanged time.Duration
}

// Report is the merged measurement of the active step.
type Report struct {
	Step int32
	// Merged is all of it; it is shared and must not be modified.
	Merged *measure.Measurement
	// Err is why there is no Merged. The step has no result then.
	Err error
	// Reporting is how many workers are in it, Final how many of them are done.
	Reporting, Final int32
	// Until is when the newest snapshot in it came.
	Until time.Time
	// MeanWindow is the mean of the windows in it. Workers report at different moments
	// of each second: while the step runs, what they all did is of the mean.
	MeanWindow time.Duration
	// ShortestWindow is the shortest of the windows in it.
	ShortestWindow time.Duration
	// Series are those of the workers that are done; a worker may know of none.
	Series wire.Series
}
