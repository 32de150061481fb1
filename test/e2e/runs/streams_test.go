//go:build e2e

package runs

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
)

// TestStreams compares what became of streams and connections of WebSocket that end in each way with what the target counted, while
// a worker of one of the runs is lost in the middle.
func TestStreams(t *testing.T) {
	t.Parallel()
	runTogether(t, "streams", func(*testing.T) {}, streamCases())
}

// TestStreamsByANewLeader loses the operator that leads as well, and runs beside no other test.
func TestStreamsByANewLeader(t *testing.T) {
	cluster.OnlyFull(t)
	runTogether(t, "streams by a new leader", loseLeader, streamCases())
}

func streamCases() []*loadCase {
	return []*loadCase{
		{name: "HTTP1", spec: streamsSpec, check: streamsEndInEachWay},
		{name: "HTTP2", spec: strings.Replace(streamsSpec, "service: {name: counter}", "service: {name: counter}, protocol: HTTP/2", 1), check: streamsEndInEachWay},
		{name: "WebSocket", spec: webSocketSpec, check: connectionsEndInEachWay},
		{name: "aborted", spec: lateStreamsSpec, aborts: true, check: lateStreamsAbort},
		{name: "without a worker", spec: streamsSpec, lost: "run-1", undecided: true, check: streamsWithoutAWorker},
	}
}

// streamsSpec has streams that end, stall, break off, end early, and are refused, each under a name of its own.
const streamsSpec = `
target: {service: {name: counter}, timeout: 10s}
parallelism: 2
requests:
  - {name: ends, weight: 4, http: {path: "/ends/stream?events=20&first=100ms&every=20ms", stream: {events: SSE, until: "[DONE]"}}}
  - {name: stalls, http: {path: "/stalls/stream?events=5&every=20ms&pause=3&pausefor=5s", stream: {events: SSE, until: "[DONE]", stall: 1s}}}
  - {name: breaks, http: {path: "/breaks/stream?events=20&every=20ms&abort=5", stream: {events: SSE, until: "[DONE]"}}}
  - {name: early, http: {path: "/early/stream?events=5&every=20ms&end=no", stream: {events: SSE, until: "[DONE]"}}}
  - {name: missing, http: {path: /missing/, stream: {events: SSE}}}
steps: [{name: all, rate: 24, duration: 20s}]
worker: {resources: {requests: {cpu: 100m, memory: 32Mi}}}
thresholds:
  - {metric: failureRate, requests: [ends], max: 0%}
  - {metric: failureRate, max: 100%}
  - {metric: p95, time: FirstEvent, requests: [ends], max: 3s}
  - {metric: unsentRate, max: 5%}
  - {metric: downtime, max: 10%}
`

// streamsEndInEachWay has each outcome as often as the target counted its cause, and each event once.
func streamsEndInEachWay(t *testing.T, s *loadsSuite, c *loadCase) {
	ends := requestOf(t, c.lt, "ends")
	for name, outcome := range map[string]func(*v1beta1.Outcomes) int64{
		"ends":   func(o *v1beta1.Outcomes) int64 { return o.Success },
		"stalls": func(o *v1beta1.Outcomes) int64 { return o.Stalled },
		"breaks": func(o *v1beta1.Outcomes) int64 { return o.BrokenOff },
		"early":  func(o *v1beta1.Outcomes) int64 { return o.EndedEarly },
	} {
		r := requestOf(t, c.lt, name)
		s.same(t, "request "+name, c.received(name), r.Sent)
		s.same(t, "outcome of "+name, c.received(name), outcome(&r.Outcomes))
		s.same(t, "events of "+name, c.received(name+"-events"), r.Streams.Events)
	}
	missing := requestOf(t, c.lt, "missing")
	s.holds(t, missing.Sent > 0 && missing.Outcomes.ClientError == missing.Sent && (missing.Streams == nil || missing.Streams.Events == 0), "missing: %+v, want refusals without events", missing)
	s.same(t, "streams that ended", c.received("ends-whole"), ends.Outcomes.Success)
	s.same(t, "streams that did not wait for [DONE]", c.received("early-whole"), requestOf(t, c.lt, "early").Outcomes.EndedEarly)
	for what, times := range map[string]struct {
		got   *v1beta1.EventTimes
		least time.Duration
	}{
		"first event":    {ends.Streams.FirstEvent, 100 * time.Millisecond},
		"between events": {ends.Streams.BetweenEvents, 0},
		"longest gap":    {ends.Streams.LongestGap, 20 * time.Millisecond},
		"mean gap":       {ends.Streams.MeanGap, 19 * time.Millisecond},
	} {
		s.holds(t, times.got != nil && atLeast(times.got.P50, times.least), "%s: %+v, the target took at least %s", what, times.got, times.least)
	}
	t.Logf("streams: %+v, counted %v", ends.Streams, c.counted)
}

