package results_test

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// piling is a measurement in which each slot leaves so many requests more than the last.
func piling(window time.Duration, due, each int64) *measure.Measurement {
	m := measure.NewMeasurement(4)
	m.Due, m.Window, m.Timeline = due, window, &measure.Timeline{}
	for i := range m.Timeline.Outstanding {
		m.Timeline.Outstanding[i] = 5 + each*int64(i+1)
	}
	return m
}

// late leaves so many more requests unsent after each slot, and that many at the end, of which
// the generator alone kept some from being sent.
func late(m *measure.Measurement, each, unsent, byGenerator int64) *measure.Measurement {
	for i := range m.Timeline.Unsent {
		m.Timeline.Unsent[i] = each * int64(i+1)
	}
	m.Unsent, m.UnsentByGenerator = unsent, byGenerator
	return m
}

func TestOutstanding(t *testing.T) {
	window := d(20 * time.Second)
	of := func(name string, l v1beta1.StepLoad) *v1beta1.StepStatus {
		l.Duration = window
		return loading(name, l)
	}
	arrivals := of("100/s", v1beta1.StepLoad{Rate: decimal("100")})
	pacedUsers := of("100", v1beta1.StepLoad{Users: 100, RatePerUser: decimal("1")})
	const waits = "Users without a rate wait for each response before they send again, so nothing can pile up."
	piled := func(each int64) *measure.Measurement { return piling(window.Duration, 2000, each) }
	steady := func(mean string) *v1beta1.OutstandingResult {
		return &v1beta1.OutstandingResult{Mean: mean, Trend: v1beta1.OutstandingSteady}
	}
	growing := func(mean, growth, ideally string) *v1beta1.OutstandingResult {
		return &v1beta1.OutstandingResult{Mean: mean, Trend: v1beta1.OutstandingGrowing, Growth: growth, WithoutGenerator: ideally}
	}
	uncertain := func(mean, growth, ideally string) *v1beta1.OutstandingResult {
		return &v1beta1.OutstandingResult{Mean: mean, Trend: v1beta1.OutstandingUncertain, Growth: growth, WithoutGenerator: ideally}
	}
	unknown := func(mean, message string) *v1beta1.OutstandingResult {
		return &v1beta1.OutstandingResult{Mean: mean, Trend: v1beta1.OutstandingUnknown, Message: message}
	}
	for name, tt := range map[string]struct {
		step   *v1beta1.StepStatus
		merged *measure.Measurement
		want   *v1beta1.OutstandingResult
	}{
		"not counted":                                              {arrivals, measure.NewMeasurement(4), nil},
		"arrivals, steady":                                         {arrivals, piled(0), steady("5.0")},
		"arrivals that pile up":                                    {arrivals, piled(1), growing("115.5", "10.0", "")},
		"arrivals that the generator sent late":                    {arrivals, late(piled(1), 1, 0, 0), uncertain("115.5", "10.0", "0.0")},
		"arrivals that the generator did not send":                 {arrivals, late(piled(1), 1, 200, 200), uncertain("115.5", "10.0", "0.0")},
		"arrivals without room":                                    {arrivals, late(piled(1), 1, 200, 0), growing("115.5", "10.0", "")},
		"arrivals that pile up in the generator and in the target": {arrivals, late(piled(4), 1, 200, 200), growing("447.0", "40.0", "30.0")},
		"arrivals that pile up in the target while the generator makes up for a delay": {arrivals, late(piled(0), -1, 0, 0), uncertain("5.0", "0.0", "10.0")},
		"users with a rate who wait for the target":                                    {pacedUsers, late(piled(1), 1, 200, 0), growing("115.5", "10.0", "")},
		"users with a rate whom the generator alone holds up":                          {pacedUsers, late(piled(1), 1, 200, 200), uncertain("115.5", "10.0", "0.0")},
		"users with a rate who wait for the target, a tenth of them for the generator": {pacedUsers, late(piled(1), 1, 200, 20), growing("115.5", "10.0", "9.0")},
		"a soak in which one more piles up in 22 s": {
			loading("1000/s", v1beta1.StepLoad{Rate: decimal("1000"), Duration: d(6 * time.Hour)}), piling(6*time.Hour, 21_600_000, 5),
			growing("557.5", "0.046", ""),
		},
		"users with a rate":    {pacedUsers, piled(1), growing("115.5", "10.0", "")},
		"users without a rate": {of("100", v1beta1.StepLoad{Users: 100}), piled(1), unknown("115.5", waits)},
		"users who think":      {of("100", v1beta1.StepLoad{Users: 100, Think: v1beta1.NewThink(time.Second, time.Second)}), piled(0), unknown("5.0", waits)},
		"a burst": {loading("100 x 2", v1beta1.StepLoad{Users: 100, RequestsPerUser: 2, MaxDuration: window}), piling(time.Second, 200, 0),
			unknown("5.0", "A burst ends when every request is answered, so nothing can pile up.")},
		"a ramp": {of("1 to 100", v1beta1.StepLoad{Rate: decimal("1"), RampTo: decimal("100")}), piled(1),
			unknown("115.5", "The load of a ramp changes, and so does the number of outstanding requests.")},
		"a step that was cut": {arrivals, piling(10*time.Second, 2000, 1), unknown("115.5", "The step was cut before its end.")},
		"too few requests":    {arrivals, piling(window.Duration, 19, 1), unknown("115.5", "There were too few requests to tell.")},
	} {
		t.Run(name, func(t *testing.T) {
			got := stepResult(t, mix(), tt.step, tt.merged)
			same.As(t, "outstanding", tt.want, got.Outstanding)
		})
	}
}

