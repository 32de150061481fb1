package results

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// requestResults are those of each request, in the order of the spec.
func requestResults(lt *v1beta1.LoadTest, merged *measure.Measurement) ([]v1beta1.RequestResult, error) {
	list := make([]v1beta1.RequestResult, len(merged.Requests))
	for i := range merged.Requests {
		r, err := merged.Alone(i)
		if err != nil {
			return nil, err
		}
		name := lt.Status.Requests[i].Name
		list[i] = v1beta1.RequestResult{
			Name:         name,
			PartResult:   part(&lt.Spec, merged, &r, plan.NamesRequest(&lt.Spec, name)),
			Redirects:    r.Redirects,
			ErrorSamples: errorSamples(r.Errors),
		}
	}
	return list, nil
}

// typeResults adds the requests up by type, in order of first appearance.
func typeResults(lt *v1beta1.LoadTest, merged *measure.Measurement) ([]v1beta1.TypeResult, error) {
	requests := lt.Status.Requests
	var list []v1beta1.TypeResult
	for i := range requests {
		name := requests[i].Type
		if slices.ContainsFunc(list, func(t v1beta1.TypeResult) bool { return t.Name == name }) {
			continue
		}
		sum, err := merged.Of(func(request int) bool { return requests[request].Type == name })
		if err != nil {
			return nil, fmt.Errorf("type %s: %w", name, err)
		}
		list = append(list, v1beta1.TypeResult{Name: name, PartResult: part(&lt.Spec, merged, &sum, plan.NamesType(&lt.Spec, name))})
	}
	return list, nil
}

// part is what was measured of a part of the requests, which a threshold may name.
func part(spec *v1beta1.LoadTestSpec, merged *measure.Measurement, sum *measure.Request, named bool) v1beta1.PartResult {
	p := v1beta1.PartResult{Counts: counts(sum), ResponseTime: latency(sum.Response), Streams: streams(spec, sum, merged.Window), OnTime: onTime(spec, sum)}
	if named {
		addIdealOfPart(&p, sum)
	}
	if merged.Due > 0 && merged.KnowsDue() {
		p.Due = &sum.Due
	}
	return p
}

// errorSamples are in the order of the outcome classes.
func errorSamples(errors map[measure.Outcome]string) []v1beta1.ErrorSample {
	var list []v1beta1.ErrorSample
	for o := range measure.Outcome(measure.NumOutcomes) {
		if message, ok := errors[o]; ok {
			list = append(list, v1beta1.ErrorSample{Outcome: o.String(), Message: text.Truncate(message, maxErrorMessage)})
		}
	}
	return list
}

// TrimRequests leaves out the results of the requests that do not fit into so many bytes of
// JSON: of those that no threshold names before the others, of those with the fewest failures,
// and of as many failures of the later ones.
func TrimRequests(spec *v1beta1.LoadTestSpec, r *v1beta1.StepResult, room int) {
	order := make([]int, len(r.Requests))
	for i := range order {
		order[i] = i
	}
	rank := func(i int) int {
		if plan.NamesRequest(spec, r.Requests[i].Name) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(r.Requests[b].Failed, r.Requests[a].Failed))
	})
	kept := make([]bool, len(order))
	room-- // of two brackets and a comma less than there are requests
	for _, i := range order {
		if room -= v1beta1.JSONSize(&r.Requests[i]) + len(","); room < 0 {
			break
		}
		kept[i] = true
	}
	all := r.Requests
	r.Requests = nil
	for i := range all {
		if kept[i] {
			r.Requests = append(r.Requests, all[i])
		}
	}
	r.RequestsOmitted += int32(len(all) - len(r.Requests))
}

// CountsAlone leaves out of the results of the requests what is of no use while a step runs:
// it is written again and again, and workers do not report the times of each request then.
func CountsAlone(r *v1beta1.StepResult) {
	for i := range r.Requests {
		of := &r.Requests[i]
		of.ResponseTime, of.WithoutGenerator, of.Streams, of.OnTime, of.ErrorSamples = nil, nil, nil, nil, nil
	}
}

// DetailSize is how many bytes of a result in a status are the results of each request and
// the traces: what a status may do without.
func DetailSize(r *v1beta1.StepResult) int {
	n := 0
	if len(r.Requests) > 0 {
		n += v1beta1.JSONSize(r.Requests)
	}
	if r.Traces != nil {
		n += v1beta1.JSONSize(r.Traces)
	}
	return n
}
