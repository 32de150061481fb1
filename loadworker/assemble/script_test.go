package assemble

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// scriptedCalls is what calls are that meet an event of a ground-truth server.
type scriptedCalls struct {
	event groundtruth.Event
	// classes are what calls may end in beside success; some end in the first of them,
	// unless the server drains its connections.
	classes []measure.Outcome
	// exact says that the worker has each answer that the server gave: none was on its way
	// when a connection was cut.
	exact bool
}

// Whatever a server does to calls, each has one outcome, and none is a success that the
// server has not answered.
func TestCallsAgreeWithTheGroundTruth(t *testing.T) {
	const from = 250 * time.Millisecond // half of the step
	tests := map[string]scriptedCalls{
		"it stands still":      {event: groundtruth.Event{Kind: groundtruth.Stall, From: from, For: 100 * time.Millisecond}, exact: true},
		"it sends GOAWAY":      {event: groundtruth.Event{Kind: groundtruth.GoAway, From: from, For: time.Hour}, classes: []measure.Outcome{measure.Refused}, exact: true},
		"it resets":            {event: groundtruth.Event{Kind: groundtruth.Resets, From: from, For: time.Hour}, classes: []measure.Outcome{measure.Reset}},
		"it refuses":           {event: groundtruth.Event{Kind: groundtruth.Refuse, From: from, For: time.Hour}, classes: []measure.Outcome{measure.Refused, measure.Reset}},
		"its windows are slow": {event: groundtruth.Event{Kind: groundtruth.SlowReads, From: 0, For: time.Hour}, exact: true},
	}
	for name, tt := range tests {
		for _, protocol := range []groundtruth.Protocol{groundtruth.H2C, groundtruth.HTTP2} {
			t.Run(name+" over "+string(protocol), func(t *testing.T) { tt.agree(t, protocol) })
		}
	}
}

func (x scriptedCalls) agree(t *testing.T, protocol groundtruth.Protocol) {
	a := callsTo(t, "", rated(400), `{}`)
	s := groundTruth(t, a.Target, groundtruth.Config{
		Protocol: protocol, Routes: map[string]groundtruth.Route{"": {Reply: groundtruth.Call(measure.GRPCOK, 2)}}, Script: []groundtruth.Event{x.event},
	})
	p := prepared(t, a, testConfig(), ignore)
	got := run(t, p)
	// On a busy machine all calls may have begun before the event: then others follow.
	for late := time.After(time.Minute); !x.met(got, s.Counters()); {
		select {
		case <-late:
			t.Fatalf("no call met the event: %v, %+v by the server", got.Requests[0].Outcomes, s.Counters())
		default:
		}
		must.Succeed(t, got.Merge(run(t, p)))
	}
	q, truth := got.Requests[0], s.Counters()
	// A client has an answer before the server has counted it.
	await.True(t, "the server has counted its answers", func() bool {
		truth = s.Counters()
		return truth.InFlight == 0 && truth.Answered >= q.Outcomes[measure.Success]
	})
	ended := q.Outcomes[measure.Success]
	for _, class := range x.classes {
		ended += q.Outcomes[class]
	}
	if ended != q.Sent || truth.Requests > q.Sent {
		t.Errorf("%v of %d calls sent, %+v by the server; %v", q.Outcomes, q.Sent, truth, errorsOf(got))
	}
	if n := q.Outcomes[measure.Success]; n == 0 || x.exact && n != truth.Answered {
		t.Errorf("%d calls succeeded, the server answered %d", n, truth.Answered)
	}
}

// met says whether calls met the event. Whether one is on its way when a GOAWAY is sent is
// chance; that others are opened is not.
func (x scriptedCalls) met(m *measure.Measurement, truth groundtruth.Counters) bool {
	switch {
	case x.event.Kind == groundtruth.GoAway:
		return truth.Connections >= 2
	case len(x.classes) > 0:
		return m.Requests[0].Outcomes[x.classes[0]] > 0
	}
	return true
}
