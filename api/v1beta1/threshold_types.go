package v1beta1

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Threshold is a bound on a metric, judged on the merged result of all workers,
// for each step apart.
//
// +kubebuilder:validation:XValidation:rule="self.metric.matches('^p(0[.]0[1-9]|0[.][1-9][0-9]?|[1-9][0-9]?([.][0-9]{1,2})?)$') || self.metric in ['longest', 'mean', 'onTimeRate', 'failureRate', 'rateLimitedRate', 'unsentRate', 'downtime', 'drift', 'goodput', 'throughput', 'itemsPerSecond', 'eventsPerSecond', 'outputTokensPerSecond', 'overLimitGrants', 'falseDenials', 'Query']",fieldPath=".metric",message="metric must be a percentile such as p95 or p99.9, or longest, mean, onTimeRate, failureRate, rateLimitedRate, unsentRate, downtime, drift, goodput, throughput, itemsPerSecond, eventsPerSecond, outputTokensPerSecond, overLimitGrants, falseDenials or Query"
// +kubebuilder:validation:XValidation:rule="!has(self.maxIncrease) && !has(self.maxDecrease) || !self.metric.startsWith('p') || self.metric in ['p50', 'p75', 'p90', 'p95', 'p99', 'p99.9', 'p99.99']",fieldPath=".metric",message="metric must be p50, p75, p90, p95, p99, p99.9 or p99.99 with maxIncrease or maxDecrease: a finished LoadTest has no other percentile"
// +kubebuilder:validation:XValidation:rule="[has(self.max), has(self.min), has(self.maxIncrease), has(self.maxDecrease)].filter(b, b).size() == 1",message="exactly one of max, min, maxIncrease and maxDecrease must be set"
// +kubebuilder:validation:XValidation:rule=`!self.metric.matches('^(p[0-9.]+|longest|mean)$') || (!has(self.max) || type(self.max) == string && self.max.matches('^[0-9]{1,9}([.][0-9]{1,6})?(us|µs|ms|s)$')) && (!has(self.min) || type(self.min) == string && self.min.matches('^[0-9]{1,9}([.][0-9]{1,6})?(us|µs|ms|s)$'))`,message="max or min of a latency must be a time such as 500ms"
// +kubebuilder:validation:XValidation:rule=`!(self.metric in ['onTimeRate', 'failureRate', 'rateLimitedRate', 'unsentRate', 'downtime']) || (!has(self.max) || type(self.max) == string && self.max.matches('^[0-9]{1,3}([.][0-9]{1,6})?%$')) && (!has(self.min) || type(self.min) == string && self.min.matches('^[0-9]{1,3}([.][0-9]{1,6})?%$'))`,message="max or min of onTimeRate, failureRate, rateLimitedRate, unsentRate or downtime must be a percentage such as 1%"
// +kubebuilder:validation:XValidation:rule=`!(self.metric in ['goodput', 'throughput', 'itemsPerSecond', 'eventsPerSecond', 'outputTokensPerSecond', 'drift', 'Query']) || (!has(self.max) || string(self.max).matches('^[0-9]{1,9}([.][0-9]{1,6})?$')) && (!has(self.min) || string(self.min).matches('^[0-9]{1,9}([.][0-9]{1,6})?$'))`,message="max or min of goodput, throughput, itemsPerSecond, eventsPerSecond, outputTokensPerSecond, drift or Query must be a number such as 1000, or in quotes such as \"0.5\""
// +kubebuilder:validation:XValidation:rule=`!(self.metric in ['overLimitGrants', 'falseDenials']) || (!has(self.max) || (type(self.max) == int ? self.max >= 0 && self.max <= 2147483647 : self.max.matches('^[0-9]{1,12}$'))) && (!has(self.min) || (type(self.min) == int ? self.min >= 0 && self.min <= 2147483647 : self.min.matches('^[0-9]{1,12}$')))`,message="max or min of overLimitGrants or falseDenials must be a whole number such as 0"
// +kubebuilder:validation:XValidation:rule="!has(self.requests) || !(self.metric in ['overLimitGrants', 'falseDenials', 'unsentRate', 'downtime', 'drift', 'Query'])",fieldPath=".requests",reason="FieldValueForbidden",message="requests must not be set with overLimitGrants, falseDenials, unsentRate, downtime, drift or Query, which are not known per request"
// +kubebuilder:validation:XValidation:rule="!has(self.types) || !(self.metric in ['overLimitGrants', 'falseDenials', 'unsentRate', 'downtime', 'drift', 'Query'])",fieldPath=".types",reason="FieldValueForbidden",message="types must not be set with overLimitGrants, falseDenials, unsentRate, downtime, drift or Query, which are not known per type"
// +kubebuilder:validation:XValidation:rule="!has(self.requests) || !has(self.maxIncrease) && !has(self.maxDecrease) || self.requests.size() == 1 && !has(self.types) && self.metric.matches('^(p[0-9.]+|longest|mean|failureRate|rateLimitedRate)$')",fieldPath=".requests",reason="FieldValueForbidden",message="requests must be one request, without types, of a latency, failureRate or rateLimitedRate, with maxIncrease or maxDecrease: a finished LoadTest has no other figures by request"
// +kubebuilder:validation:XValidation:rule="!has(self.types) || !has(self.maxIncrease) && !has(self.maxDecrease) || self.types.size() == 1 && self.metric.matches('^(p[0-9.]+|longest|mean|failureRate|rateLimitedRate)$')",fieldPath=".types",reason="FieldValueForbidden",message="types must be one type, of a latency, failureRate or rateLimitedRate, with maxIncrease or maxDecrease: a finished LoadTest has no other figures by type"
// +kubebuilder:validation:XValidation:rule="(has(self.within) || has(self.firstEvent) || has(self.meanGap)) == (self.metric == 'onTimeRate')",message="within, firstEvent or meanGap must be set with onTimeRate, and only with it"
// +kubebuilder:validation:XValidation:rule="has(self.query) == (self.metric == 'Query')",message="query must be set with Query, and only with it"
// +kubebuilder:validation:XValidation:rule="!has(self.of) || self.metric.matches('^(p[0-9.]+|longest|mean)$')",fieldPath=".of",reason="FieldValueForbidden",message="of must not be set with a metric that is not a latency"
// +kubebuilder:validation:XValidation:rule="!has(self.time) || self.metric.matches('^(p[0-9.]+|longest|mean)$')",fieldPath=".time",reason="FieldValueForbidden",message="time must not be set with a metric that is not a latency"
// +kubebuilder:validation:XValidation:rule="!has(self.time) || self.time in ['ResponseTime', 'ServiceTime'] || !has(self.of)",fieldPath=".of",reason="FieldValueForbidden",message="of must not be set with time FirstEvent, BetweenEvents, LongestGap or MeanGap, which is of all streams"
// +kubebuilder:validation:XValidation:rule="!has(self.onBreach) || self.onBreach != 'Abort' || !(self.metric in ['overLimitGrants', 'falseDenials', 'unsentRate', 'downtime', 'drift', 'eventsPerSecond', 'outputTokensPerSecond', 'Query'])",fieldPath=".onBreach",reason="FieldValueForbidden",message="onBreach must not be Abort with overLimitGrants, falseDenials, unsentRate, downtime, drift, eventsPerSecond, outputTokensPerSecond or Query, which are not known before the end of a step"
// +kubebuilder:validation:XValidation:rule="!has(self.grace) || has(self.onBreach) && self.onBreach == 'Abort'",fieldPath=".grace",reason="FieldValueForbidden",message="grace must not be set without onBreach Abort"
// +kubebuilder:validation:XValidation:rule="!has(self.maxIncrease) && !has(self.maxDecrease) || !(self.metric in ['onTimeRate', 'drift', 'Query']) && !has(self.of) && !has(self.time) && (!has(self.onBreach) || self.onBreach != 'Abort')",message="maxIncrease and maxDecrease must not be set with onTimeRate, drift, Query, of, time or onBreach Abort"
// +kubebuilder:validation:XValidation:rule="!has(self.journeys) || self.metric.matches('^(p[0-9.]+|longest|mean|failureRate)$')",fieldPath=".journeys",reason="FieldValueForbidden",message="journeys must not be set with a metric that is neither a latency nor failureRate"
// +kubebuilder:validation:XValidation:rule="!has(self.journeys) || !has(self.requests) && !has(self.types) && !has(self.of) && !has(self.time) && !has(self.maxIncrease) && !has(self.maxDecrease)",fieldPath=".journeys",reason="FieldValueForbidden",message="journeys must not be set with requests, types, of, time, maxIncrease or maxDecrease"
// +kubebuilder:validation:XValidation:rule="!has(self.journeys) || !has(self.onBreach) || self.onBreach != 'Abort'",fieldPath=".onBreach",reason="FieldValueForbidden",message="onBreach must not be Abort with journeys, which are judged when a step has ended"
// +kubebuilder:validation:XValidation:rule="!has(self.inRepetitions) || !has(self.maxIncrease) && !has(self.maxDecrease)",fieldPath=".inRepetitions",reason="FieldValueForbidden",message="inRepetitions must not be set with maxIncrease or maxDecrease, which are judged from all repetitions"
// +kubebuilder:validation:XValidation:rule="!has(self.inRepetitions) || !has(self.onBreach) || self.onBreach != 'Abort'",fieldPath=".inRepetitions",reason="FieldValueForbidden",message="inRepetitions must not be set with onBreach Abort, which ends a run in the middle of a repetition; StopLadder ends it once the threshold cannot be kept any more"
type Threshold struct {
	// name identifies the threshold in the result. Absent: what it is about, such as
	// "p95 of follow in peak".
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

	// metric is what is bounded. Of times: a percentile such as p95, longest, or mean. Shares:
	// onTimeRate, expected responses within a time, of the requests that were due; failureRate,
	// those without an expected response, of the requests that were sent; rateLimitedRate,
	// those answered 429, of them; unsentRate, those never sent, of the requests that were
	// due; downtime, the time in which requests were outstanding and none was answered, of
	// the step. Numbers a second: goodput, expected responses; throughput, all responses;
	// itemsPerSecond, items of the expected ones; eventsPerSecond, events of streams; outputTokensPerSecond, tokens of their answers; drift, by how much outstanding requests
	// grew. Numbers: overLimitGrants and falseDenials, requests that a rateLimit of
	// spec.audits does not allow to be granted, or denied. Query: what the
	// administrator's Prometheus answers.
	// +required
	Metric Metric `json:"metric"`

	// within is the time in which a request is answered to be on time, from when it was
	// due. It goes with onTimeRate, and only with it. Example: 200ms.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(us|µs|ms|s|m|h))+$') && [duration('1us'), duration(self), duration('1h')].isSorted()",message="within must be a time from 1us to 1h, such as 200ms"
	Within *metav1.Duration `json:"within,omitempty"`

	// firstEvent and meanGap are what the stream that answers a request keeps to be on time, beside within:
	// the time from when it was due to its first event, and the mean time between two events. They go with
	// onTimeRate. Example: 500ms.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(us|µs|ms|s|m|h))+$') && [duration('1us'), duration(self), duration('1h')].isSorted()",message="firstEvent must be a time from 1us to 1h, such as 500ms"
	FirstEvent *metav1.Duration `json:"firstEvent,omitempty"`

	// meanGap is the mean time between two events that a stream keeps; see firstEvent. Example: 50ms.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(us|µs|ms|s|m|h))+$') && [duration('1us'), duration(self), duration('1h')].isSorted()",message="meanGap must be a time from 1us to 1h, such as 50ms"
	MeanGap *metav1.Duration `json:"meanGap,omitempty"`

	// query names a query of the operator's configuration. It goes with metric Query, and only
	// with it.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Query string `json:"query,omitempty"`

	// of selects the requests that a latency (p50, p95, longest, mean …) covers: All, or
	// Expected, those with an expected response that is not a denial (429). Absent: All.
	// +optional
	Of LatencyOf `json:"of,omitempty"`

	// time selects the time that a latency measures: ResponseTime, from when a request was due,
	// or ServiceTime, from when it was sent; of streams FirstEvent, from when it was due,
	// BetweenEvents, LongestGap or MeanGap. Absent: ResponseTime.
	// +optional
	Time LatencyTime `json:"time,omitempty"`

	// requests restricts the metric to requests of these names. Absent: all.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	Requests []string `json:"requests,omitempty"`

	// types restricts the metric to requests of these types, as they stand in the
	// result: Read, Write or your own. With requests, both must hold. Absent: all.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	Types []string `json:"types,omitempty"`

	// journeys applies the metric to journeys of these names instead of requests: a latency is
	// the time of completed journeys, failureRate the share of failed ones among the journeys
	// that ended. Absent: requests.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	Journeys []string `json:"journeys,omitempty"`

	// steps restricts the threshold to steps of these names, in every repetition. Absent:
	// all steps. Example: [peak].
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	Steps []string `json:"steps,omitempty"`

	// loads restricts the threshold to these of spec.loads. Absent: all to which its requests, journeys and
	// steps belong.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=30
	Loads []string `json:"loads,omitempty"`

	// upToUsers restricts the threshold to steps of at most this many users. Steps
	// with a rate are always judged. Absent: all steps.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	UpToUsers *int32 `json:"upToUsers,omitempty"`

	// inRepetitions is the least number of spec.repetitions in which a step must keep the
	// threshold. A breach in another repetition does not count, and stops nothing. Absent: all.
	// Example, with repetitions: 5: 4.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=32
	InRepetitions *int32 `json:"inRepetitions,omitempty"`

	// max is the largest value that is good. A whole number needs no quotes, a decimal
	// does. Examples, by metric: 500ms, 1%, 1000, "0.5".
	// +optional
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=32
	Max *intstr.IntOrString `json:"max,omitempty"`

	// min is the smallest value that is good, written like max.
	// +optional
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=32
	Min *intstr.IntOrString `json:"min,omitempty"`

	// maxIncrease is the percentage by which the metric may be above the same step of
	// spec.baseline, or of spec.versus. It is judged in the step's last repetition, from all of
	// them: a difference counts if noise does not explain it. Example: 10%.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern="^[0-9]{1,6}([.][0-9]{1,6})?%$"
	MaxIncrease string `json:"maxIncrease,omitempty"`

	// maxDecrease is by how much the metric may be below that, judged like maxIncrease. Example, of goodput: 5%.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern="^[0-9]{1,6}([.][0-9]{1,6})?%$"
	MaxDecrease string `json:"maxDecrease,omitempty"`

	// onBreach is what happens when a step breaches the threshold. StopLadder skips
	// all that follows: the remaining steps and every later repetition. Abort does so,
	// too, and ends a running step within 3s, once the rest of it could not mend the
	// breach. Default Continue.
	// +optional
	OnBreach BreachAction `json:"onBreach,omitempty"`

	// grace is for how long at the beginning of a step, after its warm-up, Abort does
	// nothing. What was measured meanwhile counts. It goes with onBreach Abort. Absent:
	// 5s.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(us|µs|ms|s|m|h))+$') && duration(self) <= duration('24h')",message="grace must be a time from 0s to 24h, such as 10s"
	Grace *metav1.Duration `json:"grace,omitempty"`
}

