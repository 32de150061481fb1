package plan_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func ptr[T any](v T) *T { return &v }

func duration(d time.Duration) *metav1.Duration { return &metav1.Duration{Duration: d} }

func decimal(s string) *v1beta1.Decimal { return ptr(v1beta1.NewDecimal(s)) }

// spec is a spec of one request to a Service, changed by edit.
func spec(edit func(*v1beta1.LoadTestSpec)) *v1beta1.LoadTestSpec {
	s := &v1beta1.LoadTestSpec{Target: v1beta1.Target{URL: "http://shortener:8080"}, Requests: []v1beta1.Request{{Name: "home", HTTP: &v1beta1.HTTPRequest{}}}}
	edit(s)
	return s
}

func withSteps(steps ...v1beta1.Step) *v1beta1.LoadTestSpec {
	return spec(func(s *v1beta1.LoadTestSpec) { s.Steps = steps })
}

// step is a step that sends load and may take as long as limit.
func step(name string, rung int32, limit time.Duration, load v1beta1.StepLoad) v1beta1.StepStatus {
	return v1beta1.StepStatus{Name: name, Rung: rung, State: v1beta1.StepPending, Load: load, TimeLimit: duration(limit)}
}

func pause(name string, rung int32, length time.Duration) v1beta1.StepStatus {
	return v1beta1.StepStatus{Name: name, Rung: rung, State: v1beta1.StepPending, Load: v1beta1.StepLoad{Pause: duration(length)}}
}

// of is a step of a repetition.
func of(repetition int32, s v1beta1.StepStatus) v1beta1.StepStatus {
	s.Repetition = repetition
	return s
}

