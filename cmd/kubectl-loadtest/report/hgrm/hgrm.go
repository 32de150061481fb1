package hgrm

import (
	"bytes"
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Report is the distribution of one step: the one of that name or, for "", the only
// one that has a histogram.
func Report(lt *v1beta1.LoadTest, name string) ([]byte, error) {
	step, err := report.Only(lt.Status.Steps, name, "a histogram", func(r *v1beta1.StepResult) bool { return r.Histogram != "" })
	if err != nil {
		return nil, err
	}
	histogram, err := measure.DecodeHistogram(step.Result.Histogram, 0)
	if err != nil {
		return nil, fmt.Errorf("step %s: %w", step.Name, err)
	}
	var b bytes.Buffer
	err = histogram.WritePercentiles(&b)
	return b.Bytes(), err
}
