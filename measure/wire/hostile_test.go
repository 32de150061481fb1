package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/HdrHistogram/hdrhistogram-go"
	"google.golang.org/protobuf/proto"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// honest is a measurement of ten requests, four of them rate limited.
func honest(t testing.TB) *workerv1.StepMeasurement {
	t.Helper()
	s := measure.NewMeasurement(1)
	r := &s.Requests[0]
	l := &measure.Ledger{}
	for i := range 10 {
		o := measure.Success
		if i < 4 {
			o = measure.RateLimited
		}
		r.Sent++
		r.Outcomes[o]++
		r.Response.Record(time.Duration(i) * time.Millisecond)
		r.Service.Record(time.Duration(i) * time.Millisecond)
		s.Lateness.Record(time.Duration(i) * time.Microsecond)
		l.Record(0, time.Duration(i), time.Duration(i)+time.Millisecond, o)
	}
	r.Expected, r.CompletedInWindow, r.ExpectedInWindow = 6, 10, 6
	r.Sampled = 3
	for i, o := range []measure.Outcome{measure.Success, measure.RateLimited, measure.RateLimited} {
		r.Traces.Add(measure.Trace{ID: measure.TraceID{byte(i + 1)}, Outcome: o, Expected: o == measure.Success, Status: 200, Response: 2, Service: 1})
	}
	r.Streams = measure.NewStreams()
	r.Streams.Events, r.Streams.InWindow = 20, 19
	r.Streams.Tokened, r.Streams.InputTokens, r.Streams.OutputTokens = 2, 20, 30
	r.Streams.OnTime, r.Streams.IdealOnTime = []int64{5}, []int64{6}
	for i := range measure.StreamTime(measure.NumStreamTimes) {
		r.Streams.Record(i, time.Second, time.Second)
	}
	s.Due = 10
	s.Clients = measure.NewClients(measure.MaxLedgerBytes)
	s.Clients.Add("a", l)
	s.Requests[0].Errors = map[measure.Outcome]string{measure.RateLimited: "429"}
	s.Health.CPU = time.Second
	s.Journeys = measure.NewJourneys(1)
	s.Journeys[0].Due, s.Journeys[0].Started, s.Journeys[0].Failed = 4, 4, 1
	s.Journeys[0].Complete(time.Second, time.Second)
	s.Journeys[0].Complete(time.Minute, time.Minute)
	s.Journeys[0].Unfinished.Record(time.Second)
	m, err := Encode(s)
	must.Succeed(t, err)
	return m
}

// slowTraces are successes.
func slowTraces(n int) *workerv1.Traces {
	m := &workerv1.Traces{
		Ids: make([]byte, 16*n), Outcomes: make([]int32, n), Expected: slices.Repeat([]bool{true}, n),
		StatusCodes: slices.Repeat([]int32{200}, n), ResponseNanos: make([]int64, n), ServiceNanos: make([]int64, n),
	}
	for i := range n {
		m.Ids[16*i] = byte(i + 1)
	}
	return m
}

// repeat gives the first client its only slice n times.
func repeat(m *workerv1.Clients, n int) {
	m.Slices[0] = int32(n)
	for range n - 1 {
		m.Index, m.Granted, m.Denied = append(m.Index, m.Index[0]), append(m.Granted, 0), append(m.Denied, 0)
		m.Unknown, m.FirstSentNanos = append(m.Unknown, 0), append(m.FirstSentNanos, m.FirstSentNanos[0])
		m.LastReceivedNanos = append(m.LastReceivedNanos, m.LastReceivedNanos[0])
	}
}

