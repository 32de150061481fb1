package assemble

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

// A call that is answered by frames that are an error has the one outcome that is theirs,
// and is not sent again.
func TestCallsThatAreAnsweredByErrors(t *testing.T) {
	for _, frame := range groundtruth.Frames() {
		for _, protocol := range []groundtruth.Protocol{groundtruth.H2C, groundtruth.HTTP2} {
			t.Run(frame.Name+" over "+string(protocol), func(t *testing.T) { callsMeetFrame(t, protocol, frame) })
		}
	}
}

func callsMeetFrame(t *testing.T, protocol groundtruth.Protocol, frame groundtruth.Frame) {
	const users, each = 3, 4
	a := callsTo(t, "", workertest.Burst(0, users, each), `{}`)
	if frame.Name == "data-after-reset" { // a next call would be in flight on the connection that ends
		a.Steps[0] = workertest.Burst(0, users*each, 1)
	}
	s := groundTruth(t, a.Target, groundtruth.Config{Protocol: protocol, Routes: map[string]groundtruth.Route{"": {Reply: groundtruth.Reply{Frame: frame.Name}}}})
	got := run(t, prepared(t, a, testConfig(), ignore))
	truth := counters(t, s)
	q, want := got.Requests[0], scripted.OutcomeOf(frame)
	if q.Sent != users*each || q.Outcomes[want] != q.Sent || truth.Requests != q.Sent || truth.Answered != q.Sent || len(q.StatusCodes) != 0 {
		t.Errorf("%d calls sent, %v, want %v; %+v by the server; %v", q.Sent, q.Outcomes, want, truth, errorsOf(got))
	}
}
