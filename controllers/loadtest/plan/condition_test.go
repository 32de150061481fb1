package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/testing/protocmp"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/expression"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// polling is the shop whose journey polls after the login, and then buys if that is worth it.
func polling(s *v1beta1.LoadTestSpec) {
	shop(s)
	s.Journeys[0].Steps = []v1beta1.JourneyStep{
		{Request: "login", Capture: map[string]v1beta1.JSONPath{"token": ".token"}},
		{If: "token != ''", Think: v1beta1.NewThink(time.Second, time.Second)},
		{Repeat: &v1beta1.Repeat{
			Request: "login", Capture: map[string]v1beta1.JSONPath{"paid": ".paid"}, CaptureFrom: []v1beta1.Capture{{Name: "etag", Header: "ETag"}},
			Until: "paid == true && status == 200", AtMost: 10, Every: duration(500 * time.Millisecond),
		}},
		{If: "tier == 'gold'", Request: "buy", Times: 2},
	}
}

func TestConditionsAreAssigned(t *testing.T) {
	want := []*workerv1.JourneyStep{
		{Request: 0, Times: 1, Capture: map[string]string{"token": ".token"}},
		{If: "token != ''", Think: &workerv1.Think{ShortestNanos: 1e9, LongestNanos: 1e9}},
		{Request: 0, Times: 1, Capture: map[string]string{"paid": ".paid"}, Captures: []*workerv1.Capture{{Name: "etag", Header: "ETag"}},
			Until: "paid == true && status == 200", AtMost: 10, EveryNanos: 500e6},
		{If: "tier == 'gold'", Request: 1, Times: 2},
	}
	same.As(t, "steps", want, assignments(t, spec(polling))[0].GetJourneys()[0].GetSteps(), protocmp.Transform())
}

// What conditions decide is bounded by the most that they may: each repeat is sent as often as it may, and
// no step is left out.
func TestConditionsCountAsTheMostThatTheyMayDo(t *testing.T) {
	s := spec(polling)
	same.As(t, "requests that a session has at most", 1+10+2, plan.RequestsOfASession(s))
	// 10 requests of each user, which may take 30 s each, with 1 s and 9 times 500 ms before them.
	same.As(t, "time that a burst may take", 10*(30*time.Second+5500*time.Millisecond)+plan.BurstSlack, plan.Steps(s)[0].Load.MaxDuration.Duration)
	s.Journeys[0].Steps[2].Repeat.Every, s.Journeys[0].Steps[2].Repeat.AtMost = duration(time.Hour), 1000
	s.Journeys[0].Steps = slices.Repeat(s.Journeys[0].Steps, 8)
	same.As(t, "time that a burst may take", plan.MaxBurst, plan.Steps(s)[0].Load.MaxDuration.Duration)
}

