package lifecycle

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/queue"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/targetstate"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Observed is all that was read of a run's workers in one pass.
type Observed struct {
	Job JobState
	// JobUID is the UID of the Job, if there is one.
	JobUID types.UID
	// Since is when this process first directed the run; zero: not yet. What
	// workers did before it, or failed to do, is not known from their absence.
	Since time.Time
	// From is the first step that this process began, or may yet begin.
	From int32
	// Undirected says that this process has not directed workers to begin the step that
	// runs by the status.
	Undirected bool
	// Seconds is that of the last decision of this process.
	Seconds verdict.Seconds
	// Written is what this process wrote of the run last.
	Written Written
	// LiveFrom is the instant from which the store can take what is not urgent, by what
	// all runs wrote.
	LiveFrom time.Time
	// ReadBack is the longest that it took of late, in any run, from the pass that wrote
	// a status to the one that read it back.
	ReadBack time.Duration
	// Refused is why the API server did not take the Job; nil: it did, or it was not
	// asked yet.
	Refused *Refusal
	// LooksAtTargets says that this process reads what is behind Services.
	LooksAtTargets bool
	// Looked is the latest reading that was asked for; nil: there was none.
	Looked *targetstate.Seen
	// Unstored is the archive that this process gave up last; nil: none.
	Unstored *Unstored
	// Workers has one entry for each worker, by number.
	Workers []exchange.Worker
	// TargetPort is the number of the named port of the Service of UnknownTarget; 0:
	// unknown, and TargetProblem is a sentence of why. Looked up only if there is one.
	TargetPort    int32
	TargetProblem string
	// Access is where the targets lead to; nil: it was not read, as on a machine of one's
	// own.
	Access *Access
	// Place is where a run stands that is to begin; nil: there is no queue, or it does
	// not want to.
	Place *queue.Place
	// Baseline is the LoadTest of spec.baseline, whole if it has finished; nil: there is
	// none of that name. Looked up only if NeedsBaseline.
	Baseline *v1alpha1.LoadTest
	// Step is what the workers reported of the step that runs; nil: nothing yet.
	Step *exchange.Report
	// Keeping is about a run that has finished.
	Keeping Keeping
}

// Refusal is the answer of the API server to a write that it does not take.
type Refusal struct {
	// Message is its sentence.
	Message string
	// Permanent says that the same write will never be taken.
	Permanent bool
	// At is when it answered.
	At time.Time
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

// soFar is the measurement of a running step, with the mean of the workers' windows:
// the longest window is that of one worker only.
func soFar(report *exchange.Report) *measure.Measurement {
	merged := *report.Merged
	merged.Window = report.MeanWindow
	merged.Clients = nil // of the workers that are done, so far
	return &merged
}

// isLost says, of a run that has begun, whether the worker cannot report any more.
// Every worker had a pod then, so that an absent one was deleted. A worker whose pod
// runs and that has no session is silent: it measures on, and may come back.
func isLost(w exchange.Worker, job JobState) bool {
	return w.Pod == exchange.PodEnded || w.Pod == exchange.PodAbsent || job == JobAbsent || job == JobFinished
}

// count is how many workers satisfy f.
func count(workers []exchange.Worker, f func(exchange.Worker) bool) int32 {
	var n int32
	for _, w := range workers {
		if f(w) {
			n++
		}
	}
	return n
}
