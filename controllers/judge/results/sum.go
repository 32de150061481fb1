package results

import (
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Sum is what was measured in steps that have ended: the sums of their counts, and the times of all
// their requests, merged exactly. It has no times if a step lacks its histogram, since the other
// steps have only a part of them. nil: nothing was measured in any.
func Sum(steps ...v1beta1.StepStatus) (*v1beta1.LoadResult, error) {
	sum, times := &v1beta1.LoadResult{}, measure.NewHistogram()
	measured, whole := false, true
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
			whole = whole && r.ResponseTime == nil
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
	if whole {
		sum.ResponseTime = latency(times)
	}
	return sum, nil
}
