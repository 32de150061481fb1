package plan_test

import (
	"testing"
	"time"

	"google.golang.org/protobuf/testing/protocmp"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// Think times reach the workers from each place that has them.
func TestThinkTimesAreAssigned(t *testing.T) {
	think := &workerv1.Think{ShortestNanos: 1_000_000_000, LongestNanos: 3_000_000_000}
	closed := &workerv1.Step{Load: &workerv1.Step_ClosedUsers{ClosedUsers: &workerv1.ClosedUsers{DurationNanos: 20_000_000_000, Think: think}}}
	burst := &workerv1.Step{Load: &workerv1.Step_Burst{Burst: &workerv1.Burst{RequestsPerUser: 2, LimitNanos: 68_000_000_000, Think: think}}}
	users, length := ptr(int32(5)), duration(20*time.Second)
	search := spec(func(s *v1beta1.LoadTestSpec) {
		s.Search = &v1beta1.Search{Users: &v1beta1.UsersRange{Min: 1, Max: 5}, Think: v1beta1.NewThink(time.Second, 3*time.Second), Duration: *length}
	})
	for name, tt := range map[string]struct {
		spec *v1beta1.LoadTestSpec
		want *workerv1.Step
	}{
		"a step":  {withSteps(v1beta1.Step{Name: "steady", Users: users, Think: v1beta1.NewThink(time.Second, 3*time.Second), Duration: length}), closed},
		"a burst": {withSteps(v1beta1.Step{Name: "steady", Users: users, Think: v1beta1.NewThink(time.Second, 3*time.Second), RequestsPerUser: ptr(int32(2))}), burst},
		"a ladder": {spec(func(s *v1beta1.LoadTestSpec) {
			s.Ladder = &v1beta1.Ladder{Users: []int32{5}, Think: v1beta1.NewThink(time.Second, 3*time.Second), Duration: *length}
		}), closed},
		"a search": {search, closed},
	} {
		t.Run(name, func(t *testing.T) {
			a := assignments(t, tt.spec)[0]
			steps := a.GetSteps()
			if largest := a.GetLargest(); largest != nil {
				steps = append(steps, largest)
			}
			for _, step := range steps {
				same.As(t, "load", tt.want, &workerv1.Step{Load: step.GetLoad()}, protocmp.Transform())
			}
		})
	}
	lt := accepted(t, search)
	probe := plan.Probe(&lt.Spec, &lt.Status, 3)
	if shortest, longest := probe[len(probe)-1].Load.Think.Range(); shortest != time.Second || longest != 3*time.Second {
		t.Errorf("the second probe of a search is %+v, want one with think times", probe)
	}
}
