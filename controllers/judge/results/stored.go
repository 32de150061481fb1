package results

import (
	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// CountStored adds what a step makes of the number of an audit: what the target
// acknowledged, and what it may have stored besides. items is by how much each request
// raises the number. merged is nil if nothing was reported. missing is the most requests
// of the step that may have been sent and are not in merged; negative: no bound is known.
func CountStored(a *v1beta1.AuditStatus, items []int64, merged *measure.Measurement, missing int64) {
	var unknown, largest int64
	for i, n := range items {
		largest = max(largest, n)
		if merged == nil || i >= len(merged.Requests) {
			continue
		}
		r := &merged.Requests[i]
		refused := expectedOf(r, measure.ClientError)
		open := expectedOf(r, measure.ServerError) + expectedOf(r, measure.Timeout)
		a.Acknowledged += n * max(0, r.Outcomes[measure.Success]-refused-open)
		for o, count := range r.Outcomes {
			if leavesOpen(measure.Outcome(o)) {
				open += count
			}
		}
		open += r.StatusCodes[measure.GRPCCancelled]
		open += min(notStored(&r.Outcomes)+refused, r.Redirects)
		unknown += n * open
	}
	switch {
	case a.Unknown == nil:
	case missing < 0:
		a.Unknown = nil
	default:
		*a.Unknown += unknown + largest*missing
	}
}

// expectedOf counts the expected responses of a request whose status is of a class of failures.
// That a user expects a 409 makes it no failure, and no acknowledgement either. Of a class,
// the responses that were not expected have it for their outcome; a deadline of gRPC that has
// passed is no whole response then, and not among the status codes.
func expectedOf(r *measure.Request, class measure.Outcome) int64 {
	var n int64
	for code, count := range r.StatusCodes {
		if measure.ClassifyStatus(code, false) == class {
			n += count
		}
	}
	if class.Responded() {
		n -= r.Outcomes[class]
	}
	return max(0, n)
}

// notStored counts the requests that ended with the target's word that they were not
// carried out, or that were never sent. Of a chain of redirects this holds for its last
// request alone: an earlier one was answered by a redirect, and may have been carried out.
func notStored(outcomes *[measure.NumOutcomes]int64) int64 {
	return outcomes[measure.ClientError] + outcomes[measure.RateLimited] + outcomes[measure.Refused] + outcomes[measure.DNS]
}

// leavesOpen says whether a request that ended so may or may not have been carried out.
//
// A response of 4xx, 429 included, is the target's word that it was not. A 5xx is not:
// a proxy gives it for an answer that was lost, and a target that failed may have failed
// after it had stored. Nor is a response that is not the expected one, or none at all
// once the request may have been sent: an alert of TLS, too, may come after it. CANCELLED of
// gRPC is a client error that says nothing of what was done before.
func leavesOpen(o measure.Outcome) bool {
	switch o {
	case measure.Success, measure.RateLimited, measure.ClientError, // answered
		measure.Refused, measure.DNS: // never sent
		return false
	default:
		return true
	}
}
