package runmetrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// describe is a metric of a LoadTest, with labels beside those that name it.
func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("loadtest_"+name, help, append([]string{"namespace", "name"}, labels...), nil)
}

// The metrics of every LoadTest.
var (
	created   = describe("created_timestamp_seconds", "When the LoadTest was created.")
	started   = describe("start_timestamp_seconds", "When the run began, after its wait in the queue. Absent before.")
	completed = describe("completion_timestamp_seconds", "When the run finished. Absent before.")
	phase     = describe("phase", "1 for the phase that the LoadTest is in, 0 for the others.", "phase")
	verdict   = describe("verdict", "1 for the verdict of the run, 0 for the others, and for all of them before the run has finished.", "verdict")
	limited   = describe("generator_limited", "1 for the reason for which the generator's own delay shows in the result; 0 for the others.", "reason")
	workers   = describe("workers", "Workers by state: wanted, ready, not connected for the moment, and lost.", "state")
)

// The metrics of a LoadTest whose run this process has carried out, or goes on with.
var (
	requestsDue      = describe("requests_due_total", "Requests that the schedule asked for. A closed loop has no schedule: a request is due when it is sent.")
	requestsSent     = describe("requests_sent_total", "Requests sent.")
	requestsExpected = describe("requests_expected_total", "Requests with an expected response, including expected denials (429). Goodput is the rate of requests_total with outcome success.")
	requestsLate     = describe("requests_late_total", "Requests that were sent more than 10 ms after they were due.")
	requests         = describe("requests_total", "Ended requests by outcome; each has exactly one.", "outcome")
	responseTime     = describe("response_time_seconds", "Time from when a request was due to its outcome, for all outcomes except unfinished. Classic buckets, and native buckets of schema 3.")
	steps            = describe("steps", "Steps planned so far, without pauses.")
	stepNumber       = describe("step", "Number of the most recent step, from 1, without pauses; 0 before the first.")
	users            = describe("users", "Users of the running step (for a ramp, the number at its end); 0 between steps, and for steps with a rate.")
	plannedRate      = describe("planned_requests_per_second", "Planned requests per second of the running step (for a ramp, the rate at its end); 0 between steps, for users without a rate, and for sessions at a rate, each of which sends several.")
	goodput          = describe("step_goodput_requests_per_second", "Successes per second of the window of the most recent step, as in the status.")
	percentiles      = describe("step_response_time_seconds", "Percentiles of the response time of the most recent step, exact over all workers, as in the status. Absent if it has too few samples.", "percentile")
	streamEvents     = describe("stream_events_total", "Events of streams. Absent without streams.")
	streamTimes      = describe("step_stream_seconds", "Percentiles of a time of the streams of the most recent step, as in the status: FirstEvent, from when a request was due to its first event; BetweenEvents, each time between two events; LongestGap and MeanGap, the longest and the mean of these of each stream. Absent if it has too few samples.", "time", "percentile")
	sendLateness     = describe("step_send_lateness_p99_seconds", "99th percentile of how late the generator sent requests that it was free to send, in the most recent step. Absent with fewer than 100 samples.")
	throttled        = describe("step_cpu_throttled_ratio", "Share of the workers' time in the most recent step during which CPU limits stopped them.")
	runQueueWait     = describe("step_run_queue_wait_ratio", "Time that threads of the workers waited for a processor in the most recent step, as a share of the workers' time; above 1 if several waited at once.")
)

// The metrics of the requests of such a LoadTest, by name.
var (
	requestSent        = describe("request_sent_total", "Requests sent, by name of the request.", "request")
	requestFailed      = describe("request_failed_total", "Requests that ended without an expected response, by name of the request.", "request")
	requestOutcomes    = describe("request_outcomes_total", "Ended requests by name of the request and outcome. Absent for an outcome that has not occurred.", "request", "outcome")
	requestPercentiles = describe("step_request_response_time_seconds", "Percentiles of the response time by name of the request in the most recent step that has ended, as in the status. Absent if it has too few samples, or if several requests have the name.", "request", "percentile")
)

var leftOut = prometheus.NewDesc("loadtest_metrics_left_out",
	"LoadTests without series, because there are more than --metrics-max-loadtests. Running LoadTests have series first, then waiting ones, then the most recently finished.", nil, nil)

var requestsLeftOut = prometheus.NewDesc("loadtest_metrics_requests_left_out",
	"Requests without series, of LoadTests that have series, because there are more than --metrics-max-requests. Requests that failed have series first, then those of LoadTests that have not finished; of each LoadTest the one of which the most failed comes first.", nil, nil)

var all = []*prometheus.Desc{
	created, started, completed, phase, verdict, limited, workers,
	requestsDue, requestsSent, requestsExpected, requestsLate, requests, responseTime, steps, stepNumber, users, plannedRate,
	goodput, percentiles, streamEvents, streamTimes, sendLateness, throttled, runQueueWait,
	requestSent, requestFailed, requestOutcomes, requestPercentiles, leftOut, requestsLeftOut,
}

// limits are the values of label reason.
var limits = []string{
	v1beta1.ReasonScheduleLag, v1beta1.ReasonNodeBusy, v1beta1.ReasonReadLag, v1beta1.ReasonCPUThrottled,
	v1beta1.ReasonDescriptorsExhausted, v1beta1.ReasonPortsExhausted,
}