// LatencyOf is which requests a latency is of.
//
// +kubebuilder:validation:Enum=All;Expected
type LatencyOf string

const (
	// LatencyOfAll is of all requests. A quantile of response times is over those that were
	// due: what was never sent, or has not ended, counts by its wait. Longest, mean and
	// service times are of those that ended.
	LatencyOfAll LatencyOf = "All"
	// LatencyOfExpected is of those that got an expected response, a denial (429) left
	// out: a target that fails or denies fast is not fast.
	LatencyOfExpected LatencyOf = "Expected"
)

// LatencyTime is which time a latency is.
//
// +kubebuilder:validation:Enum=ResponseTime;ServiceTime;FirstEvent;BetweenEvents;LongestGap;MeanGap
type LatencyTime string

const (
	// ResponseTime is from when a request was due: waiting for a slow target counts.
	ResponseTime LatencyTime = "ResponseTime"
	// ServiceTime is from when a request was sent.
	ServiceTime LatencyTime = "ServiceTime"
	// FirstEventTime is from when the request of a stream was due to its first event. One that got none
	// in time counts by its wait.
	FirstEventTime LatencyTime = "FirstEvent"
	// BetweenEventsTime is each time between two events of a stream.
	BetweenEventsTime LatencyTime = "BetweenEvents"
	// LongestGapTime is the longest time between two events, of each stream.
	LongestGapTime LatencyTime = "LongestGap"
	// MeanGapTime is the mean time between two events, of each stream; of one that says how many output
	// tokens it had, the time per token.
	MeanGapTime LatencyTime = "MeanGap"
)