// lateStreamsSpec has 400 streams, of which 120 may have a late first event. All have: a step that is not cut goes on for 40 s.
const lateStreamsSpec = `
target: {service: {name: counter}, timeout: 10s}
parallelism: 2
requests: [{name: late, http: {path: "/late/stream?events=2&first=500ms&every=20ms", stream: {events: SSE, until: "[DONE]"}}}]
steps: [{name: all, rate: 10, duration: 40s}]
worker: {resources: {requests: {cpu: 100m, memory: 32Mi}}}
thresholds:
  - {metric: p70, time: FirstEvent, max: 100ms, onBreach: Abort}
  - {metric: unsentRate, max: 5%}
  - {metric: downtime, max: 10%}
`

// lateStreamsAbort: the first events end the step, and what was sent until then is what the target received.
func lateStreamsAbort(t *testing.T, s *loadsSuite, c *loadCase) {
	threshold := &c.lt.Status.Thresholds[0]
	s.holds(t, c.lt.Status.Verdict == v1beta1.VerdictFailed, "the verdict is %s, want Failed", c.lt.Status.Verdict)
	s.holds(t, threshold.AbortTime != nil && strings.HasPrefix(threshold.Message, "p70 of the time to the first event can no longer be less than "), "the threshold did not abort: %+v", threshold)
	late := requestOf(t, c.lt, "late")
	s.same(t, "streams", c.received("late"), late.Sent)
	s.holds(t, late.Sent > 120 && late.Sent < 400, "%d streams were sent, want more than 120 and fewer than 400", late.Sent)
}

// webSocketSpec has connections that end, stall, are closed early, break off, and are refused.
const webSocketSpec = `
target: {service: {name: counter}, timeout: 10s}
parallelism: 2
requests:
  - {name: ends, weight: 4, webSocket: {path: /ends/talk, send: [one, two, three], until: three}}
  - {name: stalls, webSocket: {path: "/stalls/talk?silent=1", send: [one, two], stall: 1s}}
  - {name: closed, webSocket: {path: "/closed/talk?close=2&code=1011", send: [one, two, three]}}
  - {name: breaks, webSocket: {path: "/breaks/talk?abort=1", send: [one, two]}}
  - {name: missing, webSocket: {path: /missing/, send: [one]}}
steps: [{name: all, rate: 24, duration: 20s}]
worker: {resources: {requests: {cpu: 100m, memory: 32Mi}}}
thresholds:
  - {metric: failureRate, requests: [ends], max: 0%}
  - {metric: failureRate, max: 100%}
  - {metric: p95, time: BetweenEvents, requests: [ends], max: 3s}
  - {metric: unsentRate, max: 5%}
  - {metric: downtime, max: 10%}
`

// connectionsEndInEachWay has each outcome as often as the target counted its cause, and each message once.
func connectionsEndInEachWay(t *testing.T, s *loadsSuite, c *loadCase) {
	for name, outcome := range map[string]func(*v1beta1.Outcomes) int64{
		"ends":   func(o *v1beta1.Outcomes) int64 { return o.Success },
		"stalls": func(o *v1beta1.Outcomes) int64 { return o.Stalled },
		"closed": func(o *v1beta1.Outcomes) int64 { return o.EndedEarly },
		"breaks": func(o *v1beta1.Outcomes) int64 { return o.BrokenOff },
	} {
		r := requestOf(t, c.lt, name)
		s.same(t, "connections of "+name, c.received(name), r.Sent)
		s.same(t, "outcome of "+name, c.received(name), outcome(&r.Outcomes))
		s.same(t, "messages to "+name, c.received(name+"-sent"), r.Streams.Events)
	}
	for name, sent := range map[string]int64{"ends": 3, "stalls": 2, "closed": 2, "breaks": 1} {
		s.same(t, "messages from "+name, sent*c.received(name), c.received(name+"-came"))
	}
	missing := requestOf(t, c.lt, "missing")
	s.holds(t, missing.Sent > 0 && missing.Outcomes.ClientError == missing.Sent && (missing.Streams == nil || missing.Streams.Events == 0), "missing: %+v, want refusals without messages", missing)
	t.Logf("messages: %+v, counted %v", requestOf(t, c.lt, "ends").Streams, c.counted)
}

// streamsWithoutAWorker: what the worker that was lost had sent is within what the status says may be missing.
func streamsWithoutAWorker(t *testing.T, s *loadsSuite, c *loadCase) {
	var received int64
	for _, name := range []string{"ends", "stalls", "breaks", "early"} {
		received += c.received(name)
	}
	received += requestOf(t, c.lt, "missing").Sent // the target does not count them
	s.holds(t, c.lt.Status.Verdict == v1beta1.VerdictInconclusive, "the verdict is %s, want Inconclusive", c.lt.Status.Verdict)
	s.isWithinMissing(t, c.lt, received)
}

// requestOf is the result of a request of the only step.
func requestOf(t *testing.T, lt *v1beta1.LoadTest, name string) *v1beta1.RequestResult {
	t.Helper()
	for i := range lt.Status.Steps[0].Result.Requests {
		if r := &lt.Status.Steps[0].Result.Requests[i]; r.Name == name {
			return r
		}
	}
	t.Fatalf("there is no result of %s", name)
	return nil
}

func atLeast(d *metav1.Duration, least time.Duration) bool { return d != nil && d.Duration >= least }
