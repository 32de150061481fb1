//go:build e2e

package runs

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// sessionsSpec has sessions of two journeys and of a single request, from three workers. Each request has
// a path of its own, under which the target counts.
const sessionsSpec = `
target: {service: {name: counter}}
parallelism: 3
requests:
  - {name: home, weight: 0, http: {path: /sessions-home}}
  - {name: item, weight: 0, http: {path: /sessions-item}}
  - {name: login, weight: 0, http: {path: /sessions-login}}
  - {name: pay, weight: 0, http: {path: /sessions-pay}}
  - {name: ping, weight: 1, http: {path: /sessions-ping}}
journeys:
  - {name: look, weight: 2, steps: [{request: home}, {request: item, times: 3}]}
  - {name: buy, weight: 1, steps: [{request: login}, {think: {min: 2s, max: 6s}}, {request: pay}]}
steps:
  - {name: even, rate: 20, duration: 20s}
  - {name: drawn, rate: 20, arrivals: Poisson, duration: 10s}
worker: {resources: {requests: {cpu: 100m, memory: 32Mi}}}
thresholds: [{metric: unsentRate, max: 5%}, {metric: downtime, max: 10%}]
`

// sessionsAtARate compares what became of sessions with what the target counted, by request and by journey.
func sessionsAtARate(t *testing.T, s *loadsSuite, c *loadCase) {
	lt := c.lt
	sent, journeys, sessions := summed(t, lt)
	for name, n := range sent {
		s.same(t, "request "+name, c.received("sessions-"+name), n)
	}
	singles := c.received("sessions-ping")
	// A journey is started with its first request, and completed with the answer to its last one.
	look, buy := journeys["look"], journeys["buy"]
	home, login := c.received("sessions-home"), c.received("sessions-login")
	s.same(t, "look started", home, look.Started)
	s.same(t, "buy started", login, buy.Started)
	s.same(t, "sessions started", home+login+singles, sessions.Started)
	s.same(t, "buy completed", c.received("sessions-pay"), buy.Completed)
	item := c.received("sessions-item")
	s.holds(t, item >= 3*look.Completed && item <= 3*look.Completed+2*look.Unfinished, "the target had item %d times; the status says %d of look completed, %d unfinished", item, look.Completed, look.Unfinished)
	s.holds(t, buy.Failed == 0 && look.Failed == 0, "%d of buy and %d of look failed", buy.Failed, look.Failed)
	s.holds(t, buy.Unfinished > 0, "no session was under way at the end of its step, although each of buy takes 2s or more")
	even := lt.Status.Steps[0].Result
	s.holds(t, even.Sessions.Due == 400 && even.Journeys[0].Due == 200 && even.Journeys[1].Due == 100, "of the even step, %+v sessions, and %d and %d of the journeys are due; want 400, 200, 100", even.Sessions, even.Journeys[0].Due, even.Journeys[1].Due)
	for _, step := range lt.Status.Steps {
		t.Logf("step %s: sessions %+v, requests due %d, sent %d, unsent %d, late %d, journeys %+v", step.Name, step.Result.Sessions, step.Result.Due, step.Result.Sent, step.Result.Unsent, step.Result.Late, step.Result.Journeys)
	}
}

// summed are the results of all steps together: what was sent of each request, the journeys and the
// sessions.
func summed(t *testing.T, lt *v1beta1.LoadTest) (sent map[string]int64, journeys map[string]v1beta1.JourneyResult, sessions v1beta1.SessionsResult) {
	t.Helper()
	sent, journeys = map[string]int64{}, map[string]v1beta1.JourneyResult{}
	for _, step := range lt.Status.Steps {
		r := step.Result
		if r == nil || r.Sessions == nil {
			t.Fatalf("step %s has no result of sessions: %+v", step.Name, r)
		}
		if r.Sent+r.Unsent != r.Due || r.Sessions.Due-r.Sessions.Started > r.Unsent {
			t.Errorf("step %s: %d requests due, %d sent, %d unsent; sessions %+v", step.Name, r.Due, r.Sent, r.Unsent, r.Sessions)
		}
		sessions.Due += r.Sessions.Due
		sessions.Started += r.Sessions.Started
		for _, q := range r.Requests {
			sent[q.Name] += q.Sent
		}
		for _, j := range r.Journeys {
			sum := journeys[j.Name]
			sum.Due, sum.Started, sum.Completed = sum.Due+j.Due, sum.Started+j.Started, sum.Completed+j.Completed
			sum.Failed, sum.Unfinished = sum.Failed+j.Failed, sum.Unfinished+j.Unfinished
			journeys[j.Name] = sum
			if j.Started != j.Completed+j.Failed+j.Unfinished || j.Started > j.Due {
				t.Errorf("step %s: %+v does not add up", step.Name, j)
			}
		}
	}
	return sent, journeys, sessions
}
