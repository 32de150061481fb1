package results

import (
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Sum is what was measured in steps that have ended: the sums of their counts, and the times of all
// their requests, merged exactly. nil: nothing was measured in any.
func Sum(steps ...v1beta1.StepStatus) (*v1beta1.LoadResult, error) {
	sum, times := &v1beta1.LoadResult{}, measure.NewHistogram()
	measured := false
	for i := range steps {
		r := steps[i].Result
		if r == nil {
			continue
		}
		measured = true
		sum.Due += r.Due
		sum.Sent += r.Sent
		sum.Unsent += r.Unsent
		sum.Expected += r.Expected
		sum.Failed += r.Failed
		sum.Undecided += r.Undecided
		if r.Histogram == "" {
			continue
		}
		h, err := measure.DecodeHistogram(r.Histogram, 0)
		if err != nil {
			return nil, fmt.Errorf("step %s: %w", steps[i].Name, err)
		}
		if err := times.Merge(h); err != nil {
			return nil, fmt.Errorf("step %s: %w", steps[i].Name, err)
		}
	}
	if !measured {
		return nil, nil
	}
	sum.ResponseTime = latency(times)
	return sum, nil
}