// 5 requests are outstanding at the beginning and 4 more after each second; 100 are
// answered in a second. After 38.75 s they are 160, and a request waits for 1.6 s.
func TestTimeUntilResponseTimesPassALimit(t *testing.T) {
	step := loading("104/s", v1beta1.StepLoad{Rate: decimal("104"), Duration: d(20 * time.Second)})
	step.Result = &v1beta1.StepResult{
		Throughput:  "100.0",
		Outstanding: &v1beta1.OutstandingResult{Mean: "49.0", Growth: "4.0", Trend: v1beta1.OutstandingGrowing}, // 5 + 4 x 11
	}
	if got, ok := results.TimeUntil(step, 1600*time.Millisecond); !ok || got != 38750*time.Millisecond {
		t.Errorf("%v, %v, want 38.75s", got, ok)
	}
	if got, ok := results.TimeUntil(step, 800*time.Millisecond); ok {
		t.Errorf("a limit that is passed within the step: %v", got)
	}
	soak := loading("1000/s", v1beta1.StepLoad{Rate: decimal("1000"), Duration: d(6 * time.Hour)})
	soak.Result = stepResult(t, mix(), soak, piling(6*time.Hour, 21_600_000, 5))
	soak.Result.Throughput = "1000.0"
	if got, ok := results.TimeUntil(soak, 5*time.Second); !ok || got.Round(time.Minute) != 30*time.Hour+8*time.Minute {
		t.Errorf("%v, %v, want 30h8m of a soak", got, ok)
	}
	for name, change := range map[string]func(*v1beta1.StepStatus){
		"no result":         func(s *v1beta1.StepStatus) { s.Result = nil },
		"no duration":       func(s *v1beta1.StepStatus) { s.Load.Duration = nil },
		"no mean":           func(s *v1beta1.StepStatus) { s.Result.Outstanding.Mean = "" },
		"no growth":         func(s *v1beta1.StepStatus) { s.Result.Outstanding.Growth = "" },
		"a growth of 0":     func(s *v1beta1.StepStatus) { s.Result.Outstanding.Growth = "0" },
		"no throughput":     func(s *v1beta1.StepStatus) { s.Result.Throughput = "" },
		"a throughput of 0": func(s *v1beta1.StepStatus) { s.Result.Throughput, s.Result.Outstanding.Growth = "0", "-4" },
		"in twelve days":    func(s *v1beta1.StepStatus) { s.Result.Outstanding.Growth = "0.0001" },
	} {
		other := step.DeepCopy()
		change(other)
		if got, ok := results.TimeUntil(other, 1600*time.Millisecond); ok {
			t.Errorf("%s: %v", name, got)
		}
	}
	slow := step.DeepCopy()
	slow.Result.Throughput, slow.Result.Outstanding.Mean = "1.0", "44.5" // 0.5 at the beginning
	if got, ok := results.TimeUntil(slow, 100*time.Second); !ok || got != 24875*time.Millisecond {
		t.Errorf("%v, %v, want 24.875s of one answer a second", got, ok)
	}
	step.Result.Outstanding.Trend = v1beta1.OutstandingSteady
	if got, ok := results.TimeUntil(step, 1600*time.Millisecond); ok {
		t.Errorf("what does not grow: %v", got)
	}
}
