package plan_test

import (
	"testing"
	"time"

	"google.golang.org/protobuf/testing/protocmp"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// shop is a spec with a journey.
func shop(s *v1beta1.LoadTestSpec) {
	s.Requests = []v1beta1.Request{{Name: "login"}, {Name: "buy", Weight: ptr(int32(3))}, {Name: "health"}}
	s.Data = []v1beta1.Data{{Name: "accounts", From: v1beta1.Content{ConfigMap: &v1beta1.KeyReference{Name: "rows", Key: "a.csv"}}, Format: v1beta1.DataFormatCSV}}
	s.Journeys = []v1beta1.Journey{{Name: "shop", User: &v1beta1.JourneyUser{Data: "accounts"}, TimeLimit: duration(30 * time.Second), Steps: []v1beta1.JourneyStep{
		{Request: "login", Capture: map[string]v1beta1.JSONPath{"token": ".token"}}, {Think: v1beta1.NewThink(time.Second, 3*time.Second)}, {Request: "buy", Times: 2},
	}}}
	s.Steps = []v1beta1.Step{{Name: "2 users x 10", Users: ptr(int32(2)), RequestsPerUser: ptr(int32(10))}}
}

func TestJourneysAreAssigned(t *testing.T) {
	a := assignments(t, spec(with(shop, captureFrom(v1beta1.Capture{Name: "csrf", Cookie: "c", Match: "(a)"}))))[0]
	want := []*workerv1.Journey{{
		Name: "shop", Weight: 1, UserData: "accounts", TimeLimitNanos: 30e9, Steps: []*workerv1.JourneyStep{
			{Request: 0, Times: 1, Capture: map[string]string{"token": ".token"}, Captures: []*workerv1.Capture{{Name: "csrf", Cookie: "c", Match: "(a)"}}},
			{Think: &workerv1.Think{ShortestNanos: 1e9, LongestNanos: 3e9}}, {Request: 1, Times: 2},
		},
	}}
	same.As(t, "journeys", want, a.GetJourneys(), protocmp.Transform())
	// What a journey sends is in the mix only by a weight of its own.
	var weights []int32
	for _, r := range a.GetRequests() {
		weights = append(weights, r.GetWeight())
	}
	same.As(t, "weights", []int32{0, 3, 1}, weights)
}

// captureFrom has the first step capture a value.
func captureFrom(c v1beta1.Capture) func(*v1beta1.LoadTestSpec) {
	return func(s *v1beta1.LoadTestSpec) { s.Journeys[0].Steps[0].CaptureFrom = []v1beta1.Capture{c} }
}

// Each request of a user may take its timeout, and the waits of a journey before it.
func TestABurstHasTimeForTheWaitsOfItsJourneys(t *testing.T) {
	same.As(t, "time that a burst may take", 10*(30+3)*time.Second+plan.BurstSlack, plan.Steps(spec(shop))[0].Load.MaxDuration.Duration)
	long := spec(shop)
	long.Journeys[0].Steps[1].Think, long.Steps[0].RequestsPerUser = v1beta1.NewThink(time.Hour, time.Hour), ptr(int32(1_000_000))
	same.As(t, "time that a burst may take", plan.MaxBurst, plan.Steps(long)[0].Load.MaxDuration.Duration)
}

func TestJourneysThatCannotBeCarriedOutAreRefused(t *testing.T) {
	paced := v1beta1.Step{Users: ptr(int32(5)), RatePerUser: decimal("5"), Duration: duration(time.Second)}
	for want, edit := range map[string]func(*v1beta1.LoadTestSpec){
		"spec.journeys[0].steps[0].captureFrom[0].name: capture has \"token\" too; leave out one of them.":                                             captureFrom(v1beta1.Capture{Name: "token", Header: "A"}),
		"spec.journeys[0].steps[0].captureFrom[0].match: error parsing regexp: missing closing ): `(`.":                                                captureFrom(v1beta1.Capture{Name: "a", Match: "("}),
		"spec.journeys[0].steps[0].captureFrom[0].match: error parsing regexp: invalid repeat count: `{1001}`.":                                        captureFrom(v1beta1.Capture{Name: "a", Match: "(a{1001})"}),
		`spec.journeys[0].steps[0].captureFrom[0].match: must have a group, whose match is the value, such as value="([^"]+)".`:                        captureFrom(v1beta1.Capture{Name: "a", Match: "(?:a)"}),
		"spec.journeys[0].steps[0].captureFrom[0].match: has 301 parts with its repetitions, at most 300 are accepted; use * or + for a large number.": captureFrom(v1beta1.Capture{Name: "a", Match: "(.{300})"}),
		"spec.journeys[0].steps[0].captureFrom[0].header: is not the name of a header, such as X-CSRF-Token.":                                          captureFrom(v1beta1.Capture{Name: "a", Header: "X Token"}),
		"spec.journeys[0].steps[0].captureFrom: must not be set with a call of gRPC, whose replies are JSON; use capture.": func(s *v1beta1.LoadTestSpec) {
			captureFrom(v1beta1.Capture{Name: "a", Header: "A"})(s)
			s.Target.Protocol, s.Requests[0].GRPC = v1beta1.ProtocolHTTP2, &v1beta1.Call{Method: "a.B/C"}
		},
		`spec.journeys[0].steps[0].captureFrom[0].name: setup.fill captures "code"; use another name.`: func(s *v1beta1.LoadTestSpec) {
			captureFrom(v1beta1.Capture{Name: "code", Cookie: "A"})(s)
			s.Setup = &v1beta1.Setup{Fill: &v1beta1.Fill{Request: "login", Count: 1, Capture: map[string]v1beta1.JSONPath{"code": ".code"}}}
		},
		"": func(s *v1beta1.LoadTestSpec) {
			s.Requests[0].Weight, s.Requests[1].Weight, s.Requests[2].Weight = ptr(int32(0)), ptr(int32(0)), ptr(int32(0))
		},
		"spec.journeys[0].steps[1].think: must not be set with ratePerUser, which says when a user's requests are due.": func(s *v1beta1.LoadTestSpec) { s.Steps[0] = paced },
		"spec.worker.driver: Vegeta does not carry out spec.journeys; use driver Auto.": func(s *v1beta1.LoadTestSpec) {
			s.Steps = []v1beta1.Step{{Rate: decimal("5"), Duration: duration(time.Second)}}
			s.Worker = &v1beta1.Worker{Driver: v1beta1.DriverVegeta}
		},
		"spec.journeys[0].keepValues: must not be set with a rate, whose sessions are users who come once; set users in place of the rate.": func(s *v1beta1.LoadTestSpec) {
			s.Steps, s.Journeys[0].KeepValues = append(s.Steps, v1beta1.Step{Name: "at a rate", Rate: decimal("5"), Duration: duration(time.Second)}), true
		},
		"spec.journeys[1].keepValues: must be the same as of journey shop, since the same users carry out both.": func(s *v1beta1.LoadTestSpec) {
			s.Journeys = append(s.Journeys, s.Journeys[0])
			s.Journeys[1].Name, s.Journeys[1].KeepValues = "other", true
		},
		`spec.journeys[0].steps[2].request: spec.requests has no request named "buy".`: func(s *v1beta1.LoadTestSpec) { s.Requests[1].Name = "sell" },
		`spec.journeys[0].user.data: spec.data has no table named "accounts".`:         func(s *v1beta1.LoadTestSpec) { s.Data = nil },
		`spec.journeys[0].steps[1].think: 3s to 1s is no range: it must have two times from 0s to 1h, of which max is from 1ms and not below min.`: func(s *v1beta1.LoadTestSpec) {
			s.Journeys[0].Steps[1].Think = v1beta1.NewThink(3*time.Second, time.Second)
		},
	} {
		s := spec(shop)
		edit(s)
		same.As(t, "refusal", want, refusalOf(loadTest(s), policy.Everything()))
	}
}

// A rate that is searched for is refused with journeys, and a rate of users with think times.
func TestRatesOfJourneysAreRefusedFromEachPlace(t *testing.T) {
	const (
		rate  = "spec.journeys: must not be set with spec.search.rate, which searches for a rate of requests; set search.users, or steps with a rate."
		think = "spec.journeys[0].steps[1].think: must not be set with ratePerUser, which says when a user's requests are due."
	)
	perUser := usersSearch(1, 2)
	perUser.RatePerUser = decimal("2")
	kept := func(load func(*v1beta1.LoadTestSpec)) func(*v1beta1.LoadTestSpec) {
		return func(s *v1beta1.LoadTestSpec) {
			load(s)
			s.Journeys[0].KeepValues = true
		}
	}
	for name, tt := range map[string]struct {
		load func(*v1beta1.LoadTestSpec)
		want string
	}{
		"kept values on a ladder of users": {kept(usersLadder(nil, 1)), ""},
		"kept values in a search of users": {kept(search(usersSearch(1, 2))), ""},
		"kept values on a ladder of rates": {kept(ratesLadder(v1beta1.NewDecimal("1"))),
			"spec.journeys[0].keepValues: must not be set with a rate, whose sessions are users who come once; set users in place of the rate."},
		"a ladder of users":          {usersLadder(nil, 1), ""},
		"a ladder of rates":          {ratesLadder(v1beta1.NewDecimal("1")), ""},
		"a ladder of users and rate": {usersLadder(decimal("2"), 1), think},
		"a search of users":          {search(usersSearch(1, 2)), ""},
		"a search of a rate":         {search(rateSearch("1", "2")), rate},
		"a search of users and rate": {search(perUser), think},
	} {
		t.Run(name, func(t *testing.T) {
			same.As(t, "refusal", tt.want, refusalOf(loadTest(spec(with(shop, stepsOf(), tt.load))), policy.Everything()))
		})
	}
}
