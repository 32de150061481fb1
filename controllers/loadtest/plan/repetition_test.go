package plan_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/quick"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func repeated(times int32, s *v1beta1.LoadTestSpec) *v1beta1.LoadTestSpec {
	s.Repetitions = times
	return s
}

// rungs is a ladder, with a rest of 1s or none.
func rungs(rest bool, users ...int32) *v1beta1.LoadTestSpec {
	return spec(func(s *v1beta1.LoadTestSpec) {
		s.Ladder = &v1beta1.Ladder{Users: users, Duration: *duration(2 * time.Second)}
		if rest {
			s.Ladder.Rest = duration(time.Second)
		}
	})
}

func TestRepetitions(t *testing.T) {
	const limit = 92 * time.Second // 2s, a drain of 30s, and 60s of grace
	users := func(n int32) v1beta1.StepLoad { return v1beta1.StepLoad{Users: n, Duration: duration(2 * time.Second)} }
	five := v1beta1.StepLoad{Users: 5, RequestsPerUser: 4, MaxDuration: duration(125 * time.Second), Requests: 20}
	even := v1beta1.StepLoad{Rate: decimal("5"), Arrivals: v1beta1.ArrivalsEven, Duration: duration(2 * time.Second), Requests: 10}
	tests := map[string]struct {
		spec *v1beta1.LoadTestSpec
		want []v1beta1.StepStatus
	}{
		"one is as none": {spec: repeated(1, rungs(true, 10, 20)),
			want: []v1beta1.StepStatus{step("10", 1, limit, users(10)), pause("rest", 2, time.Second), step("20", 3, limit, users(20))}},
		"a ladder rests between its repetitions, not after the last": {
			spec: repeated(2, rungs(true, 10, 20)),
			want: []v1beta1.StepStatus{
				of(1, step("10", 1, limit, users(10))), of(1, pause("rest", 2, time.Second)), of(1, step("20", 3, limit, users(20))),
				of(1, pause("rest", 4, time.Second)),
				of(2, step("10 (2)", 1, limit, users(10))), of(2, pause("rest", 2, time.Second)), of(2, step("20 (2)", 3, limit, users(20))),
			},
		},
		"a ladder without rest": {
			spec: repeated(3, rungs(false, 10)),
			want: []v1beta1.StepStatus{of(1, step("10", 1, limit, users(10))), of(2, step("10 (2)", 1, limit, users(10))), of(3, step("10 (3)", 1, limit, users(10)))},
		},
		"a burst, a pause and arrivals": {
			spec: repeated(2, withSteps(
				v1beta1.Step{Name: "5 users x 4", Users: ptr(int32(5)), RequestsPerUser: ptr(int32(4))},
				v1beta1.Step{Name: "rest", Pause: duration(time.Second)},
				v1beta1.Step{Name: "even", Rate: decimal("5"), Duration: duration(2 * time.Second)},
			)),
			want: []v1beta1.StepStatus{
				of(1, step("5 users x 4", 1, 215*time.Second, five)), of(1, pause("rest", 2, time.Second)), of(1, step("even", 3, limit, even)),
				of(2, step("5 users x 4 (2)", 1, 215*time.Second, five)), of(2, pause("rest (2)", 2, time.Second)), of(2, step("even (2)", 3, limit, even)),
			},
		},
		"of nothing":                             {spec: repeated(2, withSteps()), want: []v1beta1.StepStatus{}},
		"of nothing, very often":                 {spec: repeated(1<<31-1, withSteps()), want: []v1beta1.StepStatus{}},
		"of a ladder that is empty, with a rest": {spec: repeated(1<<31-1, rungs(true)), want: nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { same.As(t, "steps", tc.want, plan.Steps(tc.spec)) })
	}
}

func TestNamesOfRepetitions(t *testing.T) {
	long := strings.Repeat("ü", 63)
	users := func(name string) v1beta1.Step {
		return v1beta1.Step{Name: name, Users: ptr(int32(7)), Duration: duration(time.Second)}
	}
	tests := map[string]struct {
		spec *v1beta1.LoadTestSpec
		want []string
	}{
		"the user's own number":             {repeated(2, withSteps(users("x"), users("x (2)"))), []string{"x", "x (2)", "x (3)", "x (2) (2)"}},
		"the user's own number comes first": {repeated(2, withSteps(users("x (2)"), users("x"))), []string{"x (2)", "x", "x (2) (2)", "x (3)"}},
		"a rung that comes twice":           {repeated(2, rungs(false, 5, 5)), []string{"5", "5 (2)", "5 (3)", "5 (2) (2)"}},
		"names that would grow too long are cut": {repeated(2, withSteps(users(long), users(long[:2*59]), users(long[:2*59]+" (2)"))),
			[]string{long, long[:2*59], long[:2*59] + " (2)", long[:2*59] + " (3)", long[:2*59] + " (4)", long[:2*59] + " (5)"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, s := range plan.Steps(tc.spec) {
				got = append(got, s.Name)
			}
			same.As(t, "names", tc.want, got)
		})
	}
}

