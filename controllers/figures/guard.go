package figures

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
)

// DefaultMost is how much of the load may fail, or remain unsent, where the spec does not
// say otherwise.
const DefaultMost = "1%"

// guards are the metrics that say whether a target did what it was asked.
var guards = []v1alpha1.Metric{v1alpha1.MetricFailureRate, v1alpha1.MetricUnsentRate}

// Broken is why a step is nothing to compare with: a target that answers wrongly may be of
// any speed. It is held to the default maxima, or to those of the spec where they allow
// more. what is what the step is of, in the error.
func Broken(spec *v1alpha1.LoadTestSpec, step *v1alpha1.StepStatus, requestType, what string) error {
	for _, metric := range guards {
		q := Quantity{Metric: metric}
		if metric == v1alpha1.MetricFailureRate {
			q.Type = requestType
		}
		value, most := Value(q, step.Result), allowed(spec, metric, &step.Load, requestType)
		if value == nil || most == nil || value.Cmp(most) <= 0 {
			continue
		}
		return fmt.Errorf("%s is %s in step %s, and above %s %s is nothing to compare with",
			metric, Text(metric, value), step.Name, Text(metric, most), what)
	}
	return nil
}

// allowed is the largest maximum of a metric that the spec has for all of these requests,
// or the default.
func allowed(spec *v1alpha1.LoadTestSpec, metric v1alpha1.Metric, load *v1alpha1.StepLoad, requestType string) *big.Rat {
	most, _ := Parse(metric, DefaultMost)
	for i := range spec.Thresholds {
		t := &spec.Thresholds[i]
		ofAll := len(t.Requests)+len(t.Types) == 0 || len(t.Requests) == 0 && slices.Equal(t.Types, []string{requestType})
		if t.Metric != metric || t.Max == nil || !ofAll || len(t.Journeys) > 0 || t.UpToUsers != nil && load.MostUsers() > *t.UpToUsers {
			continue
		}
		if own, err := Parse(t.Metric, t.Max.String()); err == nil && (most == nil || own.Cmp(most) > 0) {
			most = own
		}
	}
	return most
}
