package verdict_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// journeys are so many of a journey that were completed in a time, that failed, and that
// the end of the step ended after another time.
func journeys(completed int64, took time.Duration, failed, left int64, after time.Duration) func(*outcome) {
	return func(o *outcome) {
		j := measure.NewJourneys(1)[0]
		j.Started, j.Completed, j.Failed = completed+failed+left, completed, failed
		j.Due = j.Started
		j.Time.RecordN(took, completed)
		j.Unfinished.RecordN(after, left)
		o.merged.Journeys = append(o.merged.Journeys, j)
	}
}

// byLateGenerator are journeys of which so many failed only because the generator was late, and
// which would have taken that long with a perfect one.
func byLateGenerator(excused int64, ideal time.Duration, of func(*outcome)) func(*outcome) {
	return func(o *outcome) {
		of(o)
		j := &o.merged.Journeys[len(o.merged.Journeys)-1]
		j.Excused, j.Ideal = excused, measure.NewHistogram()
		j.Ideal.RecordN(ideal, j.Completed)
	}
}

// unbegun are journeys of which so many more were due.
func unbegun(n int64, of func(*outcome)) func(*outcome) {
	return func(o *outcome) {
		of(o)
		j := &o.merged.Journeys[len(o.merged.Journeys)-1]
		j.Due = j.Started + n
	}
}

// shopping is a spec with the journeys a and b.
func shopping(thresholds ...v1beta1.Threshold) *v1beta1.LoadTestSpec {
	s := spec(thresholds...)
	s.Journeys = []v1beta1.Journey{{Name: "a"}, {Name: "b"}}
	return s
}

func ofJourneys(t v1beta1.Threshold, names ...string) v1beta1.Threshold {
	t.Journeys = names
	return t
}

