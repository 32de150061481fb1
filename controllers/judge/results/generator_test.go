package results_test

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestGeneratorHealth(t *testing.T) {
	tests := map[string]struct {
		step     *v1beta1.StepStatus
		samples  int
		lateness time.Duration
		response time.Duration
		want     *v1beta1.GeneratorStatus
	}{
		"on time": {
			step: paced, samples: 1000, lateness: 100 * time.Microsecond, response: 20 * ms,
			want: &v1beta1.GeneratorStatus{Healthy: true, SendLatenessP50: d(100 * time.Microsecond), SendLatenessP99: d(100 * time.Microsecond), SendLatenessMax: d(100 * time.Microsecond)},
		},
		"late, but it hardly shows": {
			step: paced, samples: 1000, lateness: 31 * ms, response: time.Second,
			want: &v1beta1.GeneratorStatus{Healthy: true, SendLatenessP50: d(31007 * time.Microsecond), SendLatenessP99: d(31007 * time.Microsecond), SendLatenessMax: d(31007 * time.Microsecond)},
		},
		"so late that it shows": {
			step: paced, samples: 1000, lateness: 31 * ms, response: 500 * ms,
			want: &v1beta1.GeneratorStatus{
				SendLatenessP50: d(31007 * time.Microsecond), SendLatenessP99: d(31007 * time.Microsecond), SendLatenessMax: d(31007 * time.Microsecond), Reason: v1beta1.ReasonScheduleLag,
				Message: "Step 1000 sent requests up to 31ms (p99) after they were due, because of the generator itself; use more workers, or give each more CPU.",
			},
		},
		"late, and nothing was answered": {
			step: paced, samples: 1000, lateness: 12 * ms,
			want: &v1beta1.GeneratorStatus{
				SendLatenessP50: d(12007 * time.Microsecond), SendLatenessP99: d(12007 * time.Microsecond), SendLatenessMax: d(12007 * time.Microsecond), Reason: v1beta1.ReasonScheduleLag,
				Message: "Step 1000 sent requests up to 12ms (p99) after they were due, because of the generator itself; use more workers, or give each more CPU.",
			},
		},
		"within what is always tolerated": {
			step: paced, samples: 1000, lateness: 9900 * time.Microsecond, response: ms,
			want: &v1beta1.GeneratorStatus{Healthy: true, SendLatenessP50: d(9903 * time.Microsecond), SendLatenessP99: d(9903 * time.Microsecond), SendLatenessMax: d(9903 * time.Microsecond)},
		},
		"too few samples to say": {
			step: paced, samples: 99, lateness: time.Second, response: ms,
			want: &v1beta1.GeneratorStatus{Healthy: true, SendLatenessP50: d(1000447 * time.Microsecond), SendLatenessMax: d(1000447 * time.Microsecond)},
		},
		"users who think are late as well": {
			step: loading("10 users", v1beta1.StepLoad{Users: 10, Think: v1beta1.NewThink(time.Second, time.Second), Duration: d(time.Second)}), samples: 1000, lateness: 12 * ms, response: ms,
			want: &v1beta1.GeneratorStatus{
				SendLatenessP50: d(12007 * time.Microsecond), SendLatenessP99: d(12007 * time.Microsecond), SendLatenessMax: d(12007 * time.Microsecond), Reason: v1beta1.ReasonScheduleLag,
				Message: "Step 10 users sent requests up to 12ms (p99) after they were due, because of the generator itself; use more workers, or give each more CPU.",
			},
		},
		"a burst of users who think begins all at once": {
			step: loading("10 users x 2", v1beta1.StepLoad{Users: 10, Think: v1beta1.NewThink(time.Second, time.Second), RequestsPerUser: 2}), samples: 1000, lateness: 12 * ms, response: ms,
			want: &v1beta1.GeneratorStatus{Healthy: true, SendLatenessP50: d(12007 * time.Microsecond), SendLatenessP99: d(12007 * time.Microsecond), SendLatenessMax: d(12007 * time.Microsecond)},
		},
		"a closed loop has no schedule to miss": {
			step: closed, samples: 1000, lateness: time.Second, response: ms,
			want: &v1beta1.GeneratorStatus{Healthy: true, SendLatenessP50: d(1000447 * time.Microsecond), SendLatenessP99: d(1000447 * time.Microsecond), SendLatenessMax: d(1000447 * time.Microsecond)},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			lt := fleetOf(3)
			merged := measure.NewMeasurement(4)
			for range tc.samples {
				merged.Lateness.Record(tc.lateness)
				if tc.response > 0 {
					merged.Requests[0].Response.Record(tc.response)
				}
			}
			same.As(t, "generator", tc.want, stepResult(t, lt, tc.step, merged).Generator)
		})
	}
}

