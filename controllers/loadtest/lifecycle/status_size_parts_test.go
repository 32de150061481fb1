package lifecycle_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/targetstate"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

const (
	longTime  = 59*time.Minute + 59*time.Second + 999999*time.Microsecond
	manyItems = int64(1_234_567_890)
)

// Room is left for each part of a status at its largest, and not for much more.
func TestRoomCountsEachPartOfTheStatus(t *testing.T) {
	long := metav1.Duration{Duration: longTime}
	onTime := []v1beta1.Threshold{{Metric: "onTimeRate"}}
	ended := journeyAtItsLargest(strings.Repeat("j", 63), long)
	ended.FailedIn = nil
	stored := v1beta1.Audit{Name: strings.Repeat("a", 63), Stored: &v1beta1.Stored{Value: ".n", Requests: []string{"append"}}}
	figures := &v1beta1.BaselineStatus{Name: "before", Steps: []v1beta1.BaselineStep{{Name: strings.Repeat("s", 63)}}}
	for name, tc := range map[string]struct {
		steps, types int
		thresholds   []v1beta1.Threshold
		add          func(*v1beta1.LoadTest)
		least        int
	}{
		"what a baseline measured": {1, 1, nil, func(lt *v1beta1.LoadTest) { lt.Status.Baseline = figures }, jsonSize(t, figures)},
		"where targets lead to": {1, 1, nil, func(lt *v1beta1.LoadTest) {
			s := &lt.Status.Internal
			s.Access, s.ControlAccess, s.OtherAccess = leadsTo(1), leadsTo(2), []v1beta1.TargetAccess{*leadsTo(3)}
		}, jsonSize(t, leadsTo(1)) + jsonSize(t, leadsTo(2)) + jsonSize(t, leadsTo(3))},
		"the target of a step": {1, 1, nil,
			func(lt *v1beta1.LoadTest) { lt.Status.Environment = &v1beta1.EnvironmentStatus{} },
			targetstate.MaxSize + targetstate.MaxStepSize},
		"the target of many steps": {9, 1, nil,
			func(lt *v1beta1.LoadTest) { lt.Status.Environment = &v1beta1.EnvironmentStatus{} },
			targetstate.MaxSize + 9*targetstate.MaxStepSize},
		"what the target used": {9, 1, nil,
			func(lt *v1beta1.LoadTest) { lt.Status.Environment = &v1beta1.EnvironmentStatus{Usage: true} },
			targetstate.MaxSize + 9*(targetstate.MaxStepSize+targetstate.MaxUsageSize)},
		"the names of queries": {0, 1, nil,
			func(lt *v1beta1.LoadTest) { lt.Status.Internal.Queries = []string{strings.Repeat("q", 63)} },
			jsonSize(t, strings.Repeat("q", 63))},
		"answers to queries": {9, 1, nil, func(lt *v1beta1.LoadTest) {
			lt.Status.Internal.Queries = []string{strings.Repeat("q", 63), strings.Repeat("r", 63)}
		},
			9 * jsonSize(t, []v1beta1.QueryResult{{Name: strings.Repeat("q", 63), Problem: strings.Repeat("x", 256)}, {Name: strings.Repeat("r", 63), Problem: strings.Repeat("x", 256)}})},
		"requests on time, of all and of each of two types": {4, 2, onTime, func(lt *v1beta1.LoadTest) {
			lt.Spec.Thresholds = []v1beta1.Threshold{{Metric: "onTimeRate", Within: &long}}
		}, 4 * 3 * jsonSize(t, map[string]any{"onTime": []v1beta1.OnTimeCount{{Within: long, Requests: manyItems}}})},
		"a type that a threshold names": {
			4, 2, []v1beta1.Threshold{{Metric: "p95"}},
			func(lt *v1beta1.LoadTest) { lt.Spec.Thresholds[0].Types = []string{"type1", "gone"} },
			4 * (jsonSize(t, v1beta1.PartResult{Undecided: manyItems, Excused: manyItems, WithoutGenerator: &v1beta1.Latency{
				Samples: manyItems, Min: &long, Mean: &long, P50: &long, P75: &long, P90: &long, P95: &long, P99: &long, P999: &long, P9999: &long, Longest: &long,
			}}) - jsonSize(t, v1beta1.PartResult{})),
		},
		"streams, of all and of one of two types": {4, 2, nil, func(lt *v1beta1.LoadTest) {
			lt.Spec.Requests[0].HTTP.Stream = &v1beta1.Stream{Events: v1beta1.StreamSSE}
		},
			4*2*(jsonSize(t, map[string]any{"streams": streamsAtTheirLargest(long)})+jsonSize(t, v1beta1.Outcomes{BrokenOff: manyItems, Stalled: manyItems, EndedEarly: manyItems})) + jsonSize(t, v1beta1.HTTPRequest{Stream: &v1beta1.Stream{Events: v1beta1.StreamSSE}})},
		"journeys, and the sessions that carry them out": {4, 1, nil, func(lt *v1beta1.LoadTest) {
			for _, name := range []string{strings.Repeat("j", 63), "other"} {
				lt.Spec.Journeys = append(lt.Spec.Journeys, v1beta1.Journey{Name: name, Steps: slices.Repeat([]v1beta1.JourneyStep{{Request: strings.Repeat("r", 63)}}, 32)})
			}
		},
			4 * jsonSize(t, map[string]any{"sessions": v1beta1.SessionsResult{Due: manyItems, Started: manyItems}, "journeys": []v1beta1.JourneyResult{
				journeyAtItsLargest(strings.Repeat("j", 63), long), journeyAtItsLargest("other", long),
			}})},
		"what conditions did": {4, 1, nil, func(lt *v1beta1.LoadTest) {
			step := v1beta1.JourneyStep{If: "true", Repeat: &v1beta1.Repeat{Request: strings.Repeat("r", 63), Until: "true", AtMost: 1}}
			lt.Spec.Journeys = append(lt.Spec.Journeys, v1beta1.Journey{Name: "a", Steps: slices.Repeat([]v1beta1.JourneyStep{step}, 32)})
		},
			4 * jsonSize(t, map[string]any{"sessions": v1beta1.SessionsResult{Due: manyItems, Started: manyItems}, "journeys": []v1beta1.JourneyResult{conditionsAtTheirLargest("a", long)}})},
		"a journey without requests": {4, 1, nil,
			func(lt *v1beta1.LoadTest) { lt.Spec.Journeys = []v1beta1.Journey{{Name: strings.Repeat("j", 63)}} },
			4 * jsonSize(t, map[string]any{"sessions": v1beta1.SessionsResult{Due: manyItems, Started: manyItems}, "journeys": []v1beta1.JourneyResult{ended}})},
		"a threshold in repetitions": {4, 1, onTime, func(lt *v1beta1.LoadTest) {
			lt.Spec.Thresholds = []v1beta1.Threshold{{Metric: "onTimeRate", InRepetitions: ptr.To(int32(2))}}
		},
			4 * jsonSize(t, v1beta1.RepeatedThreshold{
				Threshold: 31, State: v1beta1.ThresholdInconclusive, Observed: strings.Repeat("1", 32), WithoutGenerator: strings.Repeat("1", 32), Reason: strings.Repeat("x", 32),
			})},
		"an audit": {1, 1, nil, func(lt *v1beta1.LoadTest) { lt.Spec.Audits = []v1beta1.Audit{stored} },
			jsonSize(t, v1beta1.AuditStatus{
				Name: stored.Name, State: v1beta1.AuditInconclusive, StableFor: long, MaxWait: long, Message: strings.Repeat("x", 512),
				Before: ptr.To(manyItems), After: ptr.To(manyItems), Change: ptr.To(manyItems), Acknowledged: manyItems, Unknown: ptr.To(manyItems),
			})},
	} {
		t.Run(name, func(t *testing.T) {
			lt := crowded(tc.steps, tc.types, 0)
			lt.Spec.Thresholds = tc.thresholds
			steps := plan.Steps(&lt.Spec)
			before := lifecycle.Room(lt, steps)
			tc.add(lt)
			if got := before - lifecycle.Room(lt, steps); got < tc.least || got > 2*tc.least {
				t.Errorf("room for %d bytes is left, want at least %d and at most twice that", got, tc.least)
			}
		})
	}
}

