package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// StepResult is what was measured in a step, its warm-up left out.
//
// Always: due = sent + unsent, sent = inFlight + the sum of the outcomes, and
// failed = sent - inFlight - expected. A step that has ended has nothing in flight.
type StepResult struct {
	Counts `json:",inline"`
	// due is the number of requests that the schedule asked for so far. In a closed loop, which
	// has no schedule, a request is due when it is sent: due equals sent.
	Due int64 `json:"due"`
	// unsent is the number of due requests that were never sent, because no user or connection
	// was free in time. In a closed loop it is 0. A session that was never started leaves its first
	// request unsent; unsentRate is the share of the sessions then, if that is larger.
	Unsent int64 `json:"unsent"`
	// unsentWithoutRoom is the part of unsent for which the target left no room: on the connections of
	// HTTP/2 that arrivals share, which are slow or permit few requests at once, or as requests
	// without an answer had taken all connections of a worker. Absent: none.
	// +optional
	UnsentWithoutRoom int64 `json:"unsentWithoutRoom,omitempty"`
	// unsentByGenerator is the part of unsent that a steady generator would have sent: they are
	// not the target's fault. Absent: none.
	// +optional
	UnsentByGenerator int64 `json:"unsentByGenerator,omitempty"`
	// sessions are the sessions of a rate: users who come, carry out one journey or one single request
	// of the mix, and leave. Absent without journeys at a rate.
	// +optional
	Sessions *SessionsResult `json:"sessions,omitempty"`
	// replay is what became of the lines of a log. Absent without spec.replay.
	// +optional
	Replay *ReplayResult `json:"replay,omitempty"`
	// displaced is the number of requests that were sent later than a steady generator would have
	// sent them by more than 100 ms or 1% of the step's length, whichever is longer. Users
	// without a rate have none: see generator.heldUp. Absent: none.
	// +optional
	Displaced int64 `json:"displaced,omitempty"`
	// undecided is the part of outcomes.unfinished that had waited for less than their timeout
	// when the step ended: they may have failed or not. Absent: none.
	// +optional
	Undecided int64 `json:"undecided,omitempty"`
	// excused is the part of outcomes.timeout that ended while their worker did not run for a
	// notable part of the timeout: the target may have answered in time. Absent: none.
	// +optional
	Excused int64 `json:"excused,omitempty"`
	// redirects is the number of redirects that were followed, beside sent. Absent: none.
	// +optional
	Redirects int64 `json:"redirects,omitempty"`
	// downtime is the share of the window in which the target was down, in proportion if a
	// part of it was. Example: "1.5%". Absent while the step runs, and when a worker did not
	// report the course of the step.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Downtime string `json:"downtime,omitempty"`
	// late is the number of requests that were sent more than 10 ms after they were due. In a
	// closed loop, which has no schedule, it is 0.
	Late int64 `json:"late"`
	// throughput is responses per second of the window, of any status.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Throughput string `json:"throughput,omitempty"`
	// goodput is successes per second of the window. A denial (429) that is expected is
	// neither a success nor a failure.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Goodput string `json:"goodput,omitempty"`
	// itemsPerSecond is goodput with each request counted as its items. Absent
	// when every request carries one: it is the goodput then.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	ItemsPerSecond string `json:"itemsPerSecond,omitempty"`
	// responseTime is measured from when a request was due, so that waiting for a slow
	// target counts. It has all outcomes except unfinished. In a closed loop it equals
	// serviceTime.
	// +optional
	ResponseTime *Latency `json:"responseTime,omitempty"`
	// serviceTime is measured from when a request was sent. It has all outcomes except
	// unfinished.
	// +optional
	ServiceTime *Latency `json:"serviceTime,omitempty"`
	// withoutGenerator is responseTime as a steady generator would have measured it for the
	// same requests: one that sends at once what it is free to send, and reads at once what
	// has come. What the target did lies between the two. Absent where it equals
	// responseTime.
	// +optional
	WithoutGenerator *Latency `json:"withoutGenerator,omitempty"`
	// lateTogether is by how much longer each of these times may be since requests that were
	// sent late came to the target together with others, and waited for these. Where it is
	// alike on both sides of a comparison, it makes no difference. Absent: by nothing.
	// +optional
	LateTogether *Latency `json:"lateTogether,omitempty"`
	// expectedResponseTime is responseTime of the successes alone: the requests with an
	// expected response that is not a denial. Absent when every request that ended was a
	// success, as it equals responseTime then, and when none was.
	// +optional
	ExpectedResponseTime *Latency `json:"expectedResponseTime,omitempty"`
	// expectedServiceTime is serviceTime of the successes alone. Absent as
	// expectedResponseTime is.
	// +optional
	ExpectedServiceTime *Latency `json:"expectedServiceTime,omitempty"`
	// expectedWithoutGenerator is withoutGenerator of the successes alone. Absent where it
	// equals expectedResponseTime, and where that is absent.
	// +optional
	ExpectedWithoutGenerator *Latency `json:"expectedWithoutGenerator,omitempty"`
	// streams are the events of responses that came in parts. Absent if no request has http.stream, and no
	// method of gRPC returns a stream.
	// +optional
	Streams *StreamsResult `json:"streams,omitempty"`
	// onTime are the requests that were answered in time, for each time that a threshold
	// names as within. Absent when none does, and when the workers did not count them.
	// +optional
	// +listType=map
	// +listMapKey=within
	// +kubebuilder:validation:MaxItems=32
	OnTime []OnTimeCount `json:"onTime,omitempty"`
	// outstanding is the number of requests that were due and had not ended, and whether it
	// grew. Absent while the step runs, and when the workers did not count them.
	// +optional
	Outstanding *OutstandingResult `json:"outstanding,omitempty"`
	// types are the counts and response times by type of request.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	Types []TypeResult `json:"types,omitempty"`
	// requests are the counts and response times of each request, in the order of
	// spec.requests. While the step runs they have counts alone.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Requests []RequestResult `json:"requests,omitempty"`
	// requestsOmitted is how many of spec.requests have no place in requests, since the
	// LoadTest, of at most 1200 KiB, has no room for them: those with the fewest failures.
	// The archive of the step has all. Absent: none.
	// +optional
	// +kubebuilder:validation:Minimum=1
	RequestsOmitted int32 `json:"requestsOmitted,omitempty"`
	// journeys are what became of the journeys, in the order of spec.journeys.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Journeys []JourneyResult `json:"journeys,omitempty"`
	// transport is the client with which the workers sent, such as "http1" or
	// "net/http HTTP/2".
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Transport string `json:"transport,omitempty"`
	// generator is the state of the generator itself in the step: its lateness, its
	// connections and its processor time.
	// +optional
	Generator *GeneratorStatus `json:"generator,omitempty"`
	// rateLimit is the audit against the rateLimit of spec.audits. Absent when there
	// is none.
	// +optional
	RateLimit *RateLimitStatus `json:"rateLimit,omitempty"`
	// traces are requests by which to find a trace in a tracing backend. Absent if the
	// target has no trace, while the step runs, and when the LoadTest has no room for them,
	// as for histogram.
	// +optional
	Traces *TraceResult `json:"traces,omitempty"`
	// histogram is the merged histogram of responseTime: HdrHistogram V2, compressed,
	// base64; unit 1 us, bounds 1 us to 1 h, 3 significant digits. Absent while the step
	// runs, and when the LoadTest, of at most 1200 KiB, has no room for it beside the
	// spec and the counts of all steps.
	// +optional
	// +kubebuilder:validation:MaxLength=131072
	Histogram string `json:"histogram,omitempty"`
}