func TestConditionsThatCannotBeAskedAreRefused(t *testing.T) {
	step := func(i int, edit func(*v1beta1.JourneyStep)) func(*v1beta1.LoadTestSpec) {
		return func(s *v1beta1.LoadTestSpec) { edit(&s.Journeys[0].Steps[i]) }
	}
	when := func(i int, condition string) func(*v1beta1.LoadTestSpec) {
		return step(i, func(s *v1beta1.JourneyStep) { s.If = condition })
	}
	until := func(condition string) func(*v1beta1.LoadTestSpec) {
		return step(2, func(s *v1beta1.JourneyStep) { s.Repeat.Until = condition })
	}
	without := func(edit func(*v1beta1.LoadTestSpec)) func(*v1beta1.LoadTestSpec) {
		return func(s *v1beta1.LoadTestSpec) {
			s.Journeys[0].User, s.Journeys[0].Steps[3].If = nil, ""
			edit(s)
		}
	}
	const first = ".if: must not be set for the first request, nor before it, without keepValues: there is no response yet, and how many journeys are due is counted by it."
	for want, edit := range map[string]func(*v1beta1.LoadTestSpec){
		"":                                  func(*v1beta1.LoadTestSpec) {},
		"spec.journeys[0].steps[0]" + first: when(0, "true"),
		"spec.journeys[0].steps[1].if: is no condition at character 9: ":                                                    when(1, "token =="),
		"spec.journeys[0].steps[1].if: paid is captured by no step of the journey before this one.":                         when(1, "paid"),
		"spec.journeys[0].steps[2].repeat.until: is of type int; a condition must be true or false, such as status == 200.": without(until("status")),
		"spec.journeys[0].steps[2].repeat.until: pai is not defined here; did you mean paid?":                               without(until("pai")),
		"spec.journeys[0].steps[2].repeat.until: tier is not defined here; known are etag, paid, status, token.":            without(until("tier == ''")),
		"spec.journeys[0].steps[2].repeat.until: matches() is not accepted: ":                                               until("etag.matches('(a*)*')"),
		"spec.journeys[0].steps[3].if: uuid is a variable of requests, which conditions do not have.":                       when(3, "uuid == ''"),
		`spec.journeys[0].steps[2].repeat.request: spec.requests has no request named "logout".`:                            step(2, func(s *v1beta1.JourneyStep) { s.Repeat.Request = "logout" }),
		`spec.journeys[0].steps[2].repeat.captureFrom[0].match: error parsing regexp: missing closing ): ` + "`(`.":         step(2, func(s *v1beta1.JourneyStep) { s.Repeat.CaptureFrom[0].Match = "(" }),
		"spec.journeys[0].steps[2].repeat.every: must not be set with ratePerUser, which says when a user's requests are due.": func(s *v1beta1.LoadTestSpec) {
			s.Steps[0] = v1beta1.Step{Users: ptr(int32(5)), RatePerUser: decimal("5"), Duration: duration(time.Second)}
			s.Journeys[0].Steps = slices.Delete(s.Journeys[0].Steps, 1, 2)
			s.Journeys[0].Steps = slices.Insert(s.Journeys[0].Steps, 1, v1beta1.JourneyStep{Request: "login"})
		},
		`spec.journeys[0].steps[2].repeat.capture: setup.fill captures "paid"; use another name.`: func(s *v1beta1.LoadTestSpec) {
			s.Setup = &v1beta1.Setup{Fill: &v1beta1.Fill{Request: "login", Count: 1, Capture: map[string]v1beta1.JSONPath{"paid": ".code"}}}
		},
		"spec.journeys[0].steps[2].repeat.until: code is a column of setup.fill.capture, of which each request takes a row": func(s *v1beta1.LoadTestSpec) {
			s.Setup = &v1beta1.Setup{Fill: &v1beta1.Fill{Request: "login", Count: 1, Capture: map[string]v1beta1.JSONPath{"code": ".code"}}}
			s.Journeys[0].Steps[2].Repeat.Until = "code == 1"
		},
		`spec.journeys[0].steps[2].repeat.captureFrom[0].select: has ':': elements are named by tag`: step(2, func(s *v1beta1.JourneyStep) {
			s.Repeat.CaptureFrom[0] = v1beta1.Capture{Name: "etag", Select: "p:has(a)"}
		}),
		"spec.journeys: 65 conditions, at most 64 are accepted.": func(s *v1beta1.LoadTestSpec) {
			j := s.Journeys[0]
			s.Journeys = nil
			for i := range 21 {
				j.Name = fmt.Sprint(i)
				s.Journeys = append(s.Journeys, j)
			}
			last := s.Journeys[0]
			last.Name, last.Steps = "last", slices.Clone(last.Steps[:2])
			last.Steps = append(last.Steps, v1beta1.JourneyStep{If: "true", Request: "buy"})
			s.Journeys = append(s.Journeys, last)
		},
	} {
		s := spec(polling)
		edit(s)
		if got := refusalOf(loadTest(s), policy.Everything()); (got == "") != (want == "") || !strings.HasPrefix(got, want) {
			t.Errorf("refused: %s\nwant: %s", got, want)
		}
	}
}

// A captured value or a column that is called status has that name, instead of the code.
func TestStatusMayBeAValueOfTheJourney(t *testing.T) {
	s := spec(polling)
	s.Journeys[0].Steps[2].Repeat.Capture["status"], s.Journeys[0].Steps[2].Repeat.Until = ".status", "status == 'done'"
	must.Succeed(t, plan.CheckConditions(s, 0, nil))
	s.Journeys[0].Steps[1].If = "status == 200"
	if err := plan.CheckConditions(s, 0, nil); err == nil || !strings.Contains(err.Error(), "status is captured by no step") {
		t.Error(err)
	}
	s = spec(polling)
	s.Journeys[0].Steps[2].Repeat.Until = "status == 'new'"
	must.Succeed(t, plan.CheckConditions(s, 0, []string{"status", "tier"}))
	must.Succeed(t, plan.CheckConditions(s, 0, nil)) // the columns are not known
	if err := plan.CheckConditions(s, 0, []string{"tier"}); err == nil || !strings.Contains(err.Error(), "(int, string)") {
		t.Error(err)
	}
}

// Users who keep values have them before the first request of a journey. A condition there has a result whatever
// they are: without one, a user would begin journey after journey and send nothing.
func TestConditionsOfKeptValues(t *testing.T) {
	keeping := func(condition string) *v1beta1.LoadTestSpec {
		s := spec(polling)
		s.Journeys[0].KeepValues, s.Journeys[0].Steps[0].If = true, condition
		return s
	}
	for condition, want := range map[string]string{
		"token == null":                             "",
		"etag == null || status == 401":             "",
		"!(status in [200, 201]) && (token != 'a')": "",
		"status >= 400":                             "",
		"token > 3":                                 "steps[0].if: " + expression.MustNotFail,
		"paid":                                      "steps[0].if: " + expression.MustNotFail,
		"token == null || tier == 'gold'":           "steps[0].if: " + expression.MustNotFail,
		"size(token) == 0":                          "steps[0].if: " + expression.MustNotFail,
		"has(token.expires)":                        "steps[0].if: " + expression.MustNotFail,
		"!has(vars.token)":                          "steps[0].if: ",
	} {
		err := plan.CheckConditions(keeping(condition), 0, nil)
		if got := fmt.Sprint(err); (err == nil) != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %v, want %s", condition, err, want)
		}
	}
	s := keeping("token == null")
	for i := range s.Journeys[0].Steps {
		s.Journeys[0].Steps[i].If = "token == null"
	}
	if err := plan.CheckConditions(s, 0, nil); err == nil || !strings.Contains(err.Error(), "at least one request must have no if") {
		t.Error(err)
	}
}
