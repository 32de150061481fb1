package verdict_test

import (
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// What was never sent, or never completed, may be what is slow: thresholds that are about it
// are not known.
func TestWhatNoStepTriedIsNotKnown(t *testing.T) {
	const (
		never    = "Request follow was never sent in step burst: make the step longer, or raise the weight of the request."
		tooShort = "Journey a was completed 0 of 10 times in step burst, and failed 0 times: make the step longer than a journey takes."
	)
	of := func(requests, types []string) v1beta1.Threshold {
		return filtered(atMost("p95", "50ms"), requests, types, nil)
	}
	setupOnly := func(s *v1beta1.LoadTestSpec) { s.Requests[1].Weight = ptr(int32(0)) }
	inJourney := func(s *v1beta1.LoadTestSpec) {
		s.Journeys[0].Steps = []v1beta1.JourneyStep{{Request: "create"}, {Request: "follow"}}
	}
	onlyIf := func(s *v1beta1.LoadTestSpec) {
		inJourney(s)
		s.Journeys[0].Steps[1].If = "false"
	}
	b := journeys(9, time.Second, 0, 1, 0)
	byConditions := func(o *outcome) {
		journeys(0, 0, 7, 3, 0)(o)
		o.merged.Journeys[0].FailByCondition(1, "until never held in 10 tries")
	}
	for name, tc := range map[string]struct {
		threshold v1beta1.Threshold
		journeys  []string
		edit      func(*v1beta1.LoadTestSpec)
		measured  outcome
		state     v1beta1.ThresholdState
		message   string
	}{
		"a request":                            {of(nil, nil), nil, nil, sent(100, 0), inconclusive, never},
		"one that is named":                    {of([]string{"create", "follow"}, nil), nil, nil, sent(100, 0), inconclusive, never},
		"one of the type":                      {of(nil, []string{"Read", "Write"}), nil, nil, sent(100, 0), inconclusive, never},
		"one that is not named":                {of([]string{"create"}, nil), nil, nil, sent(100, 0), passed, "p95 of create is 10.007ms in step burst; at most 50ms is allowed."},
		"one of another type":                  {of(nil, []string{"Write"}), nil, nil, sent(100, 0), passed, "p95 of Write is 10.007ms in step burst; at most 50ms is allowed."},
		"one of the setup":                     {of(nil, nil), nil, setupOnly, sent(100, 0), passed, "p95 is 10.007ms in step burst; at most 50ms is allowed."},
		"a breach is a breach":                 {atMost("p95", "5ms"), nil, nil, sent(100, 0), broken, "p95 is 10.007ms in step burst; at most 5ms is allowed."},
		"an audit is of clients":               {atMost("falseDenials", "0"), nil, nil, sent(100, 0), passed, "falseDenials is 0 in step burst; at most 0 is allowed."},
		"a journey":                            {of(nil, nil), []string{"a", "b"}, nil, sent(100, 100, journeys(0, 0, 0, 10, time.Second), b), inconclusive, tooShort},
		"explains a request":                   {of(nil, nil), []string{"a", "b"}, inJourney, sent(100, 0, journeys(0, 0, 0, 10, time.Second), b), inconclusive, tooShort},
		"a request of another journey":         {of(nil, nil), []string{"a", "b"}, inJourney, sent(100, 0, b, b), inconclusive, never},
		"a journey that is named":              {ofJourneys(atMost("failureRate", "100%"), "a", "b"), []string{"a", "b"}, nil, sent(100, 100, journeys(0, 0, 0, 10, time.Second), b), inconclusive, tooShort},
		"a journey that is not named":          {ofJourneys(atMost("failureRate", "1%"), "b"), []string{"a", "b"}, nil, sent(100, 0, journeys(0, 0, 0, 10, time.Second), b), passed, "failureRate of b is 0% in step burst; at most 1% is allowed."},
		"requests of a type, and not journeys": {of([]string{"create"}, []string{"Write"}), []string{"a", "b"}, nil, sent(100, 0, journeys(0, 0, 0, 10, time.Second), b), passed, "p95 of Write of create is 10.007ms in step burst; at most 50ms is allowed."},
		"requests, and not journeys":           {of([]string{"create"}, nil), []string{"a", "b"}, nil, sent(100, 0, journeys(0, 0, 0, 10, time.Second), b), passed, "p95 of create is 10.007ms in step burst; at most 50ms is allowed."},
		"a journey that was never begun":       {of(nil, nil), []string{"a", "b"}, nil, sent(100, 100, b, journeys(0, 0, 0, 0, 0)), inconclusive, "Journey b never began in step burst: make the step longer, or raise the weight of the journey."},
		"a journey that only failed":           {of(nil, nil), []string{"a"}, nil, sent(100, 100, journeys(0, 0, 7, 3, 0)), inconclusive, "Journey a was completed 0 of 10 times in step burst, and failed 7 times: each ended at a request without an expected response, or at its time limit. The errors of the step say why."},
		"one whose condition never held":       {of(nil, nil), []string{"a", "b"}, onlyIf, sent(100, 0, b, b), passed, "p95 is 10.007ms in step burst; at most 50ms is allowed."},
		"one whose condition is not the only":  {of(nil, nil), []string{"a", "b"}, func(s *v1beta1.LoadTestSpec) { onlyIf(s); s.Journeys[0].Steps[0].Request = "follow" }, sent(100, 0, b, b), inconclusive, never},
		"one that is named, with a condition":  {of([]string{"follow", "create"}, nil), []string{"a", "b"}, onlyIf, sent(100, 0, b, b), inconclusive, "Request follow was never sent in step burst: no condition of a step that sends it held."},
		"a journey that conditions ended":      {of(nil, nil), []string{"a"}, nil, sent(100, 100, byConditions), inconclusive, "Journey a was completed 0 of 10 times in step burst, and failed 7 times: conditions ended 1 of them, such as: until never held in 10 tries."},
		"fewer were measured than planned":     {of(nil, nil), []string{"a", "b"}, nil, sent(100, 100, b), passed, "p95 is 20.015ms in step burst; at most 50ms is allowed."},
	} {
		t.Run(name, func(t *testing.T) {
			s := spec(tc.threshold)
			s.Requests[1].Weight = nil
			for _, j := range tc.journeys {
				s.Journeys = append(s.Journeys, v1beta1.Journey{Name: j})
			}
			if tc.edit != nil {
				tc.edit(s)
			}
			for state, want := range map[v1beta1.StepState]v1beta1.ThresholdState{v1beta1.StepComplete: tc.state, v1beta1.StepCut: ""} {
				step := users(10)
				step.State = state
				got := judge(s, nil, step, tc.measured).Thresholds[0]
				if want != "" && (got.State != want || got.Message != tc.message) {
					t.Errorf("%s: %s\nwant %s: %s", got.State, got.Message, want, tc.message)
				}
				if want == "" && tc.state == inconclusive && got.Message == tc.message {
					t.Errorf("a step that was cut says: %s", got.Message)
				}
			}
		})
	}
}

// A step as long as the advice says, or a weight as large, or a status that is named, takes the
// fault away. Of a mix of 150, a worker that sends ten requests a second reaches request follow
// at the end; a journey takes 15 s, and fails where its requests are redirected.
func TestAdviceForTheSpecThatIsFollowedHelps(t *testing.T) {
	type test struct {
		seconds, weight int64
		redirects       bool // which are not expected
	}
	mix := func(t test) outcome {
		n := 10 * t.seconds
		follow := n * t.weight / 150
		if t.redirects {
			return sent(n-follow, follow, redirected(0))
		}
		return sent(n-follow, follow)
	}
	journey := func(t test) outcome {
		switch {
		case t.redirects:
			return sent(10, 10, journeys(0, 0, 10, 0, 0))
		case t.seconds < 15:
			return sent(10, 10, journeys(0, 0, 0, 10, 0))
		}
		return sent(10, 10, journeys(10, 15*time.Second, 0, 0, 0))
	}
	for name, tc := range map[string]struct {
		metric   v1beta1.Metric
		measure  func(test) outcome
		before   test
		advice   string
		followed test
	}{
		"a longer step":              {"longest", mix, test{10, 1, false}, "make the step longer", test{15, 1, false}},
		"a larger weight":            {"longest", mix, test{10, 1, false}, "or raise the weight of the request", test{10, 2, false}},
		"a step for a whole journey": {"longest", journey, test{10, 1, false}, "make the step longer than a journey takes", test{15, 1, false}},
		"journeys that do not fail":  {"longest", journey, test{60, 1, true}, "each ended at a request without an expected response", test{60, 1, false}},
		"a status that is named":     {"failureRate", mix, test{60, 1, true}, "add that status to expect.status", test{60, 1, false}},
	} {
		t.Run(name, func(t *testing.T) {
			limit := map[v1beta1.Metric]string{"longest": "50ms", "failureRate": "1%"}[tc.metric]
			s, step := spec(atMost(tc.metric, limit)), users(10)
			s.Requests[1].Weight, s.Journeys, step.State = nil, []v1beta1.Journey{{Name: "a"}}, v1beta1.StepComplete
			if got := judge(s, nil, step, tc.measure(tc.before)).Thresholds[0]; got.State == passed || !strings.Contains(got.Message, tc.advice) {
				t.Errorf("%s: %s, want %q", got.State, got.Message, tc.advice)
			}
			if got := judge(s, nil, step, tc.measure(tc.followed)).Thresholds[0]; got.State != passed {
				t.Errorf("followed: %s: %s", got.State, got.Message)
			}
		})
	}
}