// SessionsResult is how many sessions a rate asked for, and how many were begun. Those that were not
// found no connection, or the generator was late; the first request of each is unsent.
type SessionsResult struct {
	// due is the number of sessions that the rate asked for so far.
	Due int64 `json:"due"`
	// started is the number of sessions that were begun: their first request was sent.
	Started int64 `json:"started"`
}

// Offered is how much of the load was not sent, of how much that was due: of requests or, if a larger
// part of them was not started, of sessions.
func (r *StepResult) Offered() (unsent, due int64) {
	if s := r.Sessions; s != nil && float64(s.Due-s.Started)*float64(r.Due) > float64(r.Unsent)*float64(s.Due) {
		return s.Due - s.Started, s.Due
	}
	return r.Unsent, r.Due
}

// Counts are disjoint counts of requests.
type Counts struct {
	// sent is the number of requests that were sent.
	Sent int64 `json:"sent"`
	// completed is the number of requests that got a whole response, of any status. Those that count as
	// badResponse are left out.
	Completed int64 `json:"completed"`
	// expected is the number of requests that got an expected response: outcomes.success, and those that were
	// denied (429) as expected.
	Expected int64 `json:"expected"`
	// failed is the number of requests that ended without an expected response: sent less inFlight less
	// expected.
	Failed int64 `json:"failed"`
	// inFlight is the number of requests that were sent and have not ended yet. Absent once the step has
	// ended: what was still in flight counts as outcomes.unfinished then.
	// +optional
	InFlight int64 `json:"inFlight,omitempty"`
	// outcomes divides the requests that ended: each is in exactly one of them.
	Outcomes Outcomes `json:"outcomes"`
	// statusCodes counts completed by status code: the 8 codes that came most often,
	// in ascending order. The rest of completed had other codes. Absent when the
	// workers did not report them.
	// +optional
	// +listType=map
	// +listMapKey=code
	// +kubebuilder:validation:MaxItems=8
	StatusCodes []StatusCodeCount `json:"statusCodes,omitempty"`
}