// IsOfStreams says whether it is a time of the events of streams, and not of whole responses.
func (t LatencyTime) IsOfStreams() bool {
	return t != "" && t != ResponseTime && t != ServiceTime
}

// Metric names a quantity of a step's merged result: a percentile of a time, from p0.01 to
// p99.99, such as p95, or one of those below.
//
// +kubebuilder:validation:MaxLength=32
type Metric string

const (
	// MetricLongest is the longest time.
	MetricLongest Metric = "longest"
	// MetricMean is the mean time.
	MetricMean Metric = "mean"
	// MetricOnTimeRate is the share of due requests that got an expected response in
	// the time of within, from when they were due. What was never sent, failed or had
	// no answer was not on time. What was denied (429) as expected is left out. It is
	// counted by the workers, request by request.
	MetricOnTimeRate Metric = "onTimeRate"
	// MetricFailureRate is the share of sent requests that did not get an
	// expected response, in percent. A 429 is a failure unless expect.status has it; then
	// it is neither a failure nor a success.
	MetricFailureRate Metric = "failureRate"
	// MetricRateLimitedRate is the share of sent requests answered 429.
	MetricRateLimitedRate Metric = "rateLimitedRate"
	// MetricUnsentRate is the share of due requests that were never sent, because the
	// target kept the users or connections busy. Users without a rate leave none unsent.
	MetricUnsentRate Metric = "unsentRate"
	// MetricDowntime is the share of the window in which the target was down, in percent: for
	// all requests that were outstanding, or, in proportion, for a part of them. Requests
	// that are only slow, while others are answered, are not downtime. Without a threshold,
	// at most 0.5% is allowed.
	MetricDowntime Metric = "downtime"
	// MetricDrift is the number by which outstanding requests (due, and not ended) grew with
	// each second of a step; 0 if chance explains it. Users without a rate, ramps and bursts
	// have none.
	MetricDrift Metric = "drift"
	// MetricGoodput is successes per second of the window: expected responses that are not
	// denials (429).
	MetricGoodput Metric = "goodput"
	// MetricThroughput is responses of any kind per second of the window.
	MetricThroughput Metric = "throughput"
	// MetricItemsPerSecond is items of the successes per second of the window: goodput,
	// each request counted as its items.
	MetricItemsPerSecond Metric = "itemsPerSecond"
	// MetricEventsPerSecond is events of streams per second of the window, of all streams together.
	MetricEventsPerSecond Metric = "eventsPerSecond"
	// MetricOutputTokensPerSecond is tokens per second of the window that the streams of a language model
	// said that they put out, those left out that did not succeed.
	MetricOutputTokensPerSecond Metric = "outputTokensPerSecond"
	// MetricOverLimitGrants is the number of requests that were granted beyond the
	// contract of the rateLimit of spec.audits, given the true elapsed time.
	MetricOverLimitGrants Metric = "overLimitGrants"
	// MetricFalseDenials is the number of requests that were denied although a token was
	// certainly there.
	MetricFalseDenials Metric = "falseDenials"
	// MetricQuery is what the administrator's Prometheus answers to a query, over the window
	// of a step. Without an answer it cannot be judged.
	MetricQuery Metric = "Query"
)

