package lifecycle_test

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
)

// The printed figures of a step that runs are of the requests that have an outcome, and
// wait for no report of a worker that is lost.
func TestSummaryCountsNeitherLostWorkersNorRequestsInFlight(t *testing.T) {
	for lost, goodput := range map[int32]string{0: "", 1: "30/s"} {
		lt := continuing(limited(1))
		lt.Status.Workers.Desired = 2
		lt.Status.Steps[1].WorkersReporting = 1
		lt.Status.Steps[1].Result = &v1alpha1.StepResult{Counts: v1alpha1.Counts{Sent: 400, InFlight: 200, Failed: 2}, Goodput: "30"}
		seen := awaited(ready, ready)
		seen.Workers[1].PodEnding = lost == 1
		s := decide(lt, seen, 31*time.Second).Status
		if s.Workers.Lost != lost || s.Summary.Goodput != goodput || s.Summary.Errors != "1%" {
			t.Errorf("%d workers are lost, goodput %q, errors %s; want %d, %q, 1%%", s.Workers.Lost, s.Summary.Goodput, s.Summary.Errors, lost, goodput)
		}
	}
}
