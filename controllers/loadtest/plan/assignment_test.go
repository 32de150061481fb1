package plan_test

import (
	"slices"
	"testing"
	"testing/quick"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func loadTest(spec *v1beta1.LoadTestSpec) *v1beta1.LoadTest {
	return &v1beta1.LoadTest{ObjectMeta: metav1.ObjectMeta{Name: "hello", Namespace: "demo", UID: "5e1f"}, Spec: *spec}
}

// planned is the plan of a spec, whatever its target.
func planned(t *testing.T, spec *v1beta1.LoadTestSpec) plan.Plan {
	t.Helper()
	p, refusal := plan.New(loadTest(spec), policy.Everything())
	if refusal != nil {
		t.Fatalf("refused: %v", refusal)
	}
	return p
}

// accepted is a LoadTest of a spec with its plan in status.
func accepted(t *testing.T, spec *v1beta1.LoadTestSpec) *v1beta1.LoadTest {
	t.Helper()
	return acceptedUnder(t, policy.Everything(), spec)
}

func acceptedUnder(t *testing.T, rules policy.Rules, spec *v1beta1.LoadTestSpec) *v1beta1.LoadTest {
	t.Helper()
	lt := loadTest(spec)
	p, refusal := plan.New(lt, rules)
	if refusal != nil {
		t.Fatalf("refused: %v", refusal)
	}
	p.Record(&lt.Status)
	return lt
}

// refusalOf is why a LoadTest is refused, and nothing of one that is accepted.
func refusalOf(lt *v1beta1.LoadTest, rules policy.Rules) string {
	_, refusal := plan.New(lt, rules)
	if refusal == nil {
		return ""
	}
	return refusal.Message
}

func assignments(t *testing.T, spec *v1beta1.LoadTestSpec) []*workerv1.Assignment {
	t.Helper()
	return plan.Assignments(accepted(t, spec))
}

func TestWorkers(t *testing.T) {
	for name, tc := range map[string]struct {
		spec string
		want int32
	}{
		"at least one":                       {"{steps: [], ladder: {users: [1], duration: 1s}}", 1},
		"up to 2500 users":                   {"{steps: [], ladder: {users: [10, 2500], duration: 1s}}", 1},
		"more than 2500 users":               {"{steps: [], ladder: {users: [2501, 10], duration: 1s}}", 2},
		"the users of a repetition":          {"{steps: [], ladder: {users: [10, 5000], duration: 1s, rest: 1s}, repetitions: 8}", 2},
		"the rate when it gives more":        {"{steps: [], ladder: {users: [1000], ratePerUser: 10, duration: 1s}}", 4},
		"the users when they give more":      {"{steps: [], ladder: {users: [10000], ratePerUser: '0.1', duration: 1s}}", 4},
		"arrivals":                           {"steps: [{name: a, rate: '2500.000001', duration: 1s}]", 2},
		"the end of a ramp up":               {"steps: [{name: a, rate: 1, rampTo: 7500, duration: 1s}]", 3},
		"the end of a ramp of users":         {"steps: [{name: a, users: 1, rampTo: 7500, duration: 1s}]", 3},
		"the start of one down":              {"steps: [{name: a, users: 7500, rampTo: 1, duration: 1s}]", 3},
		"the rate of a ramp of users":        {"steps: [{name: a, users: 1, rampTo: 750, ratePerUser: 10, duration: 1s}]", 3},
		"the start of a ramp down":           {"steps: [{name: a, rate: 7500, rampTo: 1, duration: 1s}]", 3},
		"never more than the API allows":     {"steps: [{name: a, rate: 999999999, duration: 1s}]", 1000},
		"at least one, whatever a file says": {"{parallelism: 0, steps: [{name: a, users: 1, requestsPerUser: 1}]}", 1},
		"as the user says":                   {"{parallelism: 8, steps: [{name: a, users: 1, requestsPerUser: 1}]}", 8},
	} {
		t.Run(name, func(t *testing.T) { same.As(t, "workers", tc.want, planned(t, yamlSpec(t, tc.spec)).Workers) })
	}
}

func TestAssignmentOfAFullSpec(t *testing.T) {
	s := yamlSpec(t, `
target: {service: {name: ratelimiter, port: 8080, scheme: https}, timeout: 5s, headers: [{name: Accept, value: "*/*"}, {name: x-tenant, value: a}]}
requests: [{name: hit, type: Check, weight: 3, expect: {status: [200, 429]},
  http: {method: POST, path: /api, body: "{}", headers: [{name: X-Tenant, value: b}, {name: X-Forwarded-For, value: "192.0.2.${user}"}]}}]
steps: [{name: 50 users x 4, users: 50, requestsPerUser: 4}, {name: rest, pause: 1s}, {name: 5/s, rate: 5, duration: 3s},
  {name: 3 users, users: 3, ratePerUser: "0.5", duration: 1m}, {name: 1 users, users: 1, duration: 1m}]
audits: [{name: contract, rateLimit: {capacity: 50, refillPerSecond: 10, clientHeader: X-Forwarded-For}}]
parallelism: 4`)
	want := &workerv1.Assignment{
		Run: "5e1f", Worker: 1, Workers: 4,
		Target: &workerv1.Target{Url: "https://ratelimiter.demo.svc:8080", TimeoutNanos: 5_000_000_000, Protocol: workerv1.Protocol_PROTOCOL_HTTP1},
		Requests: []*workerv1.Request{{
			Name: "hit", Type: "Check", Weight: 3, Method: "POST", Path: "/api",
			Headers: []*workerv1.Header{{Name: "Accept", Value: "*/*"}, {Name: "X-Tenant", Value: "b"}, {Name: "X-Forwarded-For", Value: "192.0.2.${user}"}},
			Body:    []byte("{}"), ExpectedStatus: []int32{200, 429},
		}},
		// What remains has a minute of grace and 5 s of drain for each step, and the pause.
		Steps: []*workerv1.Step{
			{Index: 0, Total: 50, RemainingNanos: 409_000_000_000, Share: &workerv1.Share{First: 1, Stride: 4, Count: 13},
				Load: &workerv1.Step_Burst{Burst: &workerv1.Burst{RequestsPerUser: 4, LimitNanos: 25_000_000_000}}},
			{Index: 2, Total: 15, RemainingNanos: 318_000_000_000, Share: &workerv1.Share{First: 1, Stride: 4, Count: 4},
				Load: &workerv1.Step_Arrivals{Arrivals: &workerv1.Arrivals{TotalRateMicros: 5_000_000, DurationNanos: 3_000_000_000}}},
			{Index: 3, Total: 3, RemainingNanos: 250_000_000_000, Share: &workerv1.Share{First: 1, Stride: 4, Count: 1},
				Load: &workerv1.Step_PacedUsers{PacedUsers: &workerv1.PacedUsers{TotalRateMicros: 1_500_000, DurationNanos: 60_000_000_000}}},
			{Index: 4, Total: 1, RemainingNanos: 125_000_000_000, Share: &workerv1.Share{First: 1, Stride: 4, Count: 0},
				Load: &workerv1.Step_ClosedUsers{ClosedUsers: &workerv1.ClosedUsers{DurationNanos: 60_000_000_000}}},
		},
		ClientHeader: "X-Forwarded-For",
	}
	list := assignments(t, s)
	if len(list) != 4 {
		t.Fatalf("%d assignments, want 4", len(list))
	}
	same.As(t, "assignment of worker 1", want, list[1], protocmp.Transform(), protocmp.IgnoreFields(&workerv1.Assignment{}, "seed"))
}

func TestAssignmentAppliesDefaults(t *testing.T) {
	s := yamlSpec(t, `{target: {service: {name: shortener}}, requests: [{name: home, http: {}}, {name: urls, http: {method: POST, path: /urls}, weight: 0}, {name: probe, http: {method: HEAD}}],
		data: [{name: silent, format: CSV}, {name: said, format: CSV, choice: Uniform}]}`)
	a := assignments(t, s)[0]
	same.As(t, "target", &workerv1.Target{Url: "http://shortener.demo.svc:80", TimeoutNanos: 30_000_000_000, Protocol: workerv1.Protocol_PROTOCOL_HTTP1}, a.GetTarget(), protocmp.Transform())
	want := []*workerv1.Request{
		{Name: "home", Type: "Read", Weight: 1, Method: "GET", Path: "/"},
		{Name: "urls", Type: "Write", Method: "POST", Path: "/urls"},
		{Name: "probe", Type: "Read", Weight: 1, Method: "HEAD", Path: "/"},
	}
	same.As(t, "requests", want, a.GetRequests(), protocmp.Transform())
	names := []v1beta1.RequestStatus{{Name: "home", Type: "Read"}, {Name: "urls", Type: "Write"}, {Name: "probe", Type: "Read"}}
	same.As(t, "names", names, plan.RequestNames(s))
	for _, d := range a.GetData() {
		if d.GetChoice() != workerv1.DataChoice_DATA_CHOICE_UNIFORM {
			t.Errorf("rows of %s are chosen by %s, want uniformly", d.GetName(), d.GetChoice())
		}
	}
	same.As(t, "client header without a rate limit", "", a.GetClientHeader())
}

// Every number below total belongs to exactly one worker.
func TestSharesPartitionTheTotal(t *testing.T) {
	property := func(users uint16, parallelism uint8) bool {
		total, workers := int32(users%5000)+1, int32(parallelism%100)+1
		s := withSteps(v1beta1.Step{Name: "steady", Users: &total, Duration: duration(time.Second)})
		s.Parallelism = &workers
		list := assignments(t, s)
		if len(list) != int(workers) {
			return false
		}
		owners := make([]int, total)
		for _, a := range list {
			share := a.GetSteps()[0].GetShare()
			for k := range share.GetCount() {
				number := share.GetFirst() + k*share.GetStride()
				if number >= int64(total) {
					return false
				}
				owners[number]++
			}
		}
		return !slices.ContainsFunc(owners, func(n int) bool { return n != 1 })
	}
	if err := quick.Check(property, nil); err != nil {
		t.Error(err)
	}
}

func TestSharesOfManyHitsAddUp(t *testing.T) {
	property := func(hits uint32, parallelism uint16) bool {
		workers := int32(parallelism%workerv1.MaxWorkers) + 1
		rate := v1beta1.NewDecimal("1000000")
		s := withSteps(v1beta1.Step{Name: "steady", Rate: &rate, Duration: duration(time.Duration(hits)*time.Microsecond + time.Microsecond)})
		s.Parallelism = &workers
		list := assignments(t, s)
		var sum int64
		for _, a := range list {
			sum += a.GetSteps()[0].GetShare().GetCount()
		}
		return sum == int64(hits)+1 && sum == list[0].GetSteps()[0].GetTotal()
	}
	if err := quick.Check(property, nil); err != nil {
		t.Error(err)
	}
}

func TestAssignmentsAreDeterministic(t *testing.T) {
	s := withSteps(v1beta1.Step{Name: "7 users", Users: ptr(int32(7)), Duration: duration(time.Second)})
	s.Parallelism = ptr(int32(3))
	first, second := assignments(t, s), assignments(t, s.DeepCopy())
	for i := range first {
		if !proto.Equal(first[i], second[i]) {
			t.Errorf("worker %d is planned differently the second time", i)
		}
		if first[i].GetSeed() != first[0].GetSeed() {
			t.Errorf("worker %d has a seed of its own", i)
		}
	}
	other := accepted(t, s)
	other.UID = "another"
	list := plan.Assignments(other)
	if list[0].GetSeed() == first[0].GetSeed() {
		t.Error("two runs have the same seed")
	}
	other.Spec.RandomSeed = ptr(int64(0))
	list = plan.Assignments(other)
	same.As(t, "the seed", 0, list[2].GetSeed())
}

// The plan is that of status, whatever the spec would be expanded to now.
func TestAssignmentsFollowTheStatus(t *testing.T) {
	lt := accepted(t, withSteps(v1beta1.Step{Name: "7 users", Users: ptr(int32(7)), Duration: duration(time.Second)}))
	lt.Status.Workers.Desired = 2
	lt.Status.Steps = append(lt.Status.Steps, v1beta1.StepStatus{Load: v1beta1.StepLoad{Users: 5, RequestsPerUser: 2, MaxDuration: duration(time.Minute)}})
	want := []*workerv1.Step{
		{Index: 0, Total: 7, RemainingNanos: 91_000_000_000, Share: &workerv1.Share{First: 1, Stride: 2, Count: 3},
			Load: &workerv1.Step_ClosedUsers{ClosedUsers: &workerv1.ClosedUsers{DurationNanos: 1_000_000_000}}},
		{Index: 1, Total: 5, Share: &workerv1.Share{First: 1, Stride: 2, Count: 2},
			Load: &workerv1.Step_Burst{Burst: &workerv1.Burst{RequestsPerUser: 2, LimitNanos: 60_000_000_000}}},
	}
	list := plan.Assignments(lt)
	if len(list) != 2 || list[1].GetWorkers() != 2 {
		t.Fatalf("%d assignments, of %d workers, want 2", len(list), list[0].GetWorkers())
	}
	same.As(t, "steps of worker 1", want, list[1].GetSteps(), protocmp.Transform())
}

func TestAssignmentOfARampOfUsers(t *testing.T) {
	step := v1beta1.Step{Users: ptr(int32(7)), RampTo: decimal("3"), Think: v1beta1.NewThink(time.Second, 3*time.Second), Duration: duration(20 * time.Second), WarmUp: duration(time.Second)}
	s := withSteps(step)
	s.Parallelism = ptr(int32(2))
	want := &workerv1.Step{
		Total: 7, Share: &workerv1.Share{First: 1, Stride: 2, Count: 3}, WarmUpNanos: 1_000_000_000, RemainingNanos: 111_000_000_000,
		Load: &workerv1.Step_RampedUsers{RampedUsers: &workerv1.RampedUsers{
			From: 7, To: 3, DurationNanos: 20_000_000_000, Think: &workerv1.Think{ShortestNanos: 1_000_000_000, LongestNanos: 3_000_000_000},
		}},
	}
	same.As(t, "step of worker 1", want, assignments(t, s)[1].GetSteps()[0], protocmp.Transform())
	s.Steps[0].Think, s.Steps[0].RatePerUser = nil, decimal("0.5")
	if got := assignments(t, s)[1].GetSteps()[0].GetRampedUsers(); got.GetRatePerUserMicros() != 500_000 || got.GetThink() != nil {
		t.Errorf("a ramp with a rate is assigned as %v", got)
	}
}

// Think times reach the workers from each place that has them.
func TestThinkTimesAreAssigned(t *testing.T) {
	think := &workerv1.Think{ShortestNanos: 1_000_000_000, LongestNanos: 3_000_000_000}
	closed := &workerv1.Step{Load: &workerv1.Step_ClosedUsers{ClosedUsers: &workerv1.ClosedUsers{DurationNanos: 20_000_000_000, Think: think}}}
	burst := &workerv1.Step{Load: &workerv1.Step_Burst{Burst: &workerv1.Burst{RequestsPerUser: 2, LimitNanos: 68_000_000_000, Think: think}}}
	const search = "{steps: [], search: {users: {min: 1, max: 5}, think: {min: 1s, max: 3s}, duration: 20s}}"
	for spec, want := range map[string]*workerv1.Step{
		"steps: [{name: steady, users: 5, think: {min: 1s, max: 3s}, duration: 20s}]":      closed,
		"steps: [{name: steady, users: 5, think: {min: 1s, max: 3s}, requestsPerUser: 2}]": burst,
		"{steps: [], ladder: {users: [5], think: {min: 1s, max: 3s}, duration: 20s}}":      closed,
		search: closed,
	} {
		a := assignedTo(t, spec)
		steps := a.GetSteps()
		if largest := a.GetLargest(); largest != nil {
			steps = append(steps, largest)
		}
		for _, step := range steps {
			same.As(t, "load of "+spec, want, &workerv1.Step{Load: step.GetLoad()}, protocmp.Transform())
		}
	}
	lt := accepted(t, yamlSpec(t, search))
	probe := plan.Probe(&lt.Spec, &lt.Status, 3)
	if shortest, longest := probe[len(probe)-1].Load.Think.Range(); shortest != time.Second || longest != 3*time.Second {
		t.Errorf("the second probe of a search is %+v, want one with think times", probe)
	}
}
