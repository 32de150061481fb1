package results_test

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestGeneratorHealth(t *testing.T) {
	const late = " after they were due, because of the generator itself; use more workers, or give each more CPU."
	thinking := v1beta1.StepLoad{Users: 10, Think: v1beta1.NewThink(time.Second, time.Second), Duration: d(time.Second)}
	burst := thinking
	burst.Duration, burst.RequestsPerUser = nil, 2
	for name, tc := range map[string]struct {
		step               *v1beta1.StepStatus
		samples            int
		lateness, response time.Duration
		shown              time.Duration // the lateness as a histogram has it
		message            string        // empty: it is healthy
	}{
		"on time":                                       {paced, 1000, 100 * time.Microsecond, 20 * ms, 100 * time.Microsecond, ""},
		"late, but it hardly shows":                     {paced, 1000, 31 * ms, time.Second, 31007 * time.Microsecond, ""},
		"so late that it shows":                         {paced, 1000, 31 * ms, 500 * ms, 31007 * time.Microsecond, "Step 1000 sent requests up to 31ms (p99)" + late},
		"late, and nothing was answered":                {paced, 1000, 12 * ms, 0, 12007 * time.Microsecond, "Step 1000 sent requests up to 12ms (p99)" + late},
		"within what is always tolerated":               {paced, 1000, 9900 * time.Microsecond, ms, 9903 * time.Microsecond, ""},
		"too few samples to say":                        {paced, 99, time.Second, ms, 1000447 * time.Microsecond, ""},
		"users who think are late as well":              {loading("10 users", thinking), 1000, 12 * ms, ms, 12007 * time.Microsecond, "Step 10 users sent requests up to 12ms (p99)" + late},
		"a burst of users who think begins all at once": {loading("10 users x 2", burst), 1000, 12 * ms, ms, 12007 * time.Microsecond, ""},
		"a closed loop has no schedule to miss":         {closed, 1000, time.Second, ms, 1000447 * time.Microsecond, ""},
	} {
		t.Run(name, func(t *testing.T) {
			merged := measure.NewMeasurement(4)
			for range tc.samples {
				merged.Lateness.Record(tc.lateness)
				if tc.response > 0 {
					merged.Requests[0].Response.Record(tc.response)
				}
			}
			want := &v1beta1.GeneratorStatus{Healthy: tc.message == "", Message: tc.message, SendLatenessP50: d(tc.shown), SendLatenessMax: d(tc.shown)}
			if !want.Healthy {
				want.Reason = v1beta1.ReasonScheduleLag
			}
			if tc.samples >= 100 {
				want.SendLatenessP99 = d(tc.shown)
			}
			same.As(t, "generator", want, stepResult(t, fleetOf(3), tc.step, merged).Generator)
		})
	}
}

// fleetOf is mix sent by that many workers.
func fleetOf(workers int32) *v1beta1.LoadTest {
	lt := mix()
	lt.Status.Workers.Desired = workers
	return lt
}

