package figures

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
)

// Default is a maximum that holds where the spec has none of its metric.
type Default struct {
	Metric v1alpha1.Metric
	Most   string
}

// Defaults are the maxima of the metrics that say whether a target did what it was asked: of
// a run that is judged, and of a step that is to be compared with.
//
// The downtime lets pauses of a garbage collector pass, and not a target of which a half is
// silent for 2 % of a step. docs/design/0033 has the simulation.
var Defaults = []Default{
	{v1alpha1.MetricFailureRate, "1%"},
	{v1alpha1.MetricUnsentRate, "1%"},
	{v1alpha1.MetricDowntime, "0.5%"},
}

// MostJourneys is how many of the journeys may fail by default.
const MostJourneys = "1%"

// Broken is why a step is nothing to compare with: a target that answers wrongly, or not at
// all, may be of any speed. It is held to the default maxima, or to those of the spec where
// they allow more. what is what the step is of, in the error.
func Broken(spec *v1alpha1.LoadTestSpec, step *v1alpha1.StepStatus, requestType, what string) error {
	for _, d := range Defaults {
		q := Quantity{Metric: d.Metric}
		if d.Metric == v1alpha1.MetricFailureRate {
			q.Type = requestType
		}
		if err := exceeds(Value(q, step.Result), allowed(spec, d, &step.Load, q.Type), d.Metric, string(d.Metric), step, what); err != nil {
			return err
		}
	}
	return brokenJourneys(spec, step, what)
}

// brokenJourneys is why the journeys of a step are nothing to compare with: one that fails
// with its last request has few requests that fail. Journeys are taken together as the
// maxima of the spec have them, and all others by the default.
func brokenJourneys(spec *v1alpha1.LoadTestSpec, step *v1alpha1.StepStatus, what string) error {
	d := Default{v1alpha1.MetricFailureRate, MostJourneys}
	var named, rest []string
	for i := range spec.Thresholds {
		t := &spec.Thresholds[i]
		if len(t.Journeys) == 0 || !isMaximum(t, d.Metric, &step.Load) {
			continue
		}
		named = append(named, t.Journeys...)
		subject := "failureRate of " + strings.Join(t.Journeys, ", ")
		if err := exceeds(failedJourneys(step.Result, t.Journeys), d.orMore(t), d.Metric, subject, step, what); err != nil {
			return err
		}
	}
	for i := range step.Result.Journeys {
		if name := step.Result.Journeys[i].Name; !slices.Contains(named, name) {
			rest = append(rest, name)
		}
	}
	return exceeds(failedJourneys(step.Result, rest), d.most(), d.Metric, "failureRate of journeys", step, what)
}

// failedJourneys is the share of the journeys of these names that failed; nil: none ended.
func failedJourneys(r *v1alpha1.StepResult, names []string) *big.Rat {
	var failed, ended int64
	for i := range r.Journeys {
		if j := &r.Journeys[i]; slices.Contains(names, j.Name) {
			failed, ended = failed+j.Failed, ended+j.Completed+j.Failed
		}
	}
	return partOf(failed, ended)
}

// exceeds is the error about a value that is above what is allowed; an unknown one is not.
func exceeds(value, most *big.Rat, metric v1alpha1.Metric, subject string, step *v1alpha1.StepStatus, what string) error {
	if value == nil || value.Cmp(most) <= 0 {
		return nil
	}
	return fmt.Errorf("%s is %s in step %s, and above %s %s is nothing to compare with",
		subject, Text(metric, value), step.Name, Text(metric, most), what)
}

// allowed is the largest maximum of a metric that the spec has for all of these requests,
// or the default.
func allowed(spec *v1alpha1.LoadTestSpec, d Default, load *v1alpha1.StepLoad, requestType string) *big.Rat {
	most := d.most()
	for i := range spec.Thresholds {
		t := &spec.Thresholds[i]
		ofAll := len(t.Requests)+len(t.Types) == 0 || len(t.Requests) == 0 && slices.Equal(t.Types, []string{requestType})
		if !ofAll || len(t.Journeys) > 0 || !isMaximum(t, d.Metric, load) {
			continue
		}
		if own := d.orMore(t); own.Cmp(most) > 0 {
			most = own
		}
	}
	return most
}

// isMaximum says whether a threshold is a maximum of a metric that holds for a load.
func isMaximum(t *v1alpha1.Threshold, metric v1alpha1.Metric, load *v1alpha1.StepLoad) bool {
	return t.Metric == metric && t.Max != nil && (t.UpToUsers == nil || load.MostUsers() <= *t.UpToUsers)
}

func (d Default) most() *big.Rat {
	most, err := Parse(d.Metric, d.Most)
	if err != nil {
		return new(big.Rat) // not reached: it is written above
	}
	return most
}

// orMore is the maximum of a threshold, where that is more.
func (d Default) orMore(t *v1alpha1.Threshold) *big.Rat {
	most := d.most()
	if own, err := Parse(d.Metric, t.Max.String()); err == nil && own.Cmp(most) > 0 {
		return own
	}
	return most
}