func TestTheAdviceStaysWithinTheAPI(t *testing.T) {
	lt := fleetOf(800)
	merged := measure.NewMeasurement(4)
	merged.Window = 2 * time.Second
	for range 100 {
		merged.Lateness.Record(time.Second)
	}
	want := "Step 1000 sent requests up to 1s (p99) after they were due, because of the generator itself; use 1000 workers or more, or give each more CPU."
	if got := stepResult(t, lt, paced, merged).Generator.Message; got != want {
		t.Errorf("message %q, want %q", got, want)
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
	heldBack := func(percent string) string {
		return "In step 1000 a worker was held back by its CPU limit for " + percent + " of the time. " +
			"Raise spec.worker.resources.limits.cpu, or leave it out."
	}
	tests := map[string]struct {
		step   *v1beta1.StepStatus
		window time.Duration
		health measure.Health
		want   *v1beta1.GeneratorStatus
	}{
		"nothing wrong": {
			step: closed, window: 10 * time.Second,
			want: &v1beta1.GeneratorStatus{Healthy: true, CPUThrottled: "0%"},
		},
		"processor time and pauses of the garbage collector are not judged": {
			step: closed, window: 10 * time.Second, health: measure.Health{GCPauseMax: 1500 * time.Microsecond, CPU: 40*time.Second + 4*time.Microsecond},
			want: &v1beta1.GeneratorStatus{Healthy: true, CPUThrottled: "0%", CPUTime: d(40 * time.Second), GCPauseMax: d(1500 * time.Microsecond)},
		},
		"one held back for just as long as is tolerated": {
			step: closed, window: 10 * time.Second, health: measure.Health{CPUThrottled: 100 * ms, CPUThrottledMax: 100 * ms},
			want: &v1beta1.GeneratorStatus{Healthy: true, CPUThrottled: "0.33%"},
		},
		"all of them just as long": {
			step: closed, window: 10 * time.Second, health: measure.Health{CPUThrottled: 300 * ms, CPUThrottledMax: 100 * ms},
			want: &v1beta1.GeneratorStatus{Healthy: true, CPUThrottled: "1%"},
		},
		"one held back for longer, in a closed loop too": {
			step: closed, window: 10 * time.Second, health: measure.Health{CPUThrottled: 101 * ms, CPUThrottledMax: 101 * ms},
			want: &v1beta1.GeneratorStatus{CPUThrottled: "0.34%", Reason: v1beta1.ReasonCPUThrottled, Message: heldBack("1.01%")},
		},
		"by a hair longer": {
			step: closed, window: 10 * time.Second, health: measure.Health{CPUThrottled: 300*ms + 1, CPUThrottledMax: 100*ms + 1},
			want: &v1beta1.GeneratorStatus{CPUThrottled: "1%", Reason: v1beta1.ReasonCPUThrottled, Message: heldBack("1%")},
		},
		"one ran for a quarter of the time": {
			step: closed, window: 10 * time.Second, health: measure.Health{CPUThrottled: 7500 * ms, CPUThrottledMax: 7500 * ms},
			want: &v1beta1.GeneratorStatus{CPUThrottled: "25%", Reason: v1beta1.ReasonCPUThrottled, Message: heldBack("75%")},
		},
		"of three workers, one has a share": {
			step:   loading("1000", v1beta1.StepLoad{Users: 1, Duration: d(10 * time.Second)}),
			window: 10 * time.Second, health: measure.Health{CPUThrottled: 120 * ms, CPUThrottledMax: 120 * ms},
			want: &v1beta1.GeneratorStatus{CPUThrottled: "1.2%", Reason: v1beta1.ReasonCPUThrottled, Message: heldBack("1.2%")},
		},
		"random arrivals are everyone's": {
			step:   loading("1000", v1beta1.StepLoad{Rate: decimal("1"), Arrivals: v1beta1.ArrivalsPoisson, Duration: d(10 * time.Second)}),
			window: 10 * time.Second, health: measure.Health{CPUThrottled: 120 * ms, CPUThrottledMax: 40 * ms},
			want: &v1beta1.GeneratorStatus{Healthy: true, CPUThrottled: "0.4%"},
		},
		"held back before there is a window": {
			step: closed, health: measure.Health{CPUThrottled: time.Second, CPUThrottledMax: time.Second},
			want: &v1beta1.GeneratorStatus{Healthy: true},
		},
		"no descriptor left explains the rest": {
			step: closed, window: 10 * time.Second, health: measure.Health{DescriptorsExhausted: 3, PortsExhausted: 2, CPUThrottled: 3 * time.Second, CPUThrottledMax: time.Second},
			want: &v1beta1.GeneratorStatus{
				CPUThrottled: "10%", DescriptorsExhausted: 3, PortsExhausted: 2,
				Reason: v1beta1.ReasonDescriptorsExhausted, Message: descriptors,
			},
		},
		"no port left": {
			step: closed, window: 10 * time.Second, health: measure.Health{PortsExhausted: 2},
			want: &v1beta1.GeneratorStatus{CPUThrottled: "0%", PortsExhausted: 2, Reason: v1beta1.ReasonPortsExhausted, Message: ports},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			merged := measure.NewMeasurement(4)
			merged.Window, merged.Health = tc.window, tc.health
			same.As(t, "generator", tc.want, stepResult(t, fleetOf(3), tc.step, merged).Generator)
		})
	}
}

