package world

import (
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// checkBaseline holds a run that is compared to its baseline, which is deleted once the run
// has a copy.
func (w *World) checkBaseline(b, a *v1beta1.LoadTestStatus) {
	if w.api.lt.Spec.Baseline == nil {
		return
	}
	if b.Baseline != nil && !equality.Semantic.DeepEqual(b.Baseline, a.Baseline) {
		w.violated(hasBaseline, "it was %+v and is %+v", b.Baseline, a.Baseline)
	}
	for i := range a.Steps {
		if a.Steps[i].State == v1beta1.StepRunning && a.Baseline == nil {
			w.violated(hasBaseline, "step %s begins without", a.Steps[i].Name)
		}
	}
	if b.Baseline == nil && a.Baseline != nil {
		w.After(0, func() {
			w.api.baseline = nil
			w.api.changed()
		})
	}
}
