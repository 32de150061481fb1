package decision

import (
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

// Observed is what there is beside the schedule.
type Observed struct {
	// Runs are the LoadTests that the schedule controls.
	Runs []LoadTest
	// Created is a LoadTest that is known to be there, by its name, although Runs may lack
	// it yet; empty: none.
	Created string
	// Rollout is where the workload of spec.onRollout stands; nil: it was not read.
	Rollout *Rollout
	// Problem is what is wrong with that workload; nil: nothing.
	Problem *Problem
	// Refused is the last attempt to create a LoadTest; nil: it was not refused.
	Refused *Refused
	// Hold is why the administrator lets no run begin; nil: they may.
	Hold *policy.Hold
	// Measured are the LoadTests that Unread asked for, by their names; of one that is gone there is
	// none.
	Measured map[string]*Measured
}

// LoadTest is one that the schedule started.
type LoadTest struct {
	Namespace, Name, UID string
	Created              time.Time
	Deleting             bool
	// Completed and Verdict are there once it has finished.
	Finished  bool
	Completed time.Time
	Verdict   v1beta1.Verdict
	// Kept is the instant until which it is waited for that its results are kept elsewhere;
	// zero: they are, or need not be.
	Kept time.Time
}

// Rollout is where a workload stands.
type Rollout struct {
	UID, Revision string
	// Complete says that every pod is of that revision and available.
	Complete bool
}

// Problem is why the schedule is not ready.
type Problem struct {
	Reason, Message string
	// Stalls says that it stays until the spec is changed.
	Stalls bool
}

// Refused is a LoadTest that could not be created.
type Refused struct {
	Problem
	// Until is the instant before which it is not tried again.
	Until time.Time
}

// Decision is what to do next, in this order: create Start; write the status; delete
// Replaced and Expired, whose starts the status has then.
type Decision struct {
	// Start is the LoadTest to create; nil: none.
	Start *Start
	// Replaced are the LoadTests in whose place one starts once they are gone, and Next is
	// that one.
	Replaced []LoadTest
	Next     *Start
	// Expired are those beyond the limits of the history.
	Expired []LoadTest
	Status  v1beta1.LoadTestScheduleStatus
	Events  []Event
	// RequeueAfter is when to decide again at the latest; 0: when something changes.
	RequeueAfter time.Duration
}

// Start is a LoadTest to create.
type Start struct {
	Name string
	// Cause says why.
	Cause string
}

// Event is emitted once the status is written.
type Event struct {
	Warning         bool
	Reason, Message string
}