func TestDecodeRefuses(t *testing.T) {
	type message = workerv1.StepMeasurement
	request := func(m *message) *workerv1.RequestMeasurement { return m.Requests[0] }
	for want, change := range map[string]func(*message){
		"requests: 0, the plan has 1":                               func(m *message) { m.Requests = nil },
		"requests: 2, the plan has 1":                               func(m *message) { m.Requests = append(m.Requests, m.Requests[0]) },
		"due: -1 is less than 0":                                    func(m *message) { m.Due = -1 },
		"due: 281474976710657 is more than 281474976710656":         func(m *message) { m.Due = maxCount + 1 },
		"unsent: -1 is less than 0":                                 func(m *message) { m.Unsent = -1 },
		"due: 9, and 10 sent and 0 unsent":                          func(m *message) { m.Due, request(m).Due = 9, 0 },
		"due: 10, and 10 sent and 1 unsent":                         func(m *message) { m.Unsent = 1 },
		"requests[0].response: 9 times, and 10 requests that ended": func(m *message) { request(m).Response.Counts = counts(key(1, 7), 2) },
		"requests[0].service: 0 times, and 10 requests that ended":  func(m *message) { request(m).Service = nil },
		"requests[0].response: 10 times, and 9 requests that ended": func(m *message) {
			request(m).Outcomes[measure.Success], request(m).Outcomes[measure.Unfinished], request(m).Expected, request(m).ExpectedInWindow, request(m).CompletedInWindow = 5, 1, 5, 5, 5
		},
		"counts: the measurement is of each request":                       func(m *message) { m.Counts = []byte{9} },
		"requests[0].streams.3 times and 4 ideal ones, there are 4":        func(m *message) { request(m).Streams.Times = request(m).Streams.Times[1:] },
		"requests[0].streams.4 times and 3 ideal ones, there are 4":        func(m *message) { request(m).Streams.Ideal = request(m).Streams.Ideal[1:] },
		"handshakes: counts: truncated":                                    func(m *message) { m.Handshakes = &workerv1.Histogram{Counts: []byte{0x80}} },
		"requests[0].late: -1 is less than 0":                              func(m *message) { request(m).Late = -1 },
		"traces: lists of 49 bytes of ids and 3 of another":                func(m *message) { request(m).Traces.Ids = append(request(m).Traces.Ids, 1) },
		"due: 10, and 11 of the requests":                                  func(m *message) { request(m).Due = 11 },
		"requests[0].sent: 10 is more than due, 1":                         func(m *message) { request(m).Due = 1 },
		"requests[0].due: -1 is less than 0":                               func(m *message) { request(m).Due = -1 },
		"requests[0].on_time: 33 times and 33 of overdue":                  func(m *message) { request(m).OnTime, request(m).Overdue = make([]int64, 33), make([]int64, 33) },
		"requests[0].on_time: 1 times and 0 of overdue":                    func(m *message) { request(m).OnTime = []int64{0} },
		"requests[0].on_time: 7 is more than successes, 6":                 func(m *message) { request(m).OnTime, request(m).Overdue = []int64{7}, []int64{0} },
		"requests[0].on_time: 2 is less than 3":                            func(m *message) { request(m).OnTime, request(m).Overdue = []int64{3, 2}, []int64{0, 0} },
		"requests[0].overdue: 1 is more than due, 0":                       func(m *message) { request(m).OnTime, request(m).Overdue = []int64{0}, []int64{1} },
		"requests[0].overdue: -1 is less than 0":                           func(m *message) { request(m).OnTime, request(m).Overdue = []int64{0}, []int64{-1} },
		"requests[0].failed_response: count: more than sent, 4":            func(m *message) { request(m).FailedResponse = request(m).Response },
		"requests[0].failed_service: count: more than sent, 4":             func(m *message) { request(m).FailedService = request(m).Service },
		"connections_opened: -1 is less than 0":                            func(m *message) { m.ConnectionsOpened = -1 },
		"opened_in_window: -1 is less than 0":                              func(m *message) { m.OpenedInWindow = -1 },
		"opened_in_window: 3 is more than connections_opened, 2":           func(m *message) { m.ConnectionsOpened, m.OpenedInWindow = 2, 3 },
		"unsent_by_generator: 3 is more than unsent, 2":                    func(m *message) { m.Unsent, m.UnsentByGenerator = 2, 3 },
		"user_time_nanos: -1 is less than 0":                               func(m *message) { m.UserTimeNanos = -1 },
		"user_time_nanos of 1000000 users: 3 is more than window_nanos, 2": func(m *message) { m.WindowNanos, m.UserTimeNanos = 2, 3_000_000 },
		"waited_nanos: 2 is more than user_time_nanos, 1":                  func(m *message) { m.UserTimeNanos, m.WaitedNanos = 1, 2 },
		"held_up_nanos: 2 is more than user_time_nanos, 1":                 func(m *message) { m.UserTimeNanos, m.HeldUpNanos = 1, 2 },
		"burst_spread_nanos: -1 is less than 0":                            func(m *message) { m.BurstSpreadNanos = -1 },
		"requests[0].displaced: 11 is more than sent, 10":                  func(m *message) { request(m).Displaced = 11 },
		"requests[0].undecided: 1 is more than unfinished, 0":              func(m *message) { request(m).Undecided = 1 },
		"requests[0].excused: 1 is more than timeouts, 0":                  func(m *message) { request(m).Excused = 1 },
		"requests[0].ideal: 9 values, measured are 10":                     func(m *message) { request(m).Ideal = histogramOf(t, 9) },
		"requests[0].ideal: count: more than sent, 10":                     func(m *message) { request(m).Ideal = histogramOf(t, 11) },
		"requests[0].ideal: clamped: 1 is more than count, 0":              func(m *message) { request(m).Ideal = &workerv1.Histogram{Clamped: 1} },
		"requests[0].failed_ideal: count: more than sent, 0":               func(m *message) { request(m).FailedIdeal = histogramOf(t, 1) },
		"ideal_on_time: 1 times, on_time has 0":                            func(m *message) { request(m).IdealOnTime = []int64{0} },
		"ideal_on_time: 1 is less than 2": func(m *message) {
			request(m).OnTime, request(m).Overdue, request(m).IdealOnTime = []int64{2}, []int64{0}, []int64{1}
		},
		"sessions_due: -1": func(m *message) { m.SessionsDue, m.SessionsStarted = -1, -1 },
		"sessions_started: 3 is more than sessions_due, 2":             func(m *message) { m.SessionsDue, m.SessionsStarted = 2, 3 },
		"sessions_started: 11 is more than sent, 10":                   func(m *message) { m.SessionsDue, m.SessionsStarted = 11, 11 },
		"sessions_due less sessions_started: 3 is more than unsent, 2": func(m *message) { m.Unsent, m.SessionsDue, m.SessionsStarted = 2, 4, 1 },
		"ideal_on_time: 2 is less than 3": func(m *message) {
			request(m).OnTime, request(m).Overdue, request(m).IdealOnTime = []int64{1, 1}, []int64{0, 0}, []int64{3, 2}
		},
		"ideal_on_time: 7 is more than successes, 6": func(m *message) {
			request(m).OnTime, request(m).Overdue, request(m).IdealOnTime = []int64{3}, []int64{0}, []int64{7}
		},
		"journeys[0].ideal: 1 values, measured are 2":            func(m *message) { m.Journeys[0].Ideal = histogramOf(t, 1) },
		"journeys[0].excused: 2 is more than failed, 1":          func(m *message) { m.Journeys[0].Excused = 2 },
		"timeline.outstanding: not 200 slots with at most 28147": func(m *message) { m.Timeline = &workerv1.Timeline{Outstanding: []byte{0x80}} },
		"10656 together: counts: a time is longer":               func(m *message) { m.Timeline = &workerv1.Timeline{Outstanding: counts(key(200, 1))} },
		"timeline.unsent: 2 in slot 0, outstanding are 1": func(m *message) {
			m.Timeline = &workerv1.Timeline{Outstanding: counts(key(0, 1)), Unsent: counts(key(0, 2))}
		},
		"timeline.answered: not 200 slots with at most 28147":   func(m *message) { m.Timeline = &workerv1.Timeline{Answered: counts(key(0, 7), maxCount)} },
		"unsent_without_room: -1 is less than 0":                func(m *message) { m.UnsentWithoutRoom = -1 },
		"unsent_without_room: 3 is more than unsent, 2":         func(m *message) { m.Unsent, m.UnsentWithoutRoom = 2, 3 },
		"resumed_handshakes: -1 is less than 0":                 func(m *message) { m.ResumedHandshakes = -1 },
		"resumed_handshakes: 1 is more than handshakes, 0":      func(m *message) { m.ResumedHandshakes = 1 },
		"resumed_handshakes: 11 is more than handshakes, 10":    func(m *message) { m.ConnectionsOpened, m.Handshakes, m.ResumedHandshakes = 10, histogramOf(t, 10), 11 },
		"reused: -1 is less than 0":                             func(m *message) { m.Reused = -1 },
		"start_unix_nanos: -1 is less than 0":                   func(m *message) { m.StartUnixNanos = -1 },
		"window_nanos: -1 is less than 0":                       func(m *message) { m.WindowNanos = -1 },
		"window_nanos: 8784h0m0.000000001s is more than":        func(m *message) { m.WindowNanos = int64(maxSpan) + 1 },
		"clock_error_nanos: -1 is less than 0":                  func(m *message) { m.ClockErrorNanos = -1 },
		"health.stalled_nanos: -1 is less than 0":               func(m *message) { m.Health.StalledNanos = -1 },
		"health.run_queue_wait_nanos: -1 is less than 0":        func(m *message) { m.Health.RunQueueWaitNanos = -1 },
		"health.cpu_throttled_nanos: -1 is less than 0":         func(m *message) { m.Health.CpuThrottledNanos = -1 },
		"health.cpu_nanos: 8784h0m0.000000001s is more than":    func(m *message) { m.Health.CpuNanos = int64(maxSpan) + 1 },
		"health.gc_pause_max_nanos: -1 is less than 0":          func(m *message) { m.Health.GcPauseMaxNanos = -1 },
		"health.descriptors_exhausted: -1 is less than 0":       func(m *message) { m.Health.DescriptorsExhausted = -1 },
		"health.ports_exhausted: 281474976710657 is more than":  func(m *message) { m.Health.PortsExhausted = maxCount + 1 },
		"requests[0].sent: -1 is less than 0":                   func(m *message) { request(m).Sent = -1 },
		"requests[0].sent: 281474976710657 is more than":        func(m *message) { request(m).Sent = maxCount + 1 },
		"requests[0].outcomes: their sum is 10, sent is 11":     func(m *message) { request(m).Sent = 11 },
		"requests[0].outcomes: their sum is 9, sent is 10":      func(m *message) { request(m).Outcomes[0]-- },
		"requests[0].outcomes: 15 classes, there are 16":        func(m *message) { request(m).Outcomes = request(m).Outcomes[1:] },
		"requests[0].outcomes[timeout]: -1 is less than 0":      func(m *message) { request(m).Outcomes[measure.Timeout] = -1 },
		"requests[0].outcomes[other]: 11 is more than sent, 10": func(m *message) { request(m).Outcomes[measure.Other] = 11 },
		"requests[0].status_codes: 99 is not a status code":     func(m *message) { request(m).StatusCodes = map[int32]int64{99: 10} },
		"requests[0].status_codes: 17 is not a status code":     func(m *message) { request(m).StatusCodes = map[int32]int64{17: 10} },
		"requests[0].status_codes: -1 is not a status code":     func(m *message) { request(m).StatusCodes = map[int32]int64{-1: 10} },
		"requests[0].status_codes: 1000 is not a status code":   func(m *message) { request(m).StatusCodes = map[int32]int64{1000: 10} },
		"status_codes[200]: 11 is more than completed, 10":      func(m *message) { request(m).StatusCodes = map[int32]int64{200: 11} },
		"requests[0].status_codes[200]: -1 is less than 1":      func(m *message) { request(m).StatusCodes = map[int32]int64{200: -1} },
		"requests[0].status_codes[503]: 0 is less than 1":       func(m *message) { request(m).StatusCodes = map[int32]int64{200: 10, 503: 0} },
		"requests[0].status_codes: their sum is 12, 10 complet": func(m *message) { request(m).StatusCodes = map[int32]int64{200: 6, 503: 6} },
		"requests[0].status_codes: their sum is 9, 10 complete": func(m *message) { request(m).StatusCodes = map[int32]int64{200: 9} },
		"requests[0].expected: 11 is more than completed, 10":   func(m *message) { request(m).Expected = 11 },
		"expected: 7 is more than success and rateLimited, 6": func(m *message) {
			request(m).Outcomes[measure.RateLimited], request(m).Outcomes[measure.ServerError], request(m).Expected = 0, 4, 7
		},
		"expected_in_window: 3 is more than successes, 2": func(m *message) {
			request(m).Outcomes[measure.Success], request(m).Outcomes[measure.RateLimited], request(m).ExpectedInWindow = 2, 8, 3
		},
		"requests[0].expected: -1 is less than 0":                                                              func(m *message) { request(m).Expected = -1 },
		"requests[0].late: 11 is more than sent, 10":                                                           func(m *message) { request(m).Late = 11 },
		"completed_in_window: 11 is more than completed, 10":                                                   func(m *message) { request(m).CompletedInWindow = 11 },
		"expected_in_window: 7 is more than successes, 6":                                                      func(m *message) { request(m).ExpectedInWindow = 7 },
		"requests[0].response: clamped: 11 is more than count":                                                 func(m *message) { request(m).Response.Clamped = 11 },
		"requests[0].service: clamped: -1 is less than 0":                                                      func(m *message) { request(m).Service.Clamped = -1 },
		"requests[0].response: count: more than sent, 10":                                                      func(m *message) { request(m).Response = histogramOf(t, 11) },
		"requests[0].sampled: 11 is more than sent, 10":                                                        func(m *message) { request(m).Sampled = 11 },
		"requests[0].redirects: 101 is more than 10 for each that was sent, 100":                               func(m *message) { request(m).Redirects = 101 },
		"requests[0].streams.events: -1 is less than 0":                                                        func(m *message) { request(m).Streams.Events = -1 },
		"requests[0].streams.in_window: 21 is more than events, 20":                                            func(m *message) { request(m).Streams.InWindow = 21 },
		"requests[0].streams.on_time[1]: 7 is more than successes, 6":                                          func(m *message) { request(m).Streams.OnTime = []int64{0, 7} },
		"requests[0].streams.on_time: of 1 goals, ideal_on_time of 0":                                          func(m *message) { request(m).Streams.IdealOnTime = nil },
		"requests[0].streams.on_time: 33 goals, a plan has at most 32":                                         func(m *message) { request(m).Streams.OnTime = make([]int64, 33) },
		"requests[0].streams.ideal_on_time[0]: -1 is less than 0":                                              func(m *message) { request(m).Streams.IdealOnTime[0] = -1 },
		"requests[0].streams.tokened: 7 is more than expected_in_window, 6":                                    func(m *message) { request(m).Streams.Tokened = 7 },
		"requests[0].streams.input_tokens: 2147483649 is more than 2^30 for each that was tokened, 2147483648": func(m *message) { request(m).Streams.InputTokens = 2<<30 + 1 },
		"requests[0].streams.output_tokens: -1 is less than 0":                                                 func(m *message) { request(m).Streams.OutputTokens = -1 },
		"requests[0].streams.times[0]: count: more than sent, 10":                                              func(m *message) { request(m).Streams.Times[0].Counts = counts(key(1, 7), 4) },
		"requests[0].streams.times[1]: count: more than sent, 20":                                              func(m *message) { request(m).Streams.Times[1].Counts = counts(key(1, 7), 14) },
		"requests[0].streams.ideal[2]: count: more than sent, 1":                                               func(m *message) { request(m).Streams.Ideal[2] = &workerv1.Histogram{Counts: counts(key(1, 2))} },
		"requests[0].redirects: -1 is less than 0":                                                             func(m *message) { request(m).Redirects = -1 },
		"requests[0].sampled: -1 is less than 0":                                                               func(m *message) { request(m).Sampled = -1 },
		"requests[0].traces: 3 is more than what is kept of them, 2":                                           func(m *message) { request(m).Sampled = 2 },
		"traces: 36 is more than what is kept of them, 35": func(m *message) {
			request(m).Sampled, request(m).Sent = 100, 100
			request(m).Outcomes[0] = 96
			request(m).Traces = slowTraces(36)
		},
		"traces: lists of 47 bytes of ids and 3 of another":                    func(m *message) { request(m).Traces.Ids = request(m).Traces.Ids[1:] },
		"traces: lists of 48 bytes of ids and 4 of another":                    func(m *message) { request(m).Traces.Outcomes = make([]int32, 4) },
		"traces: lists of 48 bytes of ids and 2 of another":                    func(m *message) { request(m).Traces.Expected = make([]bool, 2) },
		"traces: lists of 48 bytes of ids and 0 of another":                    func(m *message) { request(m).Traces.StatusCodes = nil },
		"traces: lists of 48 bytes of ids and 1 of another":                    func(m *message) { request(m).Traces.ResponseNanos = make([]int64, 1) },
		"traces: lists of 48 bytes of ids and 5 of another":                    func(m *message) { request(m).Traces.ServiceNanos = make([]int64, 5) },
		"requests[0].traces[0]: its id is not above the last":                  func(m *message) { request(m).Traces.Ids[0] = 0 },
		"requests[0].traces[2]: its id is not above the last":                  func(m *message) { request(m).Traces.Ids[32] = 2 },
		"requests[0].traces[0]: outcome -1 does not exist":                     func(m *message) { request(m).Traces.Outcomes[0] = -1 },
		"requests[0].traces[1]: outcome 16 does not exist":                     func(m *message) { request(m).Traces.Outcomes[1] = 16 },
		"traces[0]: status code 99 of a request that is success":               func(m *message) { request(m).Traces.StatusCodes[0] = 99 },
		"traces[0]: status code 17 of a request that is success":               func(m *message) { request(m).Traces.StatusCodes[0] = 17 },
		"traces[1]: status code 1000 of a request that is timeout":             func(m *message) { request(m).Traces.StatusCodes[1] = 1000; request(m).Traces.Outcomes[1] = 5 },
		"traces[0]: expected is false of a request that is success":            func(m *message) { request(m).Traces.Expected[0] = false },
		"traces[1]: expected is true of a request that is timeout":             func(m *message) { request(m).Traces.Expected[1] = true; request(m).Traces.Outcomes[1] = 5 },
		"traces[0]: response_nanos: 8784h0m0.000000001s is more":               func(m *message) { request(m).Traces.ResponseNanos[0] = int64(maxSpan) + 1 },
		"traces[0]: service_nanos: 3 is more than response_nanos":              func(m *message) { request(m).Traces.ServiceNanos[0] = 3 },
		"traces[0]: service_nanos: -1 is less than 0":                          func(m *message) { request(m).Traces.ServiceNanos[0] = -1 },
		"traces of outcome timeout: 1 is more than outcomes, 0":                func(m *message) { request(m).Traces.Outcomes[1] = 5 },
		"lateness: count: more than sent, 10":                                  func(m *message) { m.Lateness = histogramOf(t, 11) },
		"read_lateness: count: more than sent, 10":                             func(m *message) { m.ReadLateness = histogramOf(t, 11) },
		"lateness: counts: truncated":                                          func(m *message) { m.Lateness.Counts = []byte{0x80} },
		"lateness: counts: a time is longer than 1h0m0s":                       func(m *message) { m.Lateness.Counts = counts(key(uint64(measure.Slots), 1)) },
		"lateness: counts: an integer is overlong":                             func(m *message) { m.Lateness.Counts = bytes.Repeat([]byte{0xff}, 1<<20) },
		"lateness: clamped: 1 is more than count, 0":                           func(m *message) { m.Lateness = &workerv1.Histogram{Clamped: 1} },
		"journeys: 17, a plan has at most 16":                                  func(m *message) { m.Journeys = slices.Repeat(m.Journeys, 17) },
		"journeys[0].due: 1000000 is more than due of all requests":            func(m *message) { m.Journeys[0].Due = 1000000 },
		"journeys[0].due: -1":                                                  func(m *message) { m.Journeys[0].Due = -1 },
		"journeys[1].due: 7 is more than due of all requests, 6":               func(m *message) { m.Journeys = append(m.Journeys, &workerv1.JourneyMeasurement{Due: 7}) },
		"journeys[0].started: 11 is more than sent, 10":                        func(m *message) { m.Journeys[0].Started = 11 },
		"journeys[2].started: 4 is more than sent, 2":                          func(m *message) { m.Journeys = slices.Repeat(m.Journeys, 3) },
		"journeys[0].completed: 5 is more than started, 4":                     func(m *message) { m.Journeys[0].Completed = 5 },
		"failed: 3 is more than started less completed, 2":                     func(m *message) { m.Journeys[0].Failed = 3 },
		"journeys[0].failed_in[1]: 1 is more than failed less those before, 0": func(m *message) { m.Journeys[0].FailedIn = []int64{m.Journeys[0].Failed, 1} },
		"journeys[0].failed_in[0]: -1 is less than 0":                          func(m *message) { m.Journeys[0].FailedIn = []int64{-1, m.Journeys[0].Failed + 1} },
		"journeys[0].failed_in: 1 less than failed, 1":                         func(m *message) { m.Journeys[0].FailedIn = []int64{0} },
		"journeys[0].failed_in: 33 steps, a journey has at most 32":            func(m *message) { m.Journeys[0].FailedIn = make([]int64, 33) },
		"journeys[0].by_condition: 2 steps, journeys failed in 1": func(m *message) {
			m.Journeys[0].FailedIn, m.Journeys[0].ByCondition = []int64{m.Journeys[0].Failed}, []int64{0, 0}
		},
		"journeys[0].by_condition[0]: 2 is more than failed_in, 1": func(m *message) {
			m.Journeys[0].FailedIn, m.Journeys[0].ByCondition = []int64{m.Journeys[0].Failed}, []int64{2}
		},
		"journeys[0].because: 1 steps, by_condition has 0":          func(m *message) { m.Journeys[0].Because = []string{"a"} },
		"journeys[0].left_out: 33 steps, a journey has at most 32":  func(m *message) { m.Journeys[0].LeftOut = make([]int64, 33) },
		"journeys[0].left_out[1]: 5 is more than started, 4":        func(m *message) { m.Journeys[0].LeftOut = []int64{0, 5} },
		"journeys[0].left_out[0]: -1 is less than 0":                func(m *message) { m.Journeys[0].LeftOut = []int64{-1} },
		"journeys[0].failed: -1 is less than 0":                     func(m *message) { m.Journeys[0].Failed = -1 },
		"journeys[0].time: 2 values, completed are 3":               func(m *message) { m.Journeys[0].Completed, m.Journeys[0].Unfinished = 3, nil },
		"journeys[0].time: count: more than sent, 1":                func(m *message) { m.Journeys[0].Completed = 1 },
		"journeys[0].unfinished: count: more than sent, 1":          func(m *message) { m.Journeys[0].Unfinished = m.Journeys[0].Time },
		"clients: untracked: -1 is less than 0":                     func(m *message) { m.Clients.Untracked = -1 },
		"clients: untracked: 11 is more than sent, 10":              func(m *message) { m.Clients.Untracked = 11 },
		"what was sent and is in no other slice, 9":                 func(m *message) { m.Clients.Untracked, m.Clients.Granted[0] = 1, 10 },
		`clients: the ledger of names[0]: granted: 11 is more than`: func(m *message) { m.Clients.Granted[0] = 11 },
		`clients: the ledger of names[0]: denied: 5 is more than`:   func(m *message) { m.Clients.Denied[0] = 5 },
		`clients: the ledger of names[0]: unknown: -1 is less than`: func(m *message) { m.Clients.Unknown[0] = -1 },
		"first_sent_nanos: -1 is less than 0":                       func(m *message) { m.Clients.FirstSentNanos[0] = -1 },
		"last_received_nanos: 1 is less than 2":                     func(m *message) { m.Clients.FirstSentNanos[0], m.Clients.LastReceivedNanos[0] = 2, 1 },
		"index: 64 is not in 0..63":                                 func(m *message) { m.Clients.Index[0] = 64 },
		"index: -1 is not in 0..63":                                 func(m *message) { m.Clients.Index[0] = -1 },
		"index: 0 is not in 1..63":                                  func(m *message) { repeat(m.Clients, 2) },
		"clients: slices[0]: 2 is not in 0..1":                      func(m *message) { m.Clients.Slices[0] = 2 },
		"clients: slices[0]: 65 is not in 0..64":                    func(m *message) { repeat(m.Clients, 65) },
		"clients: slices[0]: -1 is not in 0..1":                     func(m *message) { m.Clients.Slices[0] = -1 },
		"clients: slices: 1 of them belong to no client":            func(m *message) { m.Clients.Slices[0] = 0 },
		"clients: slices: 0, there are 1 names":                     func(m *message) { m.Clients.Slices = nil },
		"clients: granted: 0, there are 1 slices":                   func(m *message) { m.Clients.Granted = nil },
		"clients: last_received_nanos: 2, there are 1 slices":       func(m *message) { m.Clients.LastReceivedNanos = []int64{1, 2} },
		`clients: names[1]: comes twice`:                            func(m *message) { m.Clients.Names, m.Clients.Slices = []string{"a", "a"}, []int32{1, 0} },
		"clients: names[0]: 257 bytes, more than 256":               func(m *message) { m.Clients.Names[0] = strings.Repeat("x", measure.MaxClientBytes+1) },
		"clients: names: 1, of which 0 are to have a ledger":        func(m *message) { m.Clients.Below = 0 },
		// Clients without a slice have a name to keep, and a ledger.
		"names: 60000, of which": func(m *message) {
			for i := range 60_000 - 1 {
				m.Clients.Names, m.Clients.Slices = append(m.Clients.Names, fmt.Sprint("client ", i)), append(m.Clients.Slices, 0)
			}
		},
		"errors[0]: outcome 0 is not a failure":  func(m *message) { m.Requests[0].Errors[0].Outcome = 0 },
		"errors[0]: outcome 16 is not a failure": func(m *message) { m.Requests[0].Errors[0].Outcome = 16 },
		"errors[0]: outcome -1 is not a failure": func(m *message) { m.Requests[0].Errors[0].Outcome = -1 },
		"errors[1]: rateLimited comes twice":     func(m *message) { m.Requests[0].Errors = append(m.Requests[0].Errors, m.Requests[0].Errors[0]) },
	} {
		t.Run(want, func(t *testing.T) {
			m := honest(t)
			change(m)
			s, err := Decode(m, 1)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("Decode: got %v, %v; want %q", s, err, want)
			}
		})
	}
	if _, err := Decode(honest(t), 1); err != nil {
		t.Errorf("the honest one is refused: %v", err)
	}
	if _, err := Decode(nil, 1); err == nil {
		t.Error("no measurement is accepted")
	}
}