// Whatever is repeated, and how often: the steps of a repetition are those of the
// first but for their names, which are unique and fit the API.
func TestEveryRepetitionIsAsTheFirst(t *testing.T) {
	property := func(lengths []uint8, count uint8, pauses bool) bool {
		s := repeated(int32(count%8)+1, withSteps())
		given := map[string]bool{}
		for i, n := range lengths[:min(len(lengths), 8)] {
			step := v1beta1.Step{Name: strings.Repeat("x", int(n%63)+1), Users: ptr(int32(n) + 1), Duration: duration(time.Second)}
			if pauses && i%2 == 1 {
				step.Users, step.Duration, step.Pause = nil, nil, duration(time.Second)
			}
			if given[step.Name] {
				step.Name = fmt.Sprint(i) // as the API requires
			}
			given[step.Name] = true
			s.Steps = append(s.Steps, step)
		}
		steps, names := plan.Steps(s), map[string]bool{}
		for i, step := range steps {
			first := steps[i%len(s.Steps)]
			if names[step.Name] || step.Name == "" || utf8.RuneCountInString(step.Name) > 63 {
				return false
			}
			names[step.Name] = true
			first.Name, first.Repetition = step.Name, step.Repetition
			if !cmp.Equal(first, step) {
				return false
			}
		}
		return len(steps) == len(s.Steps)*int(s.Repetitions)
	}
	if err := quick.Check(property, nil); err != nil {
		t.Error(err)
	}
}

func TestMoreStepsThanAStatusHolds(t *testing.T) {
	explicit := func(n int) *v1beta1.LoadTestSpec {
		s := withSteps()
		for i := range n {
			s.Steps = append(s.Steps, v1beta1.Step{Name: fmt.Sprint(i), Users: ptr(int32(1)), Duration: duration(time.Second)})
		}
		return s
	}
	many := func(n int) []int32 { return make([]int32, n) }
	tests := map[string]struct {
		spec *v1beta1.LoadTestSpec
		want string
	}{
		"as many as fit": {repeated(2, explicit(64)), ""},
		"one too many": {repeated(3, explicit(43)),
			"spec.repetitions: 3 repetitions of 43 steps are 129 steps, pauses included; at most 128 are possible: lower repetitions to 2, or use fewer steps."},
		"a ladder that fits without its rests": {repeated(32, rungs(false, 1, 2, 3, 4)), ""},
		"a ladder with as many rests as fit":   {repeated(16, rungs(true, 1, 2, 3, 4)), ""},
		"a ladder with too many rests": {
			repeated(32, rungs(true, 1, 2, 3, 4)),
			"spec.repetitions: 32 repetitions of 7 steps and the rests between them are 255 steps, pauses included; at most 128 are possible: lower repetitions to 16, or use fewer steps.",
		},
		"the longest ladder": {
			repeated(2, rungs(true, many(64)...)),
			"spec.repetitions: 2 repetitions of 127 steps and the rests between them are 255 steps, pauses included; at most 128 are possible: lower repetitions to 1, or use fewer steps.",
		},
		"more than any computer can count out": {
			repeated(2_147_483_647, explicit(128)),
			"spec.repetitions: 2147483647 repetitions of 128 steps are 274877906816 steps, pauses included; at most 128 are possible: lower repetitions to 1, or use fewer steps.",
		},
		"too many for one repetition": {explicit(129), "spec: 129 steps are too many; at most 128 are possible, pauses included."},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			if _, refusal := plan.New(loadTest(tc.spec), policy.Rules{}); refusal != nil {
				got = refusal.Message
				same.As(t, "reason", v1beta1.ReasonInvalidSpec, refusal.Reason)
			}
			same.As(t, "refusal", tc.want, got)
		})
	}
}

// Only an object without the schema's defaults has fewer than one.
func TestFewerThanOneRepetition(t *testing.T) {
	for _, n := range []int32{-1, 0, 1} {
		if got := plan.Repetitions(repeated(n, withSteps())); got != 1 {
			t.Errorf("repetitions %d count as %d, want 1", n, got)
		}
	}
}