// StatusCodeCount is the number of responses that had a status code.
type StatusCodeCount struct {
	// code is the status code of HTTP, or, from 0 to 16, of gRPC. Example: 404; 5 is NOT_FOUND.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=999
	Code int32 `json:"code"`
	// count is the number of responses that had it.
	// +required
	// +kubebuilder:validation:Minimum=1
	Count int64 `json:"count"`
}

// Outcomes divides the sent requests by what became of them. A class that did not occur is
// absent.
type Outcomes struct {
	// success is an expected response that is not rateLimited.
	// +optional
	Success int64 `json:"success,omitempty"`
	// rateLimited is a response of status 429, or RESOURCE_EXHAUSTED of gRPC, expected or not.
	// +optional
	RateLimited int64 `json:"rateLimited,omitempty"`
	// clientError is an unexpected response of status 400 to 499, except 429, or a status of
	// gRPC that means one, such as NOT_FOUND.
	// +optional
	ClientError int64 `json:"clientError,omitempty"`
	// serverError is an unexpected response of status 500 to 599, or a status of gRPC that
	// means one, such as UNAVAILABLE.
	// +optional
	ServerError int64 `json:"serverError,omitempty"`
	// unexpectedStatus is an unexpected response of any other status.
	// +optional
	UnexpectedStatus int64 `json:"unexpectedStatus,omitempty"`
	// timeout is a request without a whole response within its timeout, or an
	// unexpected DEADLINE_EXCEEDED of gRPC.
	// +optional
	Timeout int64 `json:"timeout,omitempty"`
	// refused is a connection that was refused.
	// +optional
	Refused int64 `json:"refused,omitempty"`
	// reset is a connection that was reset or closed early.
	// +optional
	Reset int64 `json:"reset,omitempty"`
	// dns is a host name that did not resolve.
	// +optional
	DNS int64 `json:"dns,omitempty"`
	// tls is a failed TLS handshake or certificate.
	// +optional
	TLS int64 `json:"tls,omitempty"`
	// badResponse is an answer that is not a response of HTTP or gRPC, or a body that the request
	// does not expect.
	// +optional
	BadResponse int64 `json:"badResponse,omitempty"`
	// unfinished was still in flight when the step ended.
	// +optional
	Unfinished int64 `json:"unfinished,omitempty"`
	// other is any other failure to send or receive.
	// +optional
	Other int64 `json:"other,omitempty"`
	// brokenOff is a stream whose connection was reset or closed after its first event.
	// +optional
	BrokenOff int64 `json:"brokenOff,omitempty"`
	// stalled is a stream of which no event came for longer than its stall.
	// +optional
	Stalled int64 `json:"stalled,omitempty"`
	// endedEarly is a stream that ended without its last event, or without any.
	// +optional
	EndedEarly int64 `json:"endedEarly,omitempty"`
}

// Latency is a distribution of times. A quantile with too few samples behind it
// (fewer than 1/(1-q)) is left out.
type Latency struct {
	// samples is the number of times that the distribution holds.
	Samples int64 `json:"samples"`
	// min is the shortest time.
	// +optional
	Min *metav1.Duration `json:"min,omitempty"`
	// mean is the arithmetic mean.
	// +optional
	Mean *metav1.Duration `json:"mean,omitempty"`
	// p50 is the median.
	// +optional
	P50 *metav1.Duration `json:"p50,omitempty"`
	// p75 is the 75th percentile.
	// +optional
	P75 *metav1.Duration `json:"p75,omitempty"`
	// p90 is the 90th percentile.
	// +optional
	P90 *metav1.Duration `json:"p90,omitempty"`
	// p95 is the 95th percentile.
	// +optional
	P95 *metav1.Duration `json:"p95,omitempty"`
	// p99 is the 99th percentile.
	// +optional
	P99 *metav1.Duration `json:"p99,omitempty"`
	// p999 is the 99.9th percentile.
	// +optional
	P999 *metav1.Duration `json:"p999,omitempty"`
	// p9999 is the 99.99th percentile.
	// +optional
	P9999 *metav1.Duration `json:"p9999,omitempty"`
	// longest is the longest time.
	// +optional
	Longest *metav1.Duration `json:"longest,omitempty"`
}