func TestSteps(t *testing.T) {
	type load = v1beta1.StepLoad
	second, minute := duration(time.Second), duration(time.Minute)
	thinking := v1beta1.NewThink(2*time.Second, 2*time.Second)
	tests := map[string]struct {
		spec string
		want []v1beta1.StepStatus
	}{
		"a ladder rests between its rungs, not after the last": {
			`{steps: [], ladder: {users: [10, 1000], ratePerUser: "0.5", duration: 30s, rest: 10s}}`,
			[]v1beta1.StepStatus{
				step("10", 1, 120*time.Second, load{Users: 10, RatePerUser: decimal("0.5"), Duration: duration(30 * time.Second), Requests: 150}),
				pause("rest", 2, 10*time.Second),
				step("1000", 3, 120*time.Second, load{Users: 1000, RatePerUser: decimal("0.5"), Duration: duration(30 * time.Second), Requests: 15_000}),
			},
		},
		"a ladder without rest or rate": {"{steps: [], target: {timeout: 2s}, ladder: {users: [5, 5], duration: 1s, rest: 0s}}",
			[]v1beta1.StepStatus{step("5", 1, 63*time.Second, load{Users: 5, Duration: second}), step("5 (2)", 2, 63*time.Second, load{Users: 5, Duration: second})}},
		"a ladder of rates": {
			`{steps: [], ladder: {rates: ["0.5", "100"], duration: 30s, warmUp: 5s, rest: 10s}}`,
			[]v1beta1.StepStatus{
				step("0.5/s", 1, 125*time.Second, load{Rate: decimal("0.5"), Arrivals: "Even", WarmUp: duration(5 * time.Second), Duration: duration(30 * time.Second), Requests: 15}),
				pause("rest", 2, 10*time.Second),
				step("100/s", 3, 125*time.Second, load{Rate: decimal("100"), Arrivals: "Even", WarmUp: duration(5 * time.Second), Duration: duration(30 * time.Second), Requests: 3000}),
			},
		},
		"burst, pause and arrivals": {
			`{steps: [{name: 50 users x 4, users: 50, requestsPerUser: 4}, {name: rest, pause: 1s}, {name: 5/s, rate: "5", duration: 3s},
				{name: 1000 users, users: 1000, duration: 1m}, {name: paced, users: 3, ratePerUser: "2", duration: 1m}]}`,
			[]v1beta1.StepStatus{
				step("50 users x 4", 1, 215*time.Second, load{Users: 50, RequestsPerUser: 4, MaxDuration: duration(2*time.Minute + plan.BurstSlack), Requests: 200}),
				pause("rest", 2, time.Second),
				step("5/s", 3, 93*time.Second, load{Rate: decimal("5"), Arrivals: v1beta1.ArrivalsEven, Duration: duration(3 * time.Second), Requests: 15}),
				step("1000 users", 4, 150*time.Second, load{Users: 1000, Duration: minute}),
				step("paced", 5, 150*time.Second, load{Users: 3, RatePerUser: decimal("2"), Duration: minute, Requests: 360}),
			},
		},
		"warm-ups come before, ramps and random arrivals, whose number is not known": {
			`{steps: [{name: 3 users, users: 3, warmUp: 5s, duration: 1m}, {name: 0.5/s to 20/s, rate: "0.5", rampTo: "20", warmUp: 1s, duration: 1m},
				{name: 5/s, rate: "5", rampTo: "9", arrivals: Poisson, warmUp: 0s, duration: 1m}, {name: even, rate: "5", arrivals: Even, duration: 1m}]}`,
			[]v1beta1.StepStatus{
				step("3 users", 1, 155*time.Second, load{Users: 3, WarmUp: duration(5 * time.Second), Duration: minute}),
				step("0.5/s to 20/s", 2, 151*time.Second, load{Rate: decimal("0.5"), RampTo: decimal("20"), Arrivals: v1beta1.ArrivalsEven, WarmUp: second, Duration: minute, Requests: 615}),
				step("5/s", 3, 150*time.Second, load{Rate: decimal("5"), RampTo: decimal("9"), Arrivals: v1beta1.ArrivalsPoisson, Duration: minute}),
				step("even", 4, 150*time.Second, load{Rate: decimal("5"), Arrivals: v1beta1.ArrivalsEven, Duration: minute, Requests: 300}),
			},
		},
		"a ladder warms up on each rung": {
			"{steps: [], ladder: {users: [1, 2], duration: 1s, warmUp: 3s}}",
			[]v1beta1.StepStatus{
				step("1", 1, 94*time.Second, load{Users: 1, WarmUp: duration(3 * time.Second), Duration: second}),
				step("2", 2, 94*time.Second, load{Users: 2, WarmUp: duration(3 * time.Second), Duration: second}),
			},
		},
		// Of the last two, users 0 and 1 send 12 requests each; of the other two, which take part for 9 s
		// and 3 s, the first is due 0.236 and 0.854 s after the beginning of a second.
		"ramps of users": {
			`{steps: [{name: 10 to 1000 users, users: 10, rampTo: "1000", duration: 1m}, {name: 10 to 1000 users (2), users: 10, rampTo: "1000", duration: 1m, think: {min: 2s, max: 2s}},
				{name: up, users: 2, rampTo: "4", ratePerUser: "1", duration: 12s}, {name: down, users: 4, rampTo: "2", ratePerUser: "1", duration: 12s}]}`,
			[]v1beta1.StepStatus{
				step("10 to 1000 users", 1, 150*time.Second, load{Users: 10, RampTo: decimal("1000"), Duration: minute}),
				step("10 to 1000 users (2)", 2, 150*time.Second, load{Users: 10, RampTo: decimal("1000"), Think: thinking, Duration: minute}),
				step("up", 3, 102*time.Second, load{Users: 2, RampTo: decimal("4"), RatePerUser: decimal("1"), Duration: duration(12 * time.Second), Requests: 36}),
				step("down", 4, 102*time.Second, load{Users: 4, RampTo: decimal("2"), RatePerUser: decimal("1"), Duration: duration(12 * time.Second), Requests: 36}),
			},
		},
		"users who think": {
			"{steps: [{name: 3 users, users: 3, think: {min: 1s, max: 3s}, duration: 1m}, {name: 3 users x 4, users: 3, think: {min: 2s, max: 2s}, requestsPerUser: 4}]}",
			[]v1beta1.StepStatus{
				step("3 users", 1, 150*time.Second, load{Users: 3, Think: v1beta1.NewThink(time.Second, 3*time.Second), Duration: minute}),
				step("3 users x 4", 2, 221*time.Second, load{Users: 3, Think: thinking, RequestsPerUser: 4, MaxDuration: duration(2*time.Minute + 6*time.Second + plan.BurstSlack), Requests: 12}),
			},
		},
		"a burst is bounded by an hour": {
			"{steps: [{name: long, users: 1, requestsPerUser: 1000000}]}",
			[]v1beta1.StepStatus{step("long", 1, time.Hour+90*time.Second, load{Users: 1, RequestsPerUser: 1_000_000, MaxDuration: duration(time.Hour), Requests: 1_000_000})},
		},
		"the largest load has its number of requests exactly": {
			`{steps: [{name: most, users: 1000, ratePerUser: "999999.999999", duration: 24h}]}`,
			[]v1beta1.StepStatus{
				step("most", 1, 24*time.Hour+90*time.Second, load{Users: 1000, RatePerUser: decimal("999999.999999"), Duration: duration(24 * time.Hour), Requests: 86_399_999_999_914}),
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { same.As(t, "steps", tc.want, plan.Steps(yamlSpec(t, tc.spec))) })
	}
}

// The longest ladder fits the bound that the API puts on status.steps, and the
// longest names fit the one on a step's name.
func TestStepsFitTheStatus(t *testing.T) {
	s := spec(func(s *v1beta1.LoadTestSpec) {
		s.Ladder = &v1beta1.Ladder{Duration: *duration(time.Second), Rest: duration(time.Second)}
		for range 64 {
			s.Ladder.Users = append(s.Ladder.Users, 1_000_000)
		}
	})
	same.As(t, "steps of a ladder of 64 rungs", 127, len(plan.Steps(s)))
	longest := v1beta1.Step{Users: ptr(int32(1_000_000)), RequestsPerUser: ptr(int32(1_000_000))}
	for _, step := range plan.Steps(withSteps(longest, longest)) {
		if len(step.Name) > 63 {
			t.Errorf("name %q has %d characters", step.Name, len(step.Name))
		}
	}
}

func TestKindsOfLoad(t *testing.T) {
	steps := plan.Steps(yamlSpec(t, `steps: [{name: rest, pause: 1s}, {name: a, users: 1, duration: 1s}, {name: b, users: 1, ratePerUser: 1, duration: 1s},
		{name: c, users: 1, requestsPerUser: 1}, {name: d, rate: 1, duration: 1s}]`))
	var got []string
	for _, s := range steps {
		kind := "load"
		switch {
		case s.Load.IsPause():
			kind = "pause"
		case s.Load.IsBurst():
			kind = "burst"
		case s.Load.IsScheduled():
			kind = "schedule"
		}
		got = append(got, kind)
	}
	same.As(t, "kinds", []string{"pause", "load", "schedule", "burst", "schedule"}, got)
}

func TestTimeout(t *testing.T) {
	for said, want := range map[time.Duration]time.Duration{time.Millisecond: time.Millisecond, 1: 1, 0: plan.DefaultTimeout, -time.Second: plan.DefaultTimeout} {
		s := withSteps()
		s.Target.Timeout = duration(said)
		if got := plan.TargetTimeout(&s.Target); got != want {
			t.Errorf("timeout %v is %v, want %v", said, got, want)
		}
	}
	same.As(t, "no timeout", plan.DefaultTimeout, plan.TargetTimeout(&withSteps().Target))
}

// A step waits at its end for the longest timeout of its requests, and a burst may take that
// for each.
func TestTimeoutOfARequest(t *testing.T) {
	s := withSteps(
		v1beta1.Step{Name: "paced", Users: ptr(int32(3)), RatePerUser: decimal("2"), Duration: duration(time.Minute)},
		v1beta1.Step{Name: "burst", Users: ptr(int32(3)), RequestsPerUser: ptr(int32(4))},
	)
	s.Target.Timeout = duration(2 * time.Second)
	s.Requests = []v1beta1.Request{{Name: "a"}, {Name: "b", Timeout: duration(7 * time.Second)}, {Name: "c", Timeout: duration(time.Second)}}
	for i, want := range []time.Duration{2 * time.Second, 7 * time.Second, time.Second} {
		same.As(t, "the timeout of request "+s.Requests[i].Name, want, plan.Timeout(s, &s.Requests[i]))
		same.As(t, "the longest of "+s.Requests[i].Name+" alone", want, plan.LongestTimeout(s, func(j int) bool { return i == j }))
	}
	same.As(t, "the longest of none", 2*time.Second, plan.LongestTimeout(s, func(int) bool { return false }))
	steps := plan.Steps(s)
	burst := 4*7*time.Second + plan.BurstSlack
	same.As(t, "time that the paced step may take", time.Minute+7*time.Second+plan.Grace, steps[0].TimeLimit.Duration)
	same.As(t, "time that the burst may take", burst, steps[1].Load.MaxDuration.Duration)
	lt := &v1beta1.LoadTest{Spec: *s}
	lt.Status.Workers.Desired = 1
	var sent []time.Duration
	for _, r := range plan.Assignments(lt)[0].GetRequests() {
		sent = append(sent, time.Duration(r.GetTimeoutNanos()))
	}
	same.As(t, "timeouts that workers are sent", []time.Duration{0, 7 * time.Second, time.Second}, sent)
}
