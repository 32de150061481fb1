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
		measured := valueOf{string(d.Metric), d.Metric, Value(q, step.Result), Ideal(q, step.Result)}
		if err := measured.exceeds(allowed(spec, d, &step.Load, q.Type), step, what); err != nil {
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
		if !isMaximum(t, d.Metric, &step.Load) {
			continue
		}
		named = append(named, t.Journeys...)
		if err := failedJourneys(step.Result, t.Journeys, strings.Join(t.Journeys, ", ")).exceeds(d.orMore(t), step, what); err != nil {
			return err
		}
	}
	for i := range step.Result.Journeys {
		if name := step.Result.Journeys[i].Name; !slices.Contains(named, name) {
			rest = append(rest, name)
		}
	}
	return failedJourneys(step.Result, rest, "journeys").exceeds(d.most(), step, what)
}

// failedJourneys is the share of the journeys of these names that failed.
func failedJourneys(r *v1alpha1.StepResult, names []string, called string) valueOf {
	var failed, ended int64
	for i := range r.Journeys {
		if j := &r.Journeys[i]; slices.Contains(names, j.Name) {
			failed, ended = failed+j.Failed, ended+j.Completed+j.Failed
		}
	}
	share := partOf(failed, ended)
	return valueOf{"failureRate of " + called, v1alpha1.MetricFailureRate, share, share}
}

// valueOf is what a step came to, at both ends of its bracket; nil: it is not known.
type valueOf struct {
	subject         string
	metric          v1alpha1.Metric
	measured, ideal *big.Rat
}

// exceeds is the error about a value that is above what is allowed, or that may be.
func (v valueOf) exceeds(most *big.Rat, step *v1alpha1.StepStatus, what string) error {
	if v.measured == nil || v.measured.Cmp(most) <= 0 {
		return nil
	}
	is := Text(v.metric, v.measured)
	if v.ideal.Cmp(v.measured) != 0 {
		is = fmt.Sprintf("between %s and %s", Text(v.metric, v.ideal), is)
	}
	return fmt.Errorf("%s is %s in step %s, and above %s %s is nothing to compare with", v.subject, is, step.Name, Text(v.metric, most), what)
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
