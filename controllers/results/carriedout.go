package results

import (
	"fmt"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/control"
)

// NotCarriedOut says what of a step's plan its workers did not carry out; it is empty
// if they did all of it. Only then is the step complete.
//
// What the workers say of themselves does not decide it: the requests that were due on
// all of them must be as many as were planned, neither fewer nor more, and where that
// number is not known beforehand, each worker must have sent load for the whole
// duration. Nor is a worker believed that had to end, even if it does not say so.
func NotCarriedOut(step *v1alpha1.StepStatus, workers []control.Worker, report *control.Report) string {
	load := &step.Load
	planned, due, window := load.Requests, report.Merged.Due, report.ShortestWindow
	whole := 0
	for _, w := range workers {
		if w.Final && !w.Cut && !w.PodEnding {
			whole++
		}
	}
	switch {
	case planned > 0 && due < planned:
		return fmt.Sprintf("%d of %d requests that were planned were due.", due, planned)
	case planned > 0 && due > planned:
		return fmt.Sprintf("%d requests were due, and only %d were planned.", due, planned)
	case planned == 0 && load.Duration != nil && window < load.Duration.Duration:
		return fmt.Sprintf("a worker sent load for %v of %v.", window.Truncate(time.Millisecond), load.Duration.Duration)
	case whole < len(workers):
		return fmt.Sprintf("%d of %d workers went to the end of it.", whole, len(workers))
	}
	return ""
}
