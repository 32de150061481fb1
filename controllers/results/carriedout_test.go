package results_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/control"
	"github.com/loadtest-dev/loadtest-operator/controllers/results"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

func TestOnlyAPlanThatWasCarriedOutIsComplete(t *testing.T) {
	final := control.Worker{Final: true}
	all := []control.Worker{final, final, final}
	but := func(edit func(*control.Worker)) []control.Worker {
		workers := []control.Worker{final, final, final}
		edit(&workers[1])
		return workers
	}
	planned := v1alpha1.StepLoad{Users: 100, Requests: 8000, Duration: &metav1.Duration{Duration: 40 * time.Second}}
	unplanned := planned
	unplanned.Requests = 0
	burst := v1alpha1.StepLoad{Users: 100, RequestsPerUser: 2, Requests: 200, MaxDuration: planned.Duration}
	for name, tc := range map[string]struct {
		load    v1alpha1.StepLoad
		workers []control.Worker
		due     int64
		window  time.Duration
		want    string
	}{
		"all was due":                  {planned, all, 8000, 40 * time.Second, ""},
		"a part was due":               {planned, all, 2608, 40 * time.Second, "2608 of 8000 requests that were planned were due."},
		"all but one were due":         {planned, all, 7999, 40 * time.Second, "7999 of 8000 requests that were planned were due."},
		"more was due":                 {planned, all, 8001, 40 * time.Second, "8001 requests were due, and only 8000 were planned."},
		"a worker cut it in the drain": {planned, but(func(w *control.Worker) { w.Cut = true }), 8000, 40 * time.Second, "2 of 3 workers went to the end of it."},
		"a pod that is being deleted":  {planned, but(func(w *control.Worker) { w.PodEnding = true }), 8000, 40 * time.Second, "2 of 3 workers went to the end of it."},
		"a last report is missing":     {planned, but(func(w *control.Worker) { w.Final = false }), 8000, 40 * time.Second, "2 of 3 workers went to the end of it."},
		"a burst":                      {burst, all, 200, 3 * time.Second, ""},
		"a part of a burst":            {burst, all, 199, 3 * time.Second, "199 of 200 requests that were planned were due."},
		"no plan, the whole time":      {unplanned, all, 77, 40 * time.Second, ""},
		"no plan, less than the time":  {unplanned, all, 77, 40*time.Second - 1, "a worker sent load for 39.999s of 40s."},
		"no plan, and cut":             {unplanned, but(func(w *control.Worker) { w.Cut = true }), 77, 40 * time.Second, "2 of 3 workers went to the end of it."},
	} {
		t.Run(name, func(t *testing.T) {
			report := &control.Report{Merged: measure.NewMeasurement(1), ShortestWindow: tc.window}
			report.Merged.Due, report.Merged.Window = tc.due, time.Hour
			if got := results.NotCarriedOut(&v1alpha1.StepStatus{Load: tc.load}, tc.workers, report); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}
