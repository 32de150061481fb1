package verdict_test

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
)

// What was never sent, or never completed, may be what is slow: thresholds that are about it
// are not known.
func TestWhatNoStepTriedIsNotKnown(t *testing.T) {
	const (
		never    = "Request follow was never sent in step burst: make the step longer, or its weight larger."
		tooShort = "Of journey a, 0 of 10 were completed in step burst, and 0 failed: a step must be longer than a journey takes."
	)
	of := func(requests, types []string) v1alpha1.Threshold {
		return filtered(atMost("p95", "50ms"), requests, types, nil)
	}
	setupOnly := func(s *v1alpha1.LoadTestSpec) { s.Requests[1].Weight = ptr(int32(0)) }
	inJourney := func(s *v1alpha1.LoadTestSpec) {
		s.Journeys[0].Steps = []v1alpha1.JourneyStep{{Request: "create"}, {Request: "follow"}}
	}
	b := journeys(9, time.Second, 0, 1, 0)
	for name, tc := range map[string]struct {
		threshold v1alpha1.Threshold
		journeys  []string
		edit      func(*v1alpha1.LoadTestSpec)
		measured  outcome
		state     v1alpha1.ThresholdState
		message   string
	}{
		"a request":                        {of(nil, nil), nil, nil, sent(100, 0), inconclusive, never},
		"one that is named":                {of([]string{"create", "follow"}, nil), nil, nil, sent(100, 0), inconclusive, never},
		"one of the type":                  {of(nil, []string{"Read", "Write"}), nil, nil, sent(100, 0), inconclusive, never},
		"one that is not named":            {of([]string{"create"}, nil), nil, nil, sent(100, 0), passed, "p95 of create is 10.007ms in step burst; at most 50ms is allowed."},
		"one of another type":              {of(nil, []string{"Write"}), nil, nil, sent(100, 0), passed, "p95 of Write is 10.007ms in step burst; at most 50ms is allowed."},
		"one of the setup":                 {of(nil, nil), nil, setupOnly, sent(100, 0), passed, "p95 is 10.007ms in step burst; at most 50ms is allowed."},
		"a breach is a breach":             {atMost("p95", "5ms"), nil, nil, sent(100, 0), broken, "p95 is 10.007ms in step burst; at most 5ms is allowed."},
		"an audit is of clients":           {atMost("falseDenials", "0"), nil, nil, sent(100, 0), passed, "falseDenials is 0 in step burst; at most 0 is allowed."},
		"a journey":                        {of(nil, nil), []string{"a", "b"}, nil, sent(100, 100, journeys(0, 0, 0, 10, time.Second), b), inconclusive, tooShort},
		"explains a request":               {of(nil, nil), []string{"a", "b"}, inJourney, sent(100, 0, journeys(0, 0, 0, 10, time.Second), b), inconclusive, tooShort},
		"a request of another journey":     {of(nil, nil), []string{"a", "b"}, inJourney, sent(100, 0, b, b), inconclusive, never},
		"a journey that is named":          {ofJourneys(atMost("failureRate", "100%"), "a", "b"), []string{"a", "b"}, nil, sent(100, 100, journeys(0, 0, 0, 10, time.Second), b), inconclusive, tooShort},
		"a journey that is not named":      {ofJourneys(atMost("failureRate", "1%"), "b"), []string{"a", "b"}, nil, sent(100, 0, journeys(0, 0, 0, 10, time.Second), b), passed, "failureRate of b is 0% in step burst; at most 1% is allowed."},
		"requests, and not journeys":       {of([]string{"create"}, nil), []string{"a", "b"}, nil, sent(100, 0, journeys(0, 0, 0, 10, time.Second), b), passed, "p95 of create is 10.007ms in step burst; at most 50ms is allowed."},
		"a journey that was never begun":   {of(nil, nil), []string{"a", "b"}, nil, sent(100, 100, b, journeys(0, 0, 0, 0, 0)), inconclusive, "Journey b was never begun in step burst: make the step longer, or the weight of the journey larger."},
		"a journey that only failed":       {of(nil, nil), []string{"a"}, nil, sent(100, 100, journeys(0, 0, 7, 3, 0)), inconclusive, "Of journey a, 0 of 10 were completed in step burst, and 7 failed: a step must be longer than a journey takes."},
		"fewer were measured than planned": {of(nil, nil), []string{"a", "b"}, nil, sent(100, 100, b), passed, "p95 is 20.015ms in step burst; at most 50ms is allowed."},
	} {
		t.Run(name, func(t *testing.T) {
			s := spec(tc.threshold)
			s.Requests[1].Weight = nil
			for _, j := range tc.journeys {
				s.Journeys = append(s.Journeys, v1alpha1.Journey{Name: j})
			}
			if tc.edit != nil {
				tc.edit(s)
			}
			for state, want := range map[v1alpha1.StepState]v1alpha1.ThresholdState{v1alpha1.StepComplete: tc.state, v1alpha1.StepCut: ""} {
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
