package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// maxWorst is how many requests a sentence names.
const maxWorst = 3

// worst is a sentence on the requests to which a breach is due most, with a space before it;
// empty: the threshold is about one request, or it is not known of which it is.
func (s sample) worst(requests []v1beta1.RequestStatus) string {
	if s.threshold.Max == nil {
		return ""
	}
	var of []int
	for i := range min(len(s.merged.Requests), len(requests)) {
		if s.judges(i) && s.merged.Requests[i].Sent > 0 {
			of = append(of, i)
		}
	}
	if len(of) < 2 {
		return ""
	}
	if s.threshold.Metric == v1beta1.MetricFailureRate {
		return s.mostFailed(requests, of)
	}
	if from, ok := s.metric.Measured.(metric.Times); ok {
		return s.slowest(requests, of, from)
	}
	return ""
}

// mostFailed names the requests of which the most failed.
func (s sample) mostFailed(requests []v1beta1.RequestStatus, of []int) string {
	failed := func(i int) int64 {
		r := &s.merged.Requests[i]
		return r.Sent - r.Outcomes[measure.Unfinished] - r.Expected
	}
	of = slices.DeleteFunc(of, func(i int) bool { return failed(i) <= 0 })
	slices.SortStableFunc(of, func(a, b int) int { return cmp.Compare(failed(b), failed(a)) })
	var names []string
	for _, i := range of[:min(len(of), maxWorst)] {
		r := &s.merged.Requests[i]
		names = append(names, fmt.Sprintf("%s %d of %d (%s)", requests[i].Name, failed(i), r.Sent-r.Outcomes[measure.Unfinished], commonest(r, func(code int) bool { return s.expects(i, code) })))
	}
	switch more := len(of) - len(names); {
	case len(names) == 0:
		return ""
	case more > 0:
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return " Failed: " + strings.Join(names, ", ") + "."
}

// commonest is the status code of most failures of a request, or their class if they have none. A response
// with a code that the request expects failed by something else, if at all.
func commonest(r *measure.Request, expects func(code int) bool) string {
	worst, most := measure.Other, int64(0)
	for o := range measure.Outcome(measure.NumOutcomes) {
		n := r.Outcomes[o]
		switch o {
		case measure.Success, measure.Unfinished:
			continue
		case measure.RateLimited:
			n -= r.Denied()
		}
		if n > most {
			worst, most = o, n
		}
	}
	code, times := 0, int64(0)
	for c, n := range r.StatusCodes {
		if measure.ClassifyStatus(c, false) == worst && !expects(c) && (n > times || n == times && c < code) {
			code, times = c, n
		}
	}
	if times == 0 {
		return worst.String()
	}
	return measure.StatusName(code)
}

// switchingProtocols is the status of HTTP that opens a connection of WebSocket.
const switchingProtocols = 101

// expectsStatus says whether a request expects a status code, of HTTP or of gRPC.
func expectsStatus(r *v1beta1.Request, code int) bool {
	e := r.Expect
	switch {
	case r.WebSocket != nil:
		return code == switchingProtocols
	case r.GRPC != nil && (e == nil || len(e.GRPCStatus) == 0):
		return code == measure.GRPCOK
	case r.GRPC != nil:
		return slices.Contains(e.GRPCStatus, v1beta1.GRPCStatus(measure.StatusName(code)))
	case e == nil || len(e.Status) == 0:
		return code >= 200 && code <= 299
	}
	return slices.Contains(e.Status, int32(code))
}

// slowest names the request of which a time is the longest, if it is longer than that of all.
func (s sample) slowest(requests []v1beta1.RequestStatus, of []int, from metric.Times) string {
	all, _ := s.times() // they were judged
	name, longest := "", from.Of(all)
	for _, i := range of {
		r, err := s.merged.Alone(i)
		if err != nil || r.Response == nil {
			return "" // while the step runs, it is not known of each
		}
		one := s
		one.request = r
		if h, ok := one.times(); ok && h.Count() >= from.Needed() && from.Of(h) > longest {
			name, longest = requests[i].Name, from.Of(h)
		}
	}
	if name == "" {
		return ""
	}
	return fmt.Sprintf(" The slowest request is %s, with %s.", name, metric.Text(s.threshold.Metric, metric.Micros(longest)))
}
