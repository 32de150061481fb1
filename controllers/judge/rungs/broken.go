package rungs

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
)

// Broken is why a step is nothing to compare with: a target that answers wrongly, or not at
// all, may be of any speed. It is held to the default maxima, or to those of the spec where
// they allow more. planned is the name of the step in the plan, of are the requests that are
// compared, and what is what the step is of, in the error.
func Broken(spec *v1beta1.LoadTestSpec, step *v1beta1.StepStatus, planned string, of metric.Quantity, what string) error {
	for _, m := range metric.Default() {
		q := of.Of(m)
		measured := valueOf{string(m.Name), m.Name, metric.Value(q, step.Result), metric.Ideal(q, step.Result)}
		if err := measured.exceeds(allowed(spec, maximum(m), step, planned, q), step, what); err != nil {
			return err
		}
	}
	return brokenJourneys(spec, step, planned, what)
}

// brokenJourneys is why the journeys of a step are nothing to compare with: one that fails
// with its last request has few requests that fail. Journeys are taken together as the
// maxima of the spec have them, and all others by the default.
func brokenJourneys(spec *v1beta1.LoadTestSpec, step *v1beta1.StepStatus, planned, what string) error {
	d := maximum{Name: v1beta1.MetricFailureRate, Most: metric.MostJourneys}
	var named, rest []string
	for i := range spec.Thresholds {
		t := &spec.Thresholds[i]
		if !isMaximum(t, d.Name, step, planned) {
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
func failedJourneys(r *v1beta1.StepResult, names []string, called string) valueOf {
	var failed, ended int64
	for i := range r.Journeys {
		if j := &r.Journeys[i]; slices.Contains(names, j.Name) {
			failed, ended = failed+j.Failed, ended+j.Completed+j.Failed
		}
	}
	share := metric.Percent(failed, ended)
	return valueOf{"failureRate of " + called, v1beta1.MetricFailureRate, share, share}
}

// valueOf is what a step came to, at both ends of its bracket; nil: it is not known.
type valueOf struct {
	subject         string
	metric          v1beta1.Metric
	measured, ideal *big.Rat
}

// exceeds is the error about a value that is above what is allowed, or that may be.
func (v valueOf) exceeds(most *big.Rat, step *v1beta1.StepStatus, what string) error {
	if v.measured == nil || v.measured.Cmp(most) <= 0 {
		return nil
	}
	is := metric.Text(v.metric, v.measured)
	if v.ideal.Cmp(v.measured) != 0 {
		is = fmt.Sprintf("between %s and %s", metric.Text(v.metric, v.ideal), is)
	}
	return fmt.Errorf("%[1]s is %[2]s in step %[3]s; %[5]s may have at most %[4]s", v.subject, is, step.Name, metric.Text(v.metric, most), what)
}

// allowed is the largest maximum of a metric that the spec has for all of these requests,
// or the default.
func allowed(spec *v1beta1.LoadTestSpec, d maximum, step *v1beta1.StepStatus, planned string, of metric.Quantity) *big.Rat {
	most := d.most()
	for i := range spec.Thresholds {
		t := &spec.Thresholds[i]
		if !isOfAll(spec, t, of) || len(t.Journeys) > 0 || !isMaximum(t, d.Name, step, planned) {
			continue
		}
		if own := d.orMore(t); own.Cmp(most) > 0 {
			most = own
		}
	}
	return most
}

// isOfAll says whether a threshold is about all requests that are compared.
func isOfAll(spec *v1beta1.LoadTestSpec, t *v1beta1.Threshold, of metric.Quantity) bool {
	switch {
	case len(t.Requests) == 0:
		return len(t.Types) == 0 || slices.Equal(t.Types, []string{of.Type})
	case len(t.Types) > 0:
		return false
	case of.Request != "":
		return slices.Contains(t.Requests, of.Request)
	}
	return !slices.ContainsFunc(spec.Requests, func(r v1beta1.Request) bool { return !slices.Contains(t.Requests, r.Name) })
}

// isMaximum says whether a threshold is a maximum of a metric that holds in a step.
func isMaximum(t *v1beta1.Threshold, name v1beta1.Metric, step *v1beta1.StepStatus, planned string) bool {
	return t.Metric == name && t.Max != nil && t.Covers(step, planned)
}

// maximum is a metric with a maximum by default.
type maximum metric.Metric

func (d maximum) most() *big.Rat {
	most, err := metric.Parse(d.Name, d.Most)
	if err != nil {
		return new(big.Rat) // not reached: the table has it
	}
	return most
}

// orMore is the maximum of a threshold, where that is more.
func (d maximum) orMore(t *v1beta1.Threshold) *big.Rat {
	most := d.most()
	if own, err := metric.Parse(d.Name, t.Max.String()); err == nil && own.Cmp(most) > 0 {
		return own
	}
	return most
}
