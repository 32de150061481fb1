package assemble

import (
	"strings"
	"testing"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

// market is an assignment with a journey of two requests.
func market(t *testing.T) *workerv1.Assignment {
	a := workertest.Assignment("http://shop:8080")
	a.Requests = []*workerv1.Request{
		{Name: "login", Method: "POST", Path: "/login?name=${name}"},
		{Name: "buy", Method: "POST", Path: "/buy/${token}"},
	}
	a.Data = []*workerv1.Data{{Name: "accounts", File: file(t, "name\nann\nbob\n")}}
	a.Journeys = []*workerv1.Journey{{Name: "shop", Weight: 1, UserData: "accounts", TimeLimitNanos: 1e9, Steps: []*workerv1.JourneyStep{
		{Request: 0, Times: 1, Capture: map[string]string{"token": ".token"}},
		{Think: &workerv1.Think{ShortestNanos: 1e9, LongestNanos: 2e9}},
		{Request: 1, Times: 2},
	}}}
	a.Steps = []*workerv1.Step{{Share: &workerv1.Share{Stride: 1, Count: 1}, Total: 1, Load: &workerv1.Step_ClosedUsers{ClosedUsers: &workerv1.ClosedUsers{DurationNanos: 1e9}}}}
	return a
}

func TestJourneysOfAnAssignment(t *testing.T) {
	if _, err := New(t.Context(), market(t), testConfig(), ignore); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*workerv1.Assignment){
		`journey "shop": user.data: there is no data "people"`:                        func(a *workerv1.Assignment) { a.Journeys[0].UserData = "people" },
		`journey "shop": steps[1].think: `:                                            func(a *workerv1.Assignment) { a.Journeys[0].Steps[1].Think.LongestNanos = -1 },
		`journey "shop": capture "name": is a column of`:                              func(a *workerv1.Assignment) { a.Journeys[0].Steps[0].Capture["name"] = ".name" },
		`journey "shop": steps[2]: if: tokn is not defined here; did you mean token?`: func(a *workerv1.Assignment) { a.Journeys[0].Steps[2].If = "tokn == ''" },
		`journey "shop": steps[0]: repeat: atMost must be at least 1, is 0`:           func(a *workerv1.Assignment) { a.Journeys[0].Steps[0].Until = "status == 200" },
		`journey "shop": steps[0]: repeat: every must be at least 0s, is -1ns`: func(a *workerv1.Assignment) {
			s := a.Journeys[0].Steps[0]
			s.Until, s.AtMost, s.EveryNanos = "name == 'ann' && status == 200", 1, -1
		},
		`journey "shop": steps[0]: captureFrom.csrf: select: has ','`: func(a *workerv1.Assignment) {
			a.Journeys[0].Steps[0].Captures = []*workerv1.Capture{{Name: "csrf", Select: "a,b", Attribute: "c"}}
		},
		`request "buy": weight: must be 0: ${token} is`: func(a *workerv1.Assignment) { a.Requests[1].Weight = 1 },
		`setup.fill.request: request "buy": ${token} is captured`: func(a *workerv1.Assignment) {
			a.Setup = &workerv1.Setup{Fill: &workerv1.Fill{Request: 1, Share: &workerv1.Share{Stride: 1, Count: 1}}}
		},
		`setup.warmUp.request: request "buy": ${token} is captured`: func(a *workerv1.Assignment) {
			a.Setup = &workerv1.Setup{WarmUp: &workerv1.WarmUp{Request: 1, DurationNanos: 1e9}}
		},
	} {
		a := market(t)
		change(a)
		if got := refusal(t, a, testConfig()); got.Reason != workerv1.ReasonInvalidSpec || !strings.Contains(got.Error(), want) {
			t.Errorf("refused for %s: %v\nwant %s", got.Reason, got, want)
		}
	}
}

// The need counts what hostile responses could have a worker keep.
func TestNeedGrowsWithTheUsersOfJourneys(t *testing.T) {
	with, without, fields := market(t), market(t), market(t)
	without.Journeys, without.Requests = nil, without.Requests[:1]
	more := memoryNeed(with).each - memoryNeed(without).each
	if more < (4096+8192+4096) || more > 24*kib {
		t.Errorf("%d bytes for each user, want those of a captured value, of cookies and of a response's cookies", more)
	}
	follows := market(t)
	follows.Journeys, follows.Requests = nil, []*workerv1.Request{{Name: "r", Method: "GET", Path: "/", FollowRedirects: 1}}
	if more := memoryNeed(follows).each - memoryNeed(without).each; more != 8192 {
		t.Errorf("%d bytes more for each request that follows redirects, want those of header fields", more)
	}
	fields.Journeys[0].Steps[0].Captures = []*workerv1.Capture{{Name: "token", Header: "X-Token"}}
	if more := memoryNeed(fields).each - memoryNeed(with).each; more != 8192 {
		t.Errorf("%d bytes more for each user, want those of header fields", more)
	}
}
