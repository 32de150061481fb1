package hgrm

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Report is the distribution of one step: the one of that name or, for "", the only
// one that has a histogram.
func Report(lt *v1alpha1.LoadTest, name string) ([]byte, error) {
	step, err := choose(lt.Status.Steps, name)
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

func choose(steps []v1alpha1.StepStatus, name string) (*v1alpha1.StepStatus, error) {
	var found []*v1alpha1.StepStatus
	var names []string
	for i := range steps {
		step := &steps[i]
		if step.Result == nil || step.Result.Histogram == "" {
			continue
		}
		names = append(names, fmt.Sprintf("%q", step.Name))
		if name == "" || name == step.Name {
			found = append(found, step)
		}
	}
	switch {
	case len(names) == 0:
		return nil, fmt.Errorf("no step has a histogram: it is there once the step has ended")
	case len(found) == 0:
		return nil, fmt.Errorf("--step %q: the steps with a histogram are %s", name, strings.Join(names, ", "))
	case len(found) > 1:
		return nil, fmt.Errorf("%d steps have a histogram, and hgrm holds one: choose with --step %s", len(found), strings.Join(names, ", "))
	}
	return found[0], nil
}
