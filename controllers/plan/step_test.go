package plan_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/plan"
)

func ptr[T any](v T) *T { return &v }

func duration(d time.Duration) *metav1.Duration { return &metav1.Duration{Duration: d} }

func decimal(s string) *v1alpha1.Decimal { return ptr(v1alpha1.Decimal(s)) }

// spec is a spec of one request to a Service, changed by edit.
func spec(edit func(*v1alpha1.LoadTestSpec)) *v1alpha1.LoadTestSpec {
	s := &v1alpha1.LoadTestSpec{
		Target:   v1alpha1.Target{URL: "http://shortener:8080"},
		Requests: []v1alpha1.Request{{}},
	}
	edit(s)
	return s
}

func withSteps(steps ...v1alpha1.Step) *v1alpha1.LoadTestSpec {
	return spec(func(s *v1alpha1.LoadTestSpec) { s.Steps = steps })
}

func TestSteps(t *testing.T) {
	tests := map[string]struct {
		spec *v1alpha1.LoadTestSpec
		want []plan.Step
	}{
		"a ladder rests between its rungs, not after the last": {
			spec: spec(func(s *v1alpha1.LoadTestSpec) {
				s.Ladder = &v1alpha1.Ladder{
					Users: []int32{10, 1000}, RatePerUser: decimal("0.5"),
					Duration: *duration(30 * time.Second), Rest: duration(10 * time.Second),
				}
			}),
			want: []plan.Step{
				{Index: 0, Name: "10", Users: 10, RateMicros: 5_000_000, Total: 10, Duration: 30 * time.Second, Limit: 70 * time.Second},
				{Index: 1, Rung: 1, Name: "rest", Pause: 10 * time.Second, Limit: 10 * time.Second},
				{Index: 2, Rung: 2, Name: "1000", Users: 1000, RateMicros: 500_000_000, Total: 1000, Duration: 30 * time.Second, Limit: 70 * time.Second},
			},
		},
		"a ladder without rest or rate": {
			spec: spec(func(s *v1alpha1.LoadTestSpec) {
				s.Target.Timeout = duration(2 * time.Second)
				s.Ladder = &v1alpha1.Ladder{Users: []int32{5, 5}, Duration: *duration(time.Second), Rest: duration(0)}
			}),
			want: []plan.Step{
				{Index: 0, Name: "5", Users: 5, Total: 5, Duration: time.Second, Limit: 13 * time.Second},
				{Index: 1, Rung: 1, Name: "5 (2)", Users: 5, Total: 5, Duration: time.Second, Limit: 13 * time.Second},
			},
		},
		"burst, pause and arrivals": {
			spec: withSteps(
				v1alpha1.Step{Users: ptr(int32(50)), RequestsPerUser: ptr(int32(4))},
				v1alpha1.Step{Pause: duration(time.Second)},
				v1alpha1.Step{Rate: decimal("5"), Duration: duration(3 * time.Second)},
				v1alpha1.Step{Users: ptr(int32(1000)), Duration: duration(time.Minute)},
				v1alpha1.Step{Name: "paced", Users: ptr(int32(3)), RatePerUser: decimal("2"), Duration: duration(time.Minute)},
			),
			want: []plan.Step{
				{Index: 0, Name: "50 users x 4", Users: 50, RequestsPerUser: 4, Total: 50, Burst: true, Duration: 2*time.Minute + plan.BurstSlack, Limit: 165 * time.Second},
				{Index: 1, Rung: 1, Name: "pause 1s", Pause: time.Second, Limit: time.Second},
				{Index: 2, Rung: 2, Name: "5/s", RateMicros: 5_000_000, Total: 15, Duration: 3 * time.Second, Limit: 43 * time.Second},
				{Index: 3, Rung: 3, Name: "1000 users", Users: 1000, Total: 1000, Duration: time.Minute, Limit: 100 * time.Second},
				{Index: 4, Rung: 4, Name: "paced", Users: 3, RateMicros: 6_000_000, Total: 3, Duration: time.Minute, Limit: 100 * time.Second},
			},
		},
		"warm-ups come before, ramps and random arrivals": {
			spec: withSteps(
				v1alpha1.Step{Users: ptr(int32(3)), WarmUp: duration(5 * time.Second), Duration: duration(time.Minute)},
				v1alpha1.Step{Rate: decimal("0.5"), RampTo: decimal("20"), WarmUp: duration(time.Second), Duration: duration(time.Minute)},
				v1alpha1.Step{Rate: decimal("5"), Arrivals: v1alpha1.ArrivalsPoisson, Duration: duration(time.Minute)},
				v1alpha1.Step{Name: "even", Rate: decimal("5"), Arrivals: v1alpha1.ArrivalsEven, Duration: duration(time.Minute)},
			),
			want: []plan.Step{
				{Index: 0, Name: "3 users", Users: 3, Total: 3, WarmUp: 5 * time.Second, Duration: time.Minute, Limit: 105 * time.Second},
				{Index: 1, Rung: 1, Name: "0.5/s to 20/s", RateMicros: 500_000, EndRateMicros: 20_000_000, Total: 615, WarmUp: time.Second, Duration: time.Minute, Limit: 101 * time.Second},
				{Index: 2, Rung: 2, Name: "5/s", RateMicros: 5_000_000, Poisson: true, Duration: time.Minute, Limit: 100 * time.Second},
				{Index: 3, Rung: 3, Name: "even", RateMicros: 5_000_000, Total: 300, Duration: time.Minute, Limit: 100 * time.Second},
			},
		},
		"a ladder warms up on each rung": {
			spec: spec(func(s *v1alpha1.LoadTestSpec) {
				s.Ladder = &v1alpha1.Ladder{Users: []int32{1, 2}, Duration: *duration(time.Second), WarmUp: duration(3 * time.Second)}
			}),
			want: []plan.Step{
				{Index: 0, Name: "1", Users: 1, Total: 1, WarmUp: 3 * time.Second, Duration: time.Second, Limit: 44 * time.Second},
				{Index: 1, Rung: 1, Name: "2", Users: 2, Total: 2, WarmUp: 3 * time.Second, Duration: time.Second, Limit: 44 * time.Second},
			},
		},
		"a burst is bounded by an hour": {
			spec: withSteps(v1alpha1.Step{Name: "long", Users: ptr(int32(1)), RequestsPerUser: ptr(int32(1_000_000))}),
			want: []plan.Step{
				{Name: "long", Users: 1, RequestsPerUser: 1_000_000, Total: 1, Burst: true, Duration: time.Hour, Limit: time.Hour + 40*time.Second},
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, plan.Steps(tc.spec)); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStepNamesAreUnique(t *testing.T) {
	users := func(name string) v1alpha1.Step {
		return v1alpha1.Step{Name: name, Users: ptr(int32(7)), Duration: duration(time.Second)}
	}
	tests := map[string]struct {
		steps []v1alpha1.Step
		want  []string
	}{
		"defaults are numbered":               {[]v1alpha1.Step{users(""), users(""), users("")}, []string{"7 users", "7 users (2)", "7 users (3)"}},
		"a default gives way to a given name": {[]v1alpha1.Step{users(""), users("7 users")}, []string{"7 users (2)", "7 users"}},
		"pauses read well": {
			[]v1alpha1.Step{{Pause: duration(time.Minute)}, {Pause: duration(90 * time.Second)}, {Pause: duration(time.Hour)}, {Pause: duration(2 * time.Hour)}, {Pause: duration(time.Hour + time.Second)}, {Pause: duration(10 * time.Minute)}},
			[]string{"pause 1m", "pause 1m30s", "pause 1h", "pause 2h", "pause 1h0m1s", "pause 10m"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, s := range plan.Steps(withSteps(tc.steps...)) {
				got = append(got, s.Name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
		})
	}
}

// The longest ladder fits the bound that the API puts on status.steps, and the
// longest names fit the one on a step's name.
func TestStepsFitTheStatus(t *testing.T) {
	s := spec(func(s *v1alpha1.LoadTestSpec) {
		s.Ladder = &v1alpha1.Ladder{Duration: *duration(time.Second), Rest: duration(time.Second)}
		for range 64 {
			s.Ladder.Users = append(s.Ladder.Users, 1_000_000)
		}
	})
	if got, want := len(plan.Steps(s)), 127; got != want {
		t.Errorf("a ladder of 64 rungs has %d steps, want %d", got, want)
	}
	longest := v1alpha1.Step{Users: ptr(int32(1_000_000)), RequestsPerUser: ptr(int32(1_000_000))}
	for _, step := range plan.Steps(withSteps(longest, longest)) {
		if len(step.Name) > 63 {
			t.Errorf("name %q has %d characters", step.Name, len(step.Name))
		}
	}
}

func TestStepKinds(t *testing.T) {
	steps := plan.Steps(withSteps(
		v1alpha1.Step{Pause: duration(time.Second)},
		v1alpha1.Step{Users: ptr(int32(1)), Duration: duration(time.Second)},
		v1alpha1.Step{Rate: decimal("1"), Duration: duration(time.Second)},
	))
	var got []string
	for _, s := range steps {
		kind := "pause"
		if s.Load() {
			kind = "load"
		}
		if s.Scheduled() {
			kind += " scheduled"
		}
		got = append(got, kind)
	}
	if got, want := strings.Join(got, ", "), "pause, load, load scheduled"; got != want {
		t.Errorf("kinds are %s, want %s", got, want)
	}
}

func TestTimeout(t *testing.T) {
	for said, want := range map[time.Duration]time.Duration{time.Millisecond: time.Millisecond, 0: plan.DefaultTimeout, -time.Second: plan.DefaultTimeout} {
		s := withSteps()
		s.Target.Timeout = duration(said)
		if got := plan.Timeout(s); got != want {
			t.Errorf("timeout %v is %v, want %v", said, got, want)
		}
	}
	if got := plan.Timeout(withSteps()); got != plan.DefaultTimeout {
		t.Errorf("no timeout is %v, want %v", got, plan.DefaultTimeout)
	}
}

func TestDrain(t *testing.T) {
	if got := plan.Drain(2 * time.Second); got != 2*time.Second {
		t.Errorf("a short timeout drains for %v", got)
	}
	if got := plan.Drain(10 * time.Minute); got != plan.MaxDrain {
		t.Errorf("a long timeout drains for %v", got)
	}
}