// BreachAction is what happens when a step breaches a threshold.
//
// +kubebuilder:validation:Enum=Continue;StopLadder;Abort
type BreachAction string

const (
	// BreachContinue goes on with the next step.
	BreachContinue BreachAction = "Continue"
	// BreachStopLadder skips the steps that follow, in all repetitions.
	BreachStopLadder BreachAction = "StopLadder"
	// BreachAbort does so, too, and judges the threshold once a second while a step
	// runs. Where the number of requests is planned, it ends the step once that would
	// breach the threshold even if all that is left of it did well. Where it is not
	// (users without a rate; the times between events of streams), the result so far must
	// be a breach, and so must each of the last 10 seconds by itself, without those that cannot
	// be judged. Nothing is aborted before 20 requests have ended (or events of streams have
	// come), for what the generator caused, or for what a silent worker may hold.
	BreachAbort BreachAction = "Abort"
)

// IsRelative says whether the threshold is a bound on a difference, to a baseline or to
// the control.
func (t *Threshold) IsRelative() bool { return t.MaxIncrease != "" || t.MaxDecrease != "" }

// OfStreams says whether the threshold is a bound on the events of streams: on their times, or on how many
// come in a second.
func (t *Threshold) OfStreams() bool {
	return t.Time.IsOfStreams() || t.Metric == MetricEventsPerSecond || t.Metric == MetricOutputTokensPerSecond || t.HasGoal()
}

// Covers says whether the threshold is about a step, whichever target it is sent to. planned is the name
// that the step has in the plan: in a later repetition, and for the control, its own name is another.
func (t *Threshold) Covers(step *StepStatus, planned string) bool {
	return !step.Load.IsPause() && (t.UpToUsers == nil || step.Load.MostUsers() <= *t.UpToUsers) &&
		(len(t.Steps) == 0 || slices.Contains(t.Steps, planned) || slices.Contains(t.Steps, step.Name))
}

// HasGoal says whether it counts streams by the times of their events.
func (t *Threshold) HasGoal() bool { return t.FirstEvent != nil || t.MeanGap != nil }