// A step of users with a rate and journeys has each default threshold.
func TestRoomCountsEachDefaultThreshold(t *testing.T) {
	lt := crowded(1, 1, 0)
	perUser := v1beta1.NewDecimal("1")
	lt.Spec.Journeys = []v1beta1.Journey{{Name: "a"}}
	step := v1beta1.StepStatus{Load: v1beta1.StepLoad{Users: 1, RatePerUser: &perUser}}
	if got := len(verdict.Thresholds(&lt.Spec, plan.RequestNames(&lt.Spec), []v1beta1.StepStatus{step})); got != lifecycle.MaxDefaults {
		t.Errorf("%d default thresholds, and room for %d", got, lifecycle.MaxDefaults)
	}
}

func journeyAtItsLargest(name string, long metav1.Duration) v1beta1.JourneyResult {
	return v1beta1.JourneyResult{
		Name: name, Due: manyItems, Started: manyItems, Completed: manyItems, Failed: manyItems, Unfinished: manyItems,
		FailedIn: slices.Repeat([]v1beta1.JourneyFailures{{Step: 32, Request: strings.Repeat("r", 63), Failed: manyItems}}, 32),
		Time:     &v1beta1.Latency{Samples: manyItems, Min: &long, Mean: &long, P50: &long, P75: &long, P90: &long, P95: &long, P99: &long, P999: &long, P9999: &long, Longest: &long},
	}
}

