package runmetrics_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
)

// BenchmarkScrape is of as many LoadTests as have series by default, 50 of which run.
func BenchmarkScrape(b *testing.B) {
	const all, run = 300, 50
	o := newOperator(&testing.T{})
	for i := range all {
		lt := running(fmt.Sprint("test-", i))
		o.live[lt.UID] = report(0, 1000)
		if i >= run {
			o.Finished(lt.UID, &v1alpha1.LoadTestStatus{Verdict: v1alpha1.VerdictPassed, Steps: lt.Status.Steps})
			lt = stripped(lt, v1alpha1.VerdictPassed, 0)
		}
		o.list = append(o.list, lt)
	}
	o.Most = all
	for b.Loop() {
		if _, err := o.registry.Gather(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFinished is what a pass pays for a run of eight steps, once.
func BenchmarkFinished(b *testing.B) {
	o := newOperator(&testing.T{})
	o.Most = 1 << 30
	lt := running("a")
	step := lt.Status.Steps[0]
	step.State, step.Result = v1alpha1.StepComplete, result(&testing.T{}, 100_000)
	status := v1alpha1.LoadTestStatus{Verdict: v1alpha1.VerdictPassed}
	for range 8 {
		status.Steps = append(status.Steps, step)
	}
	for i := 0; b.Loop(); i++ {
		o.Finished(types.UID(fmt.Sprint(i%500)), &status)
		o.Forget()
	}
}
