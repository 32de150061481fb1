package verdict

import (
	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// addNoEvents has requests with http.stream, none of which got an event, be streams without any.
func (s *sample) addNoEvents(spec *v1beta1.LoadTestSpec) {
	for i := range spec.Requests {
		if http := spec.Requests[i].HTTP; s.request.Streams == nil && http != nil && http.Stream != nil && s.judges(i) {
			s.request.Streams = measure.NewStreams()
		}
	}
}

// eventTimes are the times of streams that the threshold is of; ok is false if there are none.
func (s sample) eventTimes() (h *measure.Histogram, ok bool) {
	t, ok := metric.StreamTimeOf(s.threshold.Time)
	if !ok || s.request.Streams == nil {
		return nil, false
	}
	return s.request.Streams.Times[t.Measured], true
}

// idealEventTimes are the same as a perfect generator would have measured them.
func (s sample) idealEventTimes() (h *measure.Histogram, ok bool) {
	t, ok := metric.StreamTimeOf(s.threshold.Time)
	if !ok || s.request.Streams == nil {
		return nil, false
	}
	return s.request.Streams.Ideally(t.Measured), true
}

// unmeasuredStreams counts what a time of streams leaves out.
//
// A time to the first event is of each request that was due, as a response time is. It is measured of those
// that got one, and of those that waited for one until their timeout. Of the others,
//
//   - what was not sent, and what had not ended and had no event, counts as it does in a response time: by
//     its wait so far, and at worst for ever;
//   - what failed before an event (refused, reset, ended without any) counts as if it had waited for its
//     timeout, and at worst for ever: failing fast is not fast. A mean and a maximum leave it out;
//   - what was answered with another status than an expected one is left out: it is a failure, and no stream.
//
// The measurement has how many had a first event, and not which. What was not connected, or was reset before an
// event, had none; of other outcomes, as many are without one as the numbers leave. As many of these as may be
// are taken for requests that had not ended, which decide less. A call of gRPC may be answered with another
// status after events: then fewer are counted as without one than there may be.
//
// A time between events is of what came. A stream that had not ended when the step did may yet get a longer
// one: at worst each would have had one without end.
func (s sample) unmeasuredStreams() unmeasured {
	r := &s.request
	unfinished := r.Outcomes[measure.Unfinished]
	if s.threshold.Time != v1beta1.FirstEventTime {
		return unmeasured{goingOn: unfinished}
	}
	notConnected := r.Outcomes[measure.Refused] + r.Outcomes[measure.Reset] + r.Outcomes[measure.DNS] + r.Outcomes[measure.TLS]
	without := max(notConnected, r.Sent-r.Streams.Times[measure.FirstEvent].Count()-answeredOtherwise(r))
	waiting := max(0, min(unfinished, without-notConnected))
	u := unmeasured{open: min(waiting, s.open()), failed: without - waiting}
	if s.waited() > 0 {
		u.open = 0
	}
	u.endless = waiting - u.open
	if s.metric.Times().Quantile == 0 {
		u.failed = 0
		return u
	}
	if s.step.State != v1beta1.StepComplete {
		return u
	}
	return s.addUnsent(u)
}

// answeredOtherwise is how many requests were answered with another status than an expected one, and so without
// an event. A success of HTTP that is not the expected one, such as 206, may have had some.
func answeredOtherwise(r *measure.Request) int64 {
	succeeded := -r.Outcomes[measure.Success]
	for code, n := range r.StatusCodes {
		if code/100 == 2 {
			succeeded += n
		}
	}
	others := r.Outcomes[measure.UnexpectedStatus]
	return r.Outcomes[measure.RateLimited] + r.Outcomes[measure.ClientError] + r.Outcomes[measure.ServerError] + others - max(0, min(succeeded, others))
}

// excused is how many of the longest times may be so by the generator's doing: timeouts while a worker did
// not run, and, of a time to the first event, requests that failed for want of a descriptor or a port.
func (s sample) excused() int64 {
	if s.threshold.Time == v1beta1.FirstEventTime {
		return s.generatorsFailures()
	}
	return s.request.Excused
}

// judgesAll says whether the threshold is judged by every request.
func (s sample) judgesAll() bool {
	for i := range s.merged.Requests {
		if !s.judges(i) {
			return false
		}
	}
	return true
}

// isOneReply says whether a request is a call of gRPC whose method returns no stream, as the workers found,
// while the threshold is on the events of streams.
func (s sample) isOneReply(spec *v1beta1.LoadTestSpec, i int) bool {
	return s.threshold.OfStreams() && s.merged != nil && i < len(s.merged.Requests) && i < len(spec.Requests) &&
		spec.Requests[i].GRPC != nil && s.merged.Requests[i].Streams == nil && s.merged.Grouped == nil
}