func TestTheMachinesOfTheGenerator(t *testing.T) {
	const (
		descriptors = "In step 1000 a worker had no file descriptor left for a connection (3 times in all); use more workers."
		ports       = "In step 1000 a worker had no local port left for a connection (2 times in all); use more workers."
	)
	heldBack := func(throttled, percent string) *v1beta1.GeneratorStatus {
		return &v1beta1.GeneratorStatus{
			CPUThrottled: throttled, Reason: v1beta1.ReasonCPUThrottled,
			Message: "In step 1000 a worker was held back by its CPU limit for " + percent + " of the time. Raise spec.worker.resources.limits.cpu, or leave it out.",
		}
	}
	healthy := func(throttled string) *v1beta1.GeneratorStatus {
		return &v1beta1.GeneratorStatus{Healthy: true, CPUThrottled: throttled}
	}
	throttled := func(all, most time.Duration) measure.Health {
		return measure.Health{CPUThrottled: all, CPUThrottledMax: most}
	}
	const window = 10 * time.Second
	one := loading("1000", v1beta1.StepLoad{Users: 1, Duration: d(window)})
	random := loading("1000", v1beta1.StepLoad{Rate: decimal("1"), Arrivals: v1beta1.ArrivalsPoisson, Duration: d(window)})
	for name, tc := range map[string]struct {
		step   *v1beta1.StepStatus
		window time.Duration
		health measure.Health
		want   *v1beta1.GeneratorStatus
	}{
		"nothing wrong": {closed, window, measure.Health{}, healthy("0%")},
		"processor time and pauses of the garbage collector are not judged": {
			closed, window, measure.Health{GCPauseMax: 1500 * time.Microsecond, CPU: 40*time.Second + 4*time.Microsecond},
			&v1beta1.GeneratorStatus{Healthy: true, CPUThrottled: "0%", CPUTime: d(40 * time.Second), GCPauseMax: d(1500 * time.Microsecond)},
		},
		"one held back for just as long as is tolerated": {closed, window, throttled(100*ms, 100*ms), healthy("0.33%")},
		"all of them just as long":                       {closed, window, throttled(300*ms, 100*ms), healthy("1%")},
		"one held back for longer, in a closed loop too": {closed, window, throttled(101*ms, 101*ms), heldBack("0.34%", "1.01%")},
		"by a hair longer":                               {closed, window, throttled(300*ms+1, 100*ms+1), heldBack("1%", "1%")},
		"one ran for a quarter of the time":              {closed, window, throttled(7500*ms, 7500*ms), heldBack("25%", "75%")},
		"of three workers, one has a share":              {one, window, throttled(120*ms, 120*ms), heldBack("1.2%", "1.2%")},
		"random arrivals are everyone's":                 {random, window, throttled(120*ms, 40*ms), healthy("0.4%")},
		"held back before there is a window":             {closed, 0, throttled(time.Second, time.Second), healthy("")},
		"no descriptor left explains the rest": {
			closed, window, measure.Health{DescriptorsExhausted: 3, PortsExhausted: 2, CPUThrottled: 3 * time.Second, CPUThrottledMax: time.Second},
			&v1beta1.GeneratorStatus{CPUThrottled: "10%", DescriptorsExhausted: 3, PortsExhausted: 2, Reason: v1beta1.ReasonDescriptorsExhausted, Message: descriptors},
		},
		"no port left": {closed, window, measure.Health{PortsExhausted: 2},
			&v1beta1.GeneratorStatus{CPUThrottled: "0%", PortsExhausted: 2, Reason: v1beta1.ReasonPortsExhausted, Message: ports}},
	} {
		t.Run(name, func(t *testing.T) {
			merged := measure.NewMeasurement(4)
			merged.Window, merged.Health = tc.window, tc.health
			same.As(t, "generator", tc.want, stepResult(t, fleetOf(3), tc.step, merged).Generator)
		})
	}
}

// What was not sent is the generator's fault only where sending waits for
// nothing.
func TestUnsent(t *testing.T) {
	arrivals := loading("1000/s", v1beta1.StepLoad{Rate: decimal("1000"), Duration: d(time.Second), Requests: 1000})
	thinking := loading("10 users", v1beta1.StepLoad{Users: 10, Think: v1beta1.NewThink(time.Second, 3*time.Second), Duration: d(time.Second)})
	burst := loading("10 users x 100", v1beta1.StepLoad{Users: 10, RequestsPerUser: 100, Think: v1beta1.NewThink(time.Second, 3*time.Second), Requests: 1000})
	for name, tt := range map[string]struct {
		step    *v1beta1.StepStatus
		unsent  int64
		noRoom  int64 // of unsent
		message string
	}{
		"all arrivals sent":               {step: arrivals},
		"as few unsent as is tolerated":   {step: arrivals, unsent: 5},
		"more":                            {step: arrivals, unsent: 6, message: "Step 1000/s sent only 99.4% of the due requests; use 4 workers or more, or give each more CPU."},
		"none sent at all":                {step: arrivals, unsent: 1000, message: "Step 1000/s sent only 0% of the due requests; use more workers, or give each more CPU."},
		"none had room":                   {step: arrivals, unsent: 1000, noRoom: 1000},
		"as few that had room":            {step: arrivals, unsent: 801, noRoom: 800},
		"more that had room":              {step: arrivals, unsent: 802, noRoom: 800, message: "Step 1000/s sent only 99% of the due requests for which connections had room; use 4 workers or more, or give each more CPU."},
		"users that wait for their reply": {step: paced, unsent: 900},
		"a burst":                         {step: burst, unsent: 900},
		"users who have thought":          {step: thinking, unsent: 6, message: "Step 10 users sent only 99.4% of the due requests; use 4 workers or more, or give each more CPU."},
	} {
		t.Run(name, func(t *testing.T) {
			merged := measure.NewMeasurement(4)
			merged.Due, merged.Unsent, merged.Window = 1000, tt.unsent, time.Second
			merged.UnsentWithoutRoom = tt.noRoom
			got := stepResult(t, fleetOf(3), tt.step, merged).Generator
			if got.Message != tt.message || got.Healthy != (tt.message == "") {
				t.Errorf("healthy %v: %q; want %q", got.Healthy, got.Message, tt.message)
			}
		})
	}
}