func TestThresholdsOfJourneys(t *testing.T) {
	other := journeys(0, 0, 0, 0, 0)
	for name, tc := range map[string]struct {
		threshold v1beta1.Threshold
		measured  []func(*outcome)
		state     v1beta1.ThresholdState
		observed  string
		message   string // as that of oneStep
	}{
		"time kept":     {ofJourneys(atMost("p95", "2s"), "a"), []func(*outcome){journeys(100, time.Second, 5, 0, 0), other}, passed, "1.000447s", ""},
		"time breached": {ofJourneys(atMost("p95", "2s"), "b"), []func(*outcome){other, journeys(100, 3*time.Second, 0, 0, 0)}, broken, "3.000319s", ""},
		"time of both": {
			ofJourneys(atMost("longest", "2s"), "a", "b"), []func(*outcome){journeys(100, time.Second, 0, 0, 0), journeys(1, 3*time.Second, 0, 0, 0)}, broken, "3.000319s", "",
		},
		"the end of the step ended some, no later than the others take": {
			ofJourneys(atMost("p95", "2s"), "a"), []func(*outcome){journeys(100, time.Second, 0, 50, time.Second/2), other}, passed, "1.000447s", "",
		},
		"journeys that hang do not make the others look like all": {
			ofJourneys(atMost("p95", "2s"), "a"), []func(*outcome){journeys(100, time.Second, 0, 10, 20*time.Second), other}, inconclusive, "1.000447s",
			"p95 of a in step burst leaves out 10 journeys that the end of the step cut: how long these would have taken is not known.",
		},
		"journeys that may yet take longer than the others": {
			ofJourneys(atMost("p95", "2s"), "a"), []func(*outcome){journeys(100, time.Second, 0, 10, 1500*ms), other}, inconclusive, "1.000447s",
			"p95 of a in step burst leaves out 10 journeys that the end of the step cut: how long these would have taken is not known.",
		},
		"as few as the percentile leaves out may": {
			ofJourneys(atMost("p95", "2s"), "a"), []func(*outcome){journeys(100, time.Second, 0, 5, 1500*ms), other}, passed, "1.000447s", "",
		},
		"as many as the percentile leaves out never began": {
			ofJourneys(atMost("p95", "2s"), "a"), []func(*outcome){unbegun(5, journeys(95, time.Second, 0, 0, 0)), other}, passed, "1.000447s", "",
		},
		"more than that never began": {
			ofJourneys(atMost("p95", "2s"), "a"), []func(*outcome){unbegun(6, journeys(95, time.Second, 0, 0, 0)), other}, inconclusive, "1.000447s",
			"p95 of a in step burst leaves out 0 journeys that the end of the step cut, and 6 that were due and never began.",
		},
		"too few": {ofJourneys(atMost("p95", "2s"), "a"), []func(*outcome){journeys(19, time.Second, 0, 0, 0), other}, inconclusive, "",
			"p95 of a in step burst has 19 samples; at least 20 are needed."},
		"as many as are needed": {ofJourneys(atMost("p95", "2s"), "a"), []func(*outcome){journeys(20, time.Second, 0, 0, 0), other}, passed, "1.000447s", ""},
		"more journeys were measured than the spec has": {
			ofJourneys(atMost("failureRate", "1%"), "b"), []func(*outcome){other, journeys(100, time.Second, 0, 0, 0), journeys(0, 0, 100, 0, 0)}, passed, "0%", "",
		},
		"none": {ofJourneys(atMost("failureRate", "1%"), "a"), []func(*outcome){other, journeys(100, time.Second, 0, 0, 0)}, inconclusive, "",
			"failureRate of a in step burst cannot be judged: no journey began."},
		"none has ended": {ofJourneys(atMost("failureRate", "1%"), "a"), []func(*outcome){journeys(0, 0, 0, 7, time.Second), other}, inconclusive, "",
			"failureRate of a in step burst cannot be judged: none of the 7 journeys has ended."},
		"failures kept":     {ofJourneys(atMost("failureRate", "1%"), "a"), []func(*outcome){journeys(99, time.Second, 1, 50, time.Second), other}, passed, "1%", ""},
		"failures breached": {ofJourneys(atMost("failureRate", "1%"), "a"), []func(*outcome){journeys(98, time.Second, 2, 50, time.Second), other}, broken, "2%", ""},
		"failures of a late generator": {
			ofJourneys(atMost("failureRate", "1%"), "a"), []func(*outcome){byLateGenerator(2, time.Second, journeys(98, time.Second, 2, 0, 0)), other}, inconclusive, "2%",
			"failureRate of a is between 0% and 2% in step burst; at most 1% is allowed. Without the generator's own delay it is 0%.",
		},
		"failures of the target beside failures of a late generator": {
			ofJourneys(atMost("failureRate", "1%"), "a"), []func(*outcome){byLateGenerator(2, time.Second, journeys(96, time.Second, 4, 0, 0)), other}, broken, "4%",
			"failureRate of a is 4% in step burst (2% without the generator's own delay); at most 1% is allowed.",
		},
		"time of a late generator": {
			ofJourneys(atMost("p95", "2s"), "a"), []func(*outcome){byLateGenerator(0, time.Second, journeys(100, 3*time.Second, 0, 0, 0)), other}, inconclusive, "3.000319s",
			"p95 of a is between 1.000447s and 3.000319s in step burst; at most 2s is allowed. Without the generator's own delay it is 1.000447s.",
		},
		"time beyond by less than journeys were late": {
			ofJourneys(atMost("p95", "2s"), "a"), []func(*outcome){byLateGenerator(0, 2010*ms, journeys(100, 3*time.Second, 0, 0, 0)), other, late(20 * ms)}, inconclusive, "3.000319s",
			"p95 of a is 2.010111s without the generator's own delay in step burst; at most 2s is allowed. Requests that were sent up to 20ms late reached the target together with others, and may have waited for them. In step burst requests were sent up to 20ms after a steady generator would have sent them; give each worker more CPU, or run it on a less busy node.",
		},
		"more under way than can be counted": {
			ofJourneys(atMost("p95", "2s"), "a"), []func(*outcome){journeys(100, time.Second, 0, math.MaxInt64-50, 0), other}, inconclusive, "1.000447s",
			"p95 of a in step burst leaves out 9223372036854775757 journeys that the end of the step cut: how long these would have taken is not known.",
		},
		"times that cannot be added up": {
			ofJourneys(atMost("p95", "2s"), "a", "b"), []func(*outcome){journeys(math.MaxInt64, time.Second, 0, 0, 0), journeys(1, time.Second, 0, 0, 0)}, inconclusive, "",
			"p95 of a, b in step burst cannot be judged: merge histograms: 9223372036854775807 and 1 values are more than can be counted.",
		},
		"time beside that of a late generator": {
			ofJourneys(atMost("p95", "2s"), "a"), []func(*outcome){byLateGenerator(0, 2500*ms, journeys(100, 3*time.Second, 0, 0, 0)), other}, broken, "3.000319s",
			"p95 of a is 3.000319s in step burst (2.500607s without the generator's own delay); at most 2s is allowed.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := judge(shopping(tc.threshold), nil, burst, sent(100, 900, tc.measured...)).Thresholds[0]
			want := oneStep{threshold: tc.threshold, observed: tc.observed, message: tc.message}.said()
			if got.State != tc.state || got.Observed != tc.observed || got.Message != want {
				t.Errorf("%s, %q: %s\nwant %s, %q: %s", got.State, got.Observed, got.Message, tc.state, tc.observed, want)
			}
		})
	}
}