func histogramOf(t testing.TB, n int) *workerv1.Histogram {
	t.Helper()
	h := measure.NewHistogram()
	for range n {
		h.Record(time.Millisecond)
	}
	return (*packing)(nil).fromHistogram(h)
}

// counts are those integers as they travel.
func counts(integers ...uint64) []byte {
	var b []byte
	for _, v := range integers {
		b = binary.AppendUvarint(b, v)
	}
	return b
}

// key is that of a count below 7, or of the first 7 of it.
func key(zeros, n uint64) uint64 { return 8*zeros + n }

func TestReadHistogramRefuses(t *testing.T) {
	const last = uint64(measure.Slots - 1)
	bits65 := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2}
	for name, test := range map[string]struct {
		in   []byte
		want string
	}{
		"no rest":                          {counts(key(1, 7)), "truncated"},
		"no second rest":                   {counts(key(1, 1), key(1, 7)), "truncated"},
		"an unfinished key":                {[]byte{9, 0x81}, "truncated"},
		"an unfinished rest":               {append(counts(key(1, 7)), 0x81), "truncated"},
		"a padded key":                     {[]byte{0x89, 0}, "overlong"},
		"a padded rest":                    {append(counts(key(1, 7)), 0x82, 0), "overlong"},
		"a rest of zero in two bytes":      {append(counts(key(1, 7)), 0x80, 0), "overlong"},
		"a rest of 65 bits":                {append(counts(key(1, 7)), bits65...), "overlong"},
		"a rest without an end":            {append(counts(key(1, 7)), bytes.Repeat([]byte{0x80}, 100)...), "overlong"},
		"a key of 65 bits":                 {append(slices.Clone(bits65), 1), "overlong"},
		"a count of 65 bits":               {counts(key(1, 7), 1<<64-7), "overlong"},
		"a count of zero":                  {counts(key(1, 0)), "a slot is empty"},
		"a count of zero after a long gap": {counts(key(1000, 0)), "a slot is empty"},
		"a count of zero after more zeros": {counts(key(2048, 0)), "a slot is empty"},
		"a time above the limit":           {counts(key(last+1, 1)), "longer than 1h0m0s"},
		"one more than the last":           {counts(key(last, 1), key(0, 1)), "longer than 1h0m0s"},
		"the longest gap":                  {counts(1<<64 - 7), "longer than 1h0m0s"},
		"the longest gap after others":     {counts(key(5, 1), 1<<64-7), "longer than 1h0m0s"},
		"more than sent":                   {counts(key(1, 1), key(0, 7), 3), "count: more than sent, 10"},
		"the largest count":                {counts(key(1, 7), 1<<64-8), "count: more than sent, 10"},
		"a sum that overflows":             {counts(key(1, 5), key(0, 7), 1<<64-12), "count: more than sent, 10"},
	} {
		t.Run(name, func(t *testing.T) {
			h, err := readHistogram(&workerv1.Histogram{Counts: test.in}, 10)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("readHistogram: got %v, %v; want %q", h, err, test.want)
			}
		})
	}
}