func conditionsAtTheirLargest(name string, long metav1.Duration) v1beta1.JourneyResult {
	j := journeyAtItsLargest(name, long)
	for i := range j.FailedIn {
		j.FailedIn[i].ByCondition, j.FailedIn[i].Because = manyItems, strings.Repeat("b", 512)
	}
	j.LeftOut = slices.Repeat([]v1beta1.JourneyLeftOut{{Step: 32, Request: strings.Repeat("r", 63), Times: manyItems}}, 32)
	return j
}

func jsonSize(t *testing.T, v any) int {
	t.Helper()
	raw, err := json.Marshal(v)
	must.Succeed(t, err)
	return len(raw)
}

// padded leaves that much room: annotations take the rest.
func padded(lt *v1beta1.LoadTest, left int) *v1beta1.LoadTest {
	annotate := func(n int) { lt.Annotations = map[string]string{"a": strings.Repeat("x", n)} }
	annotate(1)
	annotate(1 + lifecycle.Room(lt, plan.Steps(&lt.Spec)) - left)
	return lt
}

// A run whose target is read needs room for what is read; one that is refused for it says
// so in figures.
func TestRunWithoutRoomForItsEnvironmentIsRefused(t *testing.T) {
	lt := padded(crowded(2, 2, 0), 0)
	if refused(lt) {
		t.Error("a run that just fits is refused, though its target is not read")
	}
	want := "False InvalidSpec: spec: the results of load steps x types of request (2 x 2) take up to 54 KiB, and the spec and the metadata 1163 KiB; a LoadTest can hold 1200 KiB: "
	if got := said(lifecycle.Decide(lt, asked(t), lifecycle.Observed{LooksAtTargets: true}, began).Status, v1beta1.ConditionAccepted); !strings.HasPrefix(got, want) {
		t.Errorf("Accepted is %s, want %s", got, want)
	}
}

// A baseline that just fits beside the results is copied.
func TestBaselineThatFitsExactly(t *testing.T) {
	before := earlier(v1beta1.VerdictPassed)
	before.UID = "u"
	lt := &v1beta1.LoadTest{Spec: against()}
	copied := decide(lt, lifecycle.Observed{Baseline: before}, 0).Status.Baseline
	needs := jsonSize(t, copied)
	if got := decide(padded(lt, needs), lifecycle.Observed{Baseline: before}, 0).Status; got.Verdict != "" || got.Baseline == nil {
		t.Errorf("a baseline that fits exactly: verdict %q, %s", got.Verdict, said(got, v1beta1.ConditionAccepted))
	}
	before.Name = strings.Repeat("n", 9<<10)
	want := "False BaselineRefused: spec.baseline: its figures take 9 KiB, but the LoadTest has 3 KiB left; use fewer steps or repetitions."
	same.As(t, "Accepted", want, said(decide(padded(lt, 3<<10+5), lifecycle.Observed{Baseline: before}, 0).Status, v1beta1.ConditionAccepted))
}

func streamsAtTheirLargest(long metav1.Duration) v1beta1.StreamsResult {
	times := &v1beta1.EventTimes{Samples: manyItems, Mean: &long, P50: &long, P95: &long, P99: &long, Longest: &long}
	return v1beta1.StreamsResult{Events: manyItems, EventsPerSecond: "1234567890.1", Tokens: &v1beta1.TokensResult{Streams: manyItems, Input: manyItems, Output: manyItems, OutputPerSecond: "1234567890.1"}, FirstEvent: times, BetweenEvents: times, LongestGap: times, MeanGap: times}
}