func TestJourneysThatFailBreachByDefault(t *testing.T) {
	mine := ofJourneys(atMost("failureRate", "50%"), "a")
	for name, tc := range map[string]struct {
		thresholds []v1beta1.Threshold
		measured   []func(*outcome)
		want       map[string]v1beta1.ThresholdState
	}{
		"all well":                   {nil, []func(*outcome){journeys(100, time.Second, 1, 0, 0), journeys(1, time.Second, 0, 3, 0)}, map[string]v1beta1.ThresholdState{"failureRate": passed, "journeyFailureRate": passed}},
		"none of either has ended":   {nil, []func(*outcome){journeys(0, 0, 0, 3, 0), journeys(0, 0, 0, 3, 0)}, map[string]v1beta1.ThresholdState{"failureRate": inconclusive, "journeyFailureRate": v1beta1.ThresholdPending}},
		"fewer were measured":        {nil, []func(*outcome){journeys(98, time.Second, 2, 0, 0)}, map[string]v1beta1.ThresholdState{"failureRate": passed, "journeyFailureRate": broken}},
		"too many":                   {nil, []func(*outcome){journeys(98, time.Second, 2, 0, 0), journeys(1, time.Second, 0, 3, 0)}, map[string]v1beta1.ThresholdState{"failureRate": passed, "journeyFailureRate": broken}},
		"one, which fails":           {nil, []func(*outcome){journeys(0, 0, 1, 0, 0), journeys(0, 0, 0, 3, 0)}, map[string]v1beta1.ThresholdState{"failureRate": inconclusive, "journeyFailureRate": broken}},
		"by a late generator":        {nil, []func(*outcome){byLateGenerator(2, time.Second, journeys(98, time.Second, 2, 0, 0)), journeys(1, time.Second, 0, 3, 0)}, map[string]v1beta1.ThresholdState{"failureRate": passed, "journeyFailureRate": inconclusive}},
		"one is allowed to":          {[]v1beta1.Threshold{mine}, []func(*outcome){journeys(60, time.Second, 40, 0, 0), journeys(100, time.Second, 0, 0, 0)}, map[string]v1beta1.ThresholdState{"mine": passed, "failureRate": passed, "journeyFailureRate": passed}},
		"and the other is not":       {[]v1beta1.Threshold{mine}, []func(*outcome){journeys(60, time.Second, 40, 0, 0), journeys(98, time.Second, 2, 0, 0)}, map[string]v1beta1.ThresholdState{"mine": passed, "failureRate": passed, "journeyFailureRate": broken}},
		"a minimum":                  {[]v1beta1.Threshold{ofJourneys(atLeast("failureRate", "0%"), "a")}, []func(*outcome){journeys(60, time.Second, 40, 0, 0), journeys(1, time.Second, 0, 0, 0)}, map[string]v1beta1.ThresholdState{"mine": passed, "failureRate": passed, "journeyFailureRate": broken}},
		"of the requests, not these": {[]v1beta1.Threshold{filtered(atMost("failureRate", "50%"), []string{"create"}, nil, nil)}, []func(*outcome){journeys(0, 0, 100, 0, 0), journeys(0, 0, 0, 0, 0)}, map[string]v1beta1.ThresholdState{"mine": passed, "failureRate": passed, "journeyFailureRate": broken}},
	} {
		t.Run(name, func(t *testing.T) {
			for i := range tc.thresholds {
				tc.thresholds[i].Name = "mine"
			}
			s := shopping(tc.thresholds...)
			got := map[string]v1beta1.ThresholdState{}
			for _, threshold := range judged(accepted(s, users(10)), s, sent(100, 900, tc.measured...)).Thresholds {
				if threshold.Metric == v1beta1.MetricDowntime {
					continue
				}
				got[threshold.Name] = threshold.State
				if threshold.Name == "failureRate" && len(s.Thresholds) > 0 && len(s.Thresholds[0].Journeys) > 0 && !strings.HasPrefix(threshold.Message, "failureRate is ") {
					t.Errorf("a threshold of journeys leaves requests out: %s", threshold.Message)
				}
			}
			same.As(t, "states", tc.want, got)
		})
	}
}

// Of sessions that the generator did not start, each might have sent all of its requests: what lowers a
// rate by less than that is the generator's doing, perhaps.
func TestARateOfSessionsMayLackAllTheirRequests(t *testing.T) {
	for name, tc := range map[string]struct {
		least string
		want  v1beta1.ThresholdState
	}{"by less": {"10.3", v1beta1.ThresholdInconclusive}, "by more": {"10.5", v1beta1.ThresholdFailed}} {
		t.Run(name, func(t *testing.T) {
			threshold := atLeast("goodput", tc.least)
			s := spec(threshold)
			s.Journeys = []v1beta1.Journey{{Name: "visit", Steps: []v1beta1.JourneyStep{{Request: s.Requests[0].Name, Times: 4}}}}
			step := paced(10)
			step.Load = v1beta1.StepLoad{Rate: step.Load.RatePerUser, Sessions: ptr(int64(1000)), Duration: step.Load.Duration}
			o := sent(50, 50, func(o *outcome) { // 1 of 1000 sessions was not started
				o.merged.Unsent, o.merged.UnsentByGenerator, o.merged.Sessions = 1, 1, measure.Sessions{Due: 1000, Started: 999}
				o.merged.Due++
				o.merged.Journeys = measure.NewJourneys(1)
				o.merged.Journeys[0].Started, o.merged.Journeys[0].Completed = 25, 25
			})
			if got := judge(s, nil, step, o).Thresholds[0]; got.State != tc.want {
				t.Errorf("%s: %s; want %s", got.State, got.Message, tc.want)
			}
		})
	}
}