func TestReadHistogramAcceptsWhatIsWithinBounds(t *testing.T) {
	const last = uint64(measure.Slots - 1)
	for name, test := range map[string]struct {
		in   []byte
		want int64 // of the last slot
	}{
		"the last slot":     {counts(key(last, 1)), 1},
		"6 of it":           {counts(key(last, 6)), 6},
		"7 of it":           {counts(key(last, 7), 0), 7},
		"8 of it":           {counts(key(last, 7), 1), 8},
		"all that was sent": {counts(key(last, 7), 1<<40-7), 1 << 40},
		"in two slots":      {counts(key(last-1, 7), 1<<40-307, key(0, 7), 293), 300},
		"many zeros":        {counts(key(0, 1), key(last-1, 2)), 2},
		// 2048 empty slots are a key whose second byte is 0x80.
		"a gap of 2048": {counts(key(2048, 1), key(last-2049, 3)), 3},
	} {
		h, err := readHistogram(&workerv1.Histogram{Counts: test.in}, 1<<40)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		dense := make([]int64, measure.Slots)
		h.addTo(dense)
		if dense[last] != test.want {
			t.Errorf("%s: the last slot counts %d, want %d", name, dense[last], test.want)
		}
	}
}

// TestSlotsAreThoseOfTheLibrary has one value for each slot that the bounds have.
func TestSlotsAreThoseOfTheLibrary(t *testing.T) {
	library := hdrhistogram.New(1, int64(measure.Highest/measure.Lowest), measure.SignificantDigits)
	dense := make([]int64, 0, measure.Slots)
	for v := int64(0); v <= library.HighestTrackableValue(); {
		dense = append(dense, int64(len(dense))+1)
		must.Succeed(t, library.RecordValues(v, int64(len(dense))))
		v++
		if v > 2048 {
			v = next(v)
		}
	}
	if int64(len(dense)) != measure.Slots {
		t.Fatalf("slots within the bounds: got %d, want %d", len(dense), measure.Slots)
	}
	same.As(t, "counts", dense, library.Export().Counts[:measure.Slots])
	h, err := readHistogram(&workerv1.Histogram{Counts: encodeCounts(dense)}, 1<<40)
	must.Succeed(t, err)
	got := make([]int64, measure.Slots)
	h.addTo(got)
	same.As(t, "counts that travelled", dense, got)
}

