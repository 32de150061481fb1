package lifecycle

import (
	"time"

	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Observed is all that was read of a run's workers in one pass.
type Observed struct {
	Job JobState
	// Workers has one entry for each worker, by number.
	Workers []Worker
	// Step is what the workers reported of the step that runs; nil: nothing yet.
	Step *StepReport
}

// JobState is what is there of the run's Job.
type JobState int

const (
	// JobAbsent is no Job.
	JobAbsent JobState = iota
	// JobPresent is a Job that is not finished.
	JobPresent
	// JobFinished is a Job that has succeeded or failed.
	JobFinished
	// JobDeleting is a Job on its way out.
	JobDeleting
	// JobForeign is a Job of that name that this LoadTest does not own.
	JobForeign
)

// PodState is what is there of a worker's pod.
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
	Pod PodState
	// PodReason is an API condition reason, and PodMessage a sentence, of why the
	// pod waits or ended; both empty when nothing is known to be wrong.
	PodReason, PodMessage string
	// Connected and Ready are those of the session.
	Connected, Ready bool
	// Reason and Message are what the worker gave for not being ready.
	Reason, Message string
	// Answers is how many questions of spec.preflight a worker that is ready had
	// answered as expected.
	Answers int32
	// LastSeen is when the session last showed life; zero: never in this
	// operator's life.
	LastSeen time.Time
	// Final says that the last snapshot of the running step is here.
	Final bool
}

// StepReport is the merged measurement of the running step.
type StepReport struct {
	Step      int32
	Merged    *measure.Measurement
	Reporting int32
	Until     time.Time
	// MeanWindow is the mean of the workers' windows, which differ by up to a second
	// while the step runs.
	MeanWindow time.Duration
}

// soFar is the measurement of a running step, with the mean of the workers' windows:
// the longest window is that of one worker only.
func (s *StepReport) soFar() *measure.Measurement {
	merged := *s.Merged
	merged.Window = s.MeanWindow
	return &merged
}

// lostAfter is how long a worker may be silent before it counts as lost. The
// worker reconnects within a second and the transport notices a dead peer
// within 15 s, so that twice that is no accident.
const lostAfter = 30 * time.Second

// lost says, of a run that has begun, whether the worker cannot report any more.
// Every worker had a pod then, so that an absent one was deleted.
func (w Worker) lost(job JobState, now time.Time) bool {
	switch {
	case w.Pod == PodEnded, w.Pod == PodAbsent, job == JobAbsent, job == JobFinished:
		return true
	case w.Connected, w.LastSeen.IsZero():
		return false
	default:
		return now.Sub(w.LastSeen) > lostAfter
	}
}

// count is how many workers satisfy f.
func count(workers []Worker, f func(Worker) bool) int32 {
	var n int32
	for _, w := range workers {
		if f(w) {
			n++
		}
	}
	return n
}