// One of a thousand that is held back for a tenth of the time is a ten-thousandth
// of the time of all, but sends each of its requests late.
func TestOneOfManyIsHeldBack(t *testing.T) {
	merged := measure.NewMeasurement(4)
	for i := range 1000 {
		worker := measure.NewMeasurement(4)
		worker.Window = 10 * time.Second
		if i == 500 {
			worker.Health = measure.Health{CPUThrottled: time.Second, CPUThrottledMax: time.Second}
		}
		must.Succeed(t, merged.Merge(worker))
	}
	got := stepResult(t, fleetOf(1000), closed, merged).Generator
	want := "In step 1000 a worker was held back by its CPU limit for 10% of the time. " +
		"Raise spec.worker.resources.limits.cpu, or leave it out."
	if got.Healthy || got.Message != want || got.CPUThrottled != "0.01%" {
		t.Errorf("healthy %v, %s: %q; want %q", got.Healthy, got.CPUThrottled, got.Message, want)
	}
}

// A worker that is held back sends late: what causes it is said, not what follows.
func TestThrottlingExplainsLateness(t *testing.T) {
	merged := measure.NewMeasurement(4)
	merged.Window, merged.Health.CPUThrottledMax = 10*time.Second, time.Second
	for range 1000 {
		merged.Lateness.Record(time.Second)
	}
	got := stepResult(t, fleetOf(3), paced, merged).Generator
	if got.Reason != v1beta1.ReasonCPUThrottled || got.SendLatenessP99 == nil {
		t.Errorf("reason %s and lateness %v, want %s and both figures", got.Reason, got.SendLatenessP99, v1beta1.ReasonCPUThrottled)
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
		"more that had room":              {step: arrivals, unsent: 802, noRoom: 800, message: "Step 1000/s sent only 99% of the due requests, although connections had room; use 4 workers or more, or give each more CPU."},
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
