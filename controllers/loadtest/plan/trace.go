package plan

import (
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// wholeTraced is the share of all requests, in millionths of a percent.
const wholeTraced = 100 * micro

// traceShare is the share of requests that are sampled, in millionths of a percent; 0 of a
// target without traces, and of a share that is invalid.
func traceShare(t *v1beta1.Target) int64 {
	if t.Trace == nil {
		return 0
	}
	share := v1beta1.NewDecimal(strings.TrimSuffix(t.Trace.Sampled, "%"))
	return micros(&share)
}

// checkTraces refuses a share that is invalid: such a run would have no traces.
func checkTraces(spec *v1beta1.LoadTestSpec) *Refusal {
	if share := traceShare(&spec.Target); spec.Target.Trace == nil || share > 0 && share <= wholeTraced {
		return nil
	}
	return invalid("spec.target.trace.sampled: must be a percentage above 0%% and up to 100%%, such as 1%%.")
}
