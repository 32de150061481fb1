package lifecycle

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/baseline"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/question"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/queue"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/targetstate"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Observed is all that was read in one pass, beside the LoadTest.
type Observed struct {
	Job JobState
	// JobUID is the UID of the Job, if there is one.
	JobUID types.UID
	// Since is the instant at which this process first directed the run; zero: not yet. What
	// workers did before it, or failed to do, is not known from their absence.
	Since time.Time
	// From is the first step that this process began, or may yet begin.
	From int32
	// Undirected says that this process has not directed workers to begin the step that
	// runs by the status.
	Undirected bool
	// Seconds is what the last decision of this process returned.
	Seconds verdict.Seconds
	// Written is the latest write of the run's status by this process.
	Written Written
	// LiveFrom is the instant from which the store can take what is not urgent, by what
	// all runs wrote.
	LiveFrom time.Time
	// ReadBack is the longest recent delay, in any run, from the pass that wrote a status to
	// the pass that read it back.
	ReadBack time.Duration
	// Refused is why the API server refused the Job; nil: it took the Job, or was not asked
	// yet.
	Refused *Refusal
	// LooksAtTargets says that this process reads what is behind Services.
	LooksAtTargets bool
	// Looked is the latest reading that was asked for; nil: there was none.
	Looked *targetstate.Seen
	// SamplesUsage says that this process reads what pods of targets use.
	SamplesUsage bool
	// Asks says that this process asks Prometheus what a run wants to know.
	Asks bool
	// Answered are the latest answers; nil: nothing was asked.
	Answered *question.Answers
	// Unstored is the most recent archive that this process gave up; nil: none.
	Unstored *Unstored
	// Workers has one entry for each worker, by number.
	Workers []exchange.Worker
	// TargetPort is the number of the named port of the Service of UnknownTarget; 0: it is
	// unknown, and TargetProblem is a sentence that says why. Looked up only if there is an
	// UnknownTarget.
	TargetPort    int32
	TargetProblem string
	// Access is where the targets lead to; nil: it was not read, as without a cluster.
	Access *Access
	// Place is the place in the queue of a run that wants to begin; nil: there is no queue,
	// or the run does not want to.
	Place *queue.Place
	// PlaceAwaited says that another run waits for the place of one that MayGiveWay.
	PlaceAwaited bool
	// Baseline is the LoadTest of spec.baseline, whole if it has finished; nil: it does not
	// exist, or was not looked up. Looked up only if NeedsBaseline.
	Baseline *v1beta1.LoadTest
	// BaselineAbsent says that a LoadTest was looked up, and does not exist.
	BaselineAbsent bool
	// Level is the level of the schedule of spec.baseline; nil: it names none. Looked up only if
	// NeedsBaseline.
	Level *baseline.Level
	// Step is what the workers reported of the running step; nil: nothing yet.
	Step *exchange.Report
	// Loads are the LoadTests of status.loads, one for each, in its order.
	Loads []LoadSeen
	// Parent is the LoadTest that has this one among its spec.loads; nil: there is none.
	Parent *Parent
	// Keeping is what becomes of the results of a finished run.
	Keeping Keeping
}

// Refusal is the answer of the API server to a write that it does not take.
type Refusal struct {
	// Message is its sentence.
	Message string
	// Permanent says that the same write will never be taken.
	Permanent bool
	// At is the instant of the answer.
	At time.Time
}

// JobState is the state of the run's Job.
type JobState int

const (
	// JobAbsent says that there is no Job.
	JobAbsent JobState = iota
	// JobPresent is a Job that is not finished.
	JobPresent
	// JobFinished is a Job that has succeeded or failed.
	JobFinished
	// JobDeleting is a Job that is being deleted.
	JobDeleting
	// JobLeftOver is a Job of an earlier LoadTest of that name, which the API server removes.
	JobLeftOver
	// JobForeign is a Job of that name that does not belong to this LoadTest.
	JobForeign
)

// soFar is the measurement of a running step, with the mean of the workers' windows: the
// longest window belongs to one worker only.
func soFar(report *exchange.Report) *measure.Measurement {
	merged := *report.Merged
	merged.Window = report.MeanWindow
	merged.Clients = nil // of the workers that are done so far
	return &merged
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