// TypeResult is the part of a step's result that belongs to the requests of one type.
type TypeResult struct {
	// name is the type.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Name       string `json:"name"`
	PartResult `json:",inline"`
}

// RequestResult is the part of a step's result that belongs to one of spec.requests.
type RequestResult struct {
	// name is that of the request, as in status.requests.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Name       string `json:"name"`
	PartResult `json:",inline"`
	// redirects is the number of redirects that were followed. Absent: none.
	// +optional
	Redirects int64 `json:"redirects,omitempty"`
	// errorSamples are one error message for each failing outcome. Absent while the step
	// runs, and when nothing failed.
	// +optional
	// +listType=map
	// +listMapKey=outcome
	// +kubebuilder:validation:MaxItems=16
	ErrorSamples []ErrorSample `json:"errorSamples,omitempty"`
}

// PartResult is what was measured of a part of the requests.
type PartResult struct {
	Counts `json:",inline"`
	// due is how many of these requests were due. Absent when the workers did not
	// count them by request.
	// +optional
	Due *int64 `json:"due,omitempty"`
	// undecided is the part of outcomes.unfinished that had waited for less than their timeout
	// when the step ended. Absent: none, or no threshold names the part.
	// +optional
	Undecided int64 `json:"undecided,omitempty"`
	// excused is the part of outcomes.timeout that ended while their worker did not run for a
	// notable part of the timeout. Absent: none, or no threshold names the part.
	// +optional
	Excused int64 `json:"excused,omitempty"`
	// responseTime is measured from when a request was due.
	// +optional
	ResponseTime *Latency `json:"responseTime,omitempty"`
	// withoutGenerator is responseTime as a steady generator would have measured it for the
	// same requests. Absent where it equals responseTime, and of a part that no threshold
	// names.
	// +optional
	WithoutGenerator *Latency `json:"withoutGenerator,omitempty"`
	// streams are the events of its responses that came in parts. Absent if none may.
	// +optional
	Streams *StreamsResult `json:"streams,omitempty"`
	// onTime are the requests that were answered in time, for each time that a threshold
	// names as within.
	// +optional
	// +listType=map
	// +listMapKey=within
	// +kubebuilder:validation:MaxItems=32
	OnTime []OnTimeCount `json:"onTime,omitempty"`
}

// OnTimeCount is the number of requests that were answered within a time.
type OnTimeCount struct {
	// within is the time, from when a request was due.
	// +required
	Within metav1.Duration `json:"within"`
	// requests is the number of requests that succeeded within it.
	// +required
	// +kubebuilder:validation:Minimum=0
	Requests int64 `json:"requests"`
	// withoutGenerator is the number of requests that would have, had the generator been steady. Absent where
	// it equals requests.
	// +optional
	// +kubebuilder:validation:Minimum=0
	WithoutGenerator *int64 `json:"withoutGenerator,omitempty"`
}

// RateLimitStatus is the audit of a step against the rateLimit of spec.audits.
type RateLimitStatus struct {
	// clients is the number of distinct clients that were audited.
	Clients int64 `json:"clients"`
	// granted is the number of requests that were granted (an expected status, but
	// for 429 and 500 to 599).
	Granted int64 `json:"granted"`
	// denied is the number of requests that were answered 429.
	Denied int64 `json:"denied"`
	// overLimitGrants is the number of granted requests that are certainly beyond the
	// contract, given the true elapsed time.
	OverLimitGrants int64 `json:"overLimitGrants"`
	// falseDenials is the number of requests that were denied although a token was
	// certainly there.
	FalseDenials int64 `json:"falseDenials"`
	// untracked is the number of requests that could not be audited, because there was no room
	// for their clients or their workers were lost.
	// +optional
	Untracked int64 `json:"untracked,omitempty"`
}

// ErrorSample is one failure as a worker met it.
type ErrorSample struct {
	// outcome is the failure's class, spelled as in outcomes.
	// +required
	// +kubebuilder:validation:MaxLength=32
	Outcome string `json:"outcome"`
	// message is the error, truncated.
	// +required
	// +kubebuilder:validation:MaxLength=256
	Message string `json:"message"`
}
