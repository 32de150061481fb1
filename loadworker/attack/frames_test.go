package attack

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

// A request that the target answers by frames that are an error has the outcome that is
// theirs. It is not sent again, and those after it are answered, over another connection if
// need be.
func TestFramesThatAreErrors(t *testing.T) {
	for _, frame := range groundtruth.Frames() {
		if frame.Scope == groundtruth.NoError && frame.Name != "reset-cancel" && frame.Name != "reset-refused-stream" {
			continue // of each outcome one is enough for each driver
		}
		t.Run(frame.Name, func(t *testing.T) {
			for _, d := range testDrivers() {
				if d.http2() {
					t.Run("users, "+d.name(), func(t *testing.T) { d.meetFrame(t, frame, false) })
					t.Run("arrivals, "+d.name(), func(t *testing.T) { d.meetFrame(t, frame, true) })
				}
			}
		})
	}
}

// meetFrame sends requests of which the target answers half by a frame: of users, who have a
// connection each, or arrivals, which share one.
func (d testDriver) meetFrame(t *testing.T, frame groundtruth.Frame, shared bool) {
	const users, each = 4, 6
	s, err := groundtruth.Start(groundtruth.Config{
		Protocol: groundtruth.H2C, Record: users * each,
		Routes: map[string]groundtruth.Route{"wrong": {Reply: groundtruth.Reply{Frame: frame.Name}}},
	})
	must.Succeed(t, err)
	t.Cleanup(s.Close)
	r := d.runner(t, setup{url: s.URL(), requests: []source.Request{get("/wrong/${seq}"), get("/${seq}")}})
	var got *measure.Measurement
	if shared {
		got = sendAll(t, r, 2000e6, users*each)
	} else {
		got = drive(t, r, usersStep(users, Burst{Requests: each, Limit: await.Patience}))
	}
	wrong, right := got.Requests[0], got.Requests[1]
	truth := s.Counters()
	await.True(t, "the server has no request in flight", func() bool {
		truth = s.Counters()
		return truth.InFlight == 0
	})
	sent := map[int64]bool{}
	for _, record := range s.Records() {
		sent[record.Number] = true
	}
	// What else is in flight on a connection ends with it, or is not on its way yet.
	beside := frame.Scope == groundtruth.OfConnection && (shared || frame.Name == "data-after-reset")
	if truth.Requests > users*each || int64(len(sent)) != truth.Requests || !beside && truth.Answered < users*each {
		t.Errorf("of %d requests, the server has %d numbers, and %+v", users*each, len(sent), truth)
	}
	for outcome, q := range map[measure.Outcome]measure.Request{scripted.OutcomeOf(frame): wrong, measure.Success: right} {
		n := q.Outcomes[outcome]
		if beside && outcome != measure.BadResponse {
			n += q.Outcomes[measure.BadResponse]
		}
		if n != q.Sent || q.Sent == 0 {
			t.Errorf("%d sent, %v; %v", q.Sent, outcomes(q), errorsOf(got))
		}
	}
	if ends := frame.Scope == groundtruth.OfConnection; !shared && ends != (truth.Connections > users) {
		t.Errorf("%d connections of %d users", truth.Connections, users)
	}
}