// next is the lowest value from v on that is in a slot of its own: a multiple of
// the power of two that is a 1024th of it.
func next(v int64) int64 {
	width := int64(1)
	for v/width >= 2048 {
		width *= 2
	}
	return (v + width - 1) / width * width
}

func TestDecodeCleansErrors(t *testing.T) {
	m := honest(t)
	m.Requests[0].Errors[0].Message = "bad\n" + strings.Repeat("ß", 300)
	s, err := Decode(m, 1)
	must.Succeed(t, err)
	got := s.Requests[0].Errors[measure.RateLimited]
	if len(got) > measure.MaxErrorBytes || !utf8.ValidString(got) || strings.ContainsFunc(got, unicode.IsControl) || !strings.HasPrefix(got, "badß") {
		t.Errorf("error text: %q", got)
	}
}

// FuzzDecode: whatever comes, Decode returns, and what it accepts adds up.
func FuzzDecode(f *testing.F) {
	seed, err := proto.Marshal(honest(f))
	must.Succeed(f, err)
	f.Add(seed)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		m := &workerv1.StepMeasurement{}
		if proto.Unmarshal(b, m) != nil {
			return
		}
		s, err := Decode(m, 1)
		if err != nil {
			return
		}
		r := &s.Requests[0]
		var sum int64
		for _, n := range r.Outcomes {
			sum += n
		}
		if sum != r.Sent || r.Response.Count() > r.Sent || r.Service.Count() > r.Sent || s.Lateness.Count() > r.Sent || s.Due < 0 {
			t.Errorf("accepted what does not add up: %+v", s)
		}
		if _, err := Encode(s); err != nil {
			t.Errorf("accepted what cannot be sent: %v", err)
		}
	})
}

