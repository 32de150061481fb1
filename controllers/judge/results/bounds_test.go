package results_test

import (
	"strings"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

var oneUserPaced = loading("1", v1beta1.StepLoad{Users: 1, RatePerUser: decimal("1"), Duration: d(time.Second), Requests: 1})

// of1s is the generator of three workers in a step of a second.
func of1s(t *testing.T, step *v1beta1.StepStatus, edit func(*measure.Measurement)) *v1beta1.GeneratorStatus {
	t.Helper()
	m := measure.NewMeasurement(4)
	m.Window, m.Due = time.Second, 1000
	edit(m)
	return stepResult(t, fleetOf(3), step, m).Generator
}

// The least that there can be of it is in the status, and nothing else.
func TestGeneratorTellsTheLeastOfEach(t *testing.T) {
	nothing := of1s(t, paced, func(*measure.Measurement) {})
	same.As(t, "a generator of which nothing was measured", &v1beta1.GeneratorStatus{Healthy: true, CPUThrottled: "0%"}, nothing)
	some := of1s(t, paced, func(m *measure.Measurement) {
		m.Health = measure.Health{CPU: 1, RunQueueWait: 1, Stalled: 1, GCPauseMax: 1}
		m.UserTime, m.HeldUp, m.BurstSpread = 10_000, 2, 1
		m.Lateness.Record(0)
	})
	if some.CPUTime == nil || some.RunQueueWait == "" || some.Stalled == nil || some.GCPauseMax == nil || some.BurstSpread == nil || some.HeldUp != "0.02%" || some.SendLatenessMax == nil {
		t.Errorf("the least of each is %+v", some)
	}
	if got := of1s(t, paced, func(m *measure.Measurement) { m.UserTime, m.HeldUp = 10_000, 1 }).HeldUp; got != "" {
		t.Errorf("users were held up for %s of their time, which does not show", got)
	}
}

// One of each is as much a reason as many.
func TestLeastReasonsAgainstAGenerator(t *testing.T) {
	arrivals := loading("1000/s", v1beta1.StepLoad{Rate: decimal("1000"), Duration: d(time.Second), Requests: 1000})
	sessions := loading("10/s", v1beta1.StepLoad{Rate: decimal("10"), Duration: d(time.Second), Sessions: ptr.To(int64(1000))})
	// Of sessions that send ten requests each, so many were not started.
	without := func(n, byGenerator int64) func(*measure.Measurement) {
		return func(m *measure.Measurement) {
			m.Due, m.Unsent, m.UnsentByGenerator, m.Sessions = 10_000, n, byGenerator, measure.Sessions{Due: 1000, Started: 1000 - n}
		}
	}
	for name, tc := range map[string]struct {
		step   *v1beta1.StepStatus
		edit   func(*measure.Measurement)
		reason string
		says   string
	}{
		"a descriptor": {paced, func(m *measure.Measurement) { m.Health.DescriptorsExhausted = 1 }, v1beta1.ReasonDescriptorsExhausted, "(1 times in all)"},
		"a port":       {paced, func(m *measure.Measurement) { m.Health.PortsExhausted = 1 }, v1beta1.ReasonPortsExhausted, "(1 times in all)"},
		"the only request": {
			paced, func(m *measure.Measurement) { m.Due, m.Unsent, m.UnsentByGenerator = 1, 1, 1 }, v1beta1.ReasonScheduleLag, "100% of the due requests were not sent",
		},
		"no room for one": {
			arrivals, func(m *measure.Measurement) { m.Unsent, m.UnsentWithoutRoom = 101, 1 }, v1beta1.ReasonScheduleLag, "for which connections had room",
		},
		"a part of the sessions":           {sessions, without(11, 11), v1beta1.ReasonScheduleLag, "1.1% of the due sessions were not started, although a steady generator would have sent them; use 4 workers"},
		"a smaller part of the sessions":   {sessions, without(10, 10), v1beta1.ReasonScheduleLag, "started only 99% of the due sessions; use 4 workers"},
		"so few sessions that none matter": {sessions, without(5, 5), "", ""},
		"half of one user's":               {oneUserPaced, func(m *measure.Measurement) { m.Unsent = 500 }, "", ""},
		"a spread of what is no burst":     {paced, func(m *measure.Measurement) { m.BurstSpread = time.Second }, "", ""},
		"late on a busy node": {
			arrivals, func(m *measure.Measurement) {
				m.Window, m.Health.RunQueueWaitMax = 3*time.Second, 400*ms
				m.Lateness.RecordN(20*ms, 1000)
			}, v1beta1.ReasonNodeBusy, "its node is busy",
		},
		"one of two was sent": {arrivals, func(m *measure.Measurement) { m.Due, m.Unsent = 2, 1 }, v1beta1.ReasonScheduleLag, "use 6 workers"},
	} {
		got := of1s(t, tc.step, tc.edit)
		if got.Healthy != (tc.reason == "") || got.Reason != tc.reason || !strings.Contains(got.Message, tc.says) {
			t.Errorf("%s: %s: %q; want %q: %q", name, got.Reason, got.Message, tc.reason, tc.says)
		}
	}
}

// Of three workers, one has the only request: it is held back for half of its time.
func TestWorkersWithoutAShareAreNotCounted(t *testing.T) {
	one := loading("1/s", v1beta1.StepLoad{Rate: decimal("1"), Duration: d(time.Second), Requests: 1})
	if got := of1s(t, one, func(m *measure.Measurement) { m.Health.CPUThrottled = 500 * ms }).CPUThrottled; got != "50%" {
		t.Errorf("held back for %s of the time, want 50%%", got)
	}
}

// What is the target's alone is in the result, too, where it differs.
func TestResultHasTheTimesWithoutTheGenerator(t *testing.T) {
	m := measure.NewMeasurement(4)
	r := &m.Requests[0]
	record(r, 10, measure.Success, 40*ms)
	r.Ideal = measure.NewHistogram()
	r.Ideal.RecordN(ms, 10)
	got := stepResult(t, mix(), paced, m)
	if got.WithoutGenerator == nil || got.WithoutGenerator.Min.Duration != ms || got.ExpectedWithoutGenerator != nil {
		t.Errorf("without the generator: %+v, of expected responses: %+v", got.WithoutGenerator, got.ExpectedWithoutGenerator)
	}
	record(r, 1, measure.ServerError, 40*ms)
	r.Ideal.Record(2 * ms)
	r.Failed.Record(40*ms, 20*ms, 2*ms)
	got = stepResult(t, mix(), paced, m)
	if of := got.ExpectedWithoutGenerator; of == nil || of.Samples != 10 || of.Longest.Duration != ms {
		t.Errorf("without the generator, of expected responses: %+v", of)
	}
	r.Failed.Ideal.Record(2 * ms) // of which it is not known whose it is
	if got = stepResult(t, mix(), paced, m); got.ExpectedWithoutGenerator != nil {
		t.Errorf("without the generator, of expected responses: %+v", got.ExpectedWithoutGenerator)
	}
}

func TestOneResponseHasAHistogramAndADowntime(t *testing.T) {
	m := measure.NewMeasurement(4)
	m.Window, m.Due, m.Timeline = time.Second, 1, &measure.Timeline{}
	record(&m.Requests[0], 1, measure.Success, ms)
	got := stepResult(t, mix(), loading("1/s", v1beta1.StepLoad{Rate: decimal("1"), Duration: d(time.Second), Requests: 1}), m)
	if got.Histogram == "" || got.Downtime != "0%" || got.Outstanding == nil {
		t.Errorf("histogram %q, downtime %q, outstanding %v", got.Histogram, got.Downtime, got.Outstanding)
	}
}

// A step without a course, or without a window, has no drift.
func TestDriftOfNothingIsUnknown(t *testing.T) {
	for name, tc := range map[string]struct {
		line   *measure.Timeline
		window time.Duration
	}{"no course": {nil, time.Second}, "no window": {&measure.Timeline{}, 0}} {
		m := measure.NewMeasurement(4)
		m.Timeline, m.Window = tc.line, tc.window
		measured, ideal, unknown := results.Drift(&paced.Load, m)
		if measured != 0 || ideal != 0 || unknown != "A worker did not report the timeline of the step." {
			t.Errorf("%s: drift %v, %v, %q", name, measured, ideal, unknown)
		}
		if got := stepResult(t, mix(), paced, m).Outstanding; got != nil {
			t.Errorf("%s: outstanding %+v", name, got)
		}
	}
	m := measure.NewMeasurement(4)
	m.Timeline, m.Window = &measure.Timeline{}, 1
	if _, _, unknown := results.Drift(&paced.Load, m); unknown != "The step was cut before its end." {
		t.Errorf("of the shortest window: %q", unknown)
	}
	if got := stepResult(t, mix(), paced, m).Outstanding; got == nil {
		t.Error("of the shortest window nothing is outstanding")
	}
}
