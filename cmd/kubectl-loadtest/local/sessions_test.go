package local_test

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// Sessions at a rate, from the manifest to the counts of the target.
func TestSessionsAreCarriedOutHere(t *testing.T) {
	s := newTarget(t, path)
	lt := loadTest(t, s.URL, `{target: {url: TARGET},
  requests: [{name: login, http: {path: /login}}, {name: buy, http: {path: /buy}}, {name: ping, weight: 1, http: {path: /ping}}],
  journeys: [{name: purchase, weight: 3, steps: [{request: login}, {think: {min: 0s, max: 1ms}}, {request: buy, times: 2}]}],
  steps: [{name: even, rate: 40, duration: 1s}, {name: long, rate: 40, arrivals: Poisson, duration: 1s}]}`)
	got := carryOut(t, lt, config(t))
	if why := v1beta1.NotCarriedOut(got.Status.Conditions); why != nil {
		t.Fatalf("%s: %s", why.Reason, why.Message)
	}
	// The machine may be too busy to start all, but what it says is what the target had.
	var login, buy, ping, started, journeys int64
	for i := range got.Status.Steps {
		r := got.Status.Steps[i].Result
		login, buy, ping = login+r.Requests[0].Sent, buy+r.Requests[1].Sent, ping+r.Requests[2].Sent
		started, journeys = started+r.Sessions.Started, journeys+r.Journeys[0].Started
	}
	if int(login) != s.seen["/login"] || int(buy) != s.seen["/buy"] || int(ping) != s.seen["/ping"] || journeys != login || started != login+ping || started == 0 {
		t.Errorf("the target had %v; sent are %d logins, %d purchases and %d pings, started %d sessions, %d of the journey", s.seen, login, buy, ping, started, journeys)
	}
	if even := got.Status.Steps[0]; *even.Load.Sessions != 40 || even.Result.Sessions.Due != 40 || even.Result.Journeys[0].Due != 30 {
		t.Errorf("planned %d, due %+v, %d of the journey; want 40, 40, 30", *even.Load.Sessions, even.Result.Sessions, even.Result.Journeys[0].Due)
	}
}