// FuzzReadHistogram: whatever is accepted is what an honest worker would send,
// byte by byte, and means what the library makes of it.
func FuzzReadHistogram(f *testing.F) {
	f.Add(counts(key(1, 1), key(5, 7), 1<<40), int64(1<<45))
	f.Add(counts(key(300, 7), 300, key(0, 1), key(2, 7), 0), int64(1000))
	f.Add([]byte{0, 1, 2}, int64(10))
	f.Add([]byte{0x80, 0x00, 0x01}, int64(10))
	f.Fuzz(func(t *testing.T, in []byte, sent int64) {
		sent &= maxCount - 1
		h, err := readHistogram(&workerv1.Histogram{Counts: in}, sent)
		if err != nil {
			return
		}
		dense := make([]int64, measure.Slots)
		h.addTo(dense)
		if again := encodeCounts(dense); !bytes.Equal(again, in) {
			t.Errorf("accepted % x, which would be sent as % x", in, again)
		}
		got := measure.HistogramOf(dense, 0)
		stored, err := got.Encode()
		must.Succeed(t, err)
		want, err := measure.DecodeHistogram(stored, 0)
		if err != nil {
			t.Fatalf("accepted what the library refuses: %v", err)
		}
		if got.Count() > sent || got.Count() != want.Count() || got.Max() != want.Max() || got.Min() != want.Min() || got.Mean() != want.Mean() {
			t.Errorf("count %d of %d, max %v, mean %v, the library has %d, %v, %v", got.Count(), sent, got.Max(), got.Mean(), want.Count(), want.Max(), want.Mean())
		}
	})
}
