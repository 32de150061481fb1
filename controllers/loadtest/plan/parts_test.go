package plan_test

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// assignedTo is what the only worker of a spec is assigned.
func assignedTo(t *testing.T, fields string) *workerv1.Assignment {
	t.Helper()
	return assignments(t, yamlSpec(t, fields))[0]
}

// Each part of a spec reaches the workers.
func TestPartsOfASpecAreAssigned(t *testing.T) {
	a := assignedTo(t, `{target: {url: "http://a", http2: {connections: 3}}, requests: [{name: look, http: {}}, {name: home, http: {path: /}}], journeys: [
		{name: a, weight: 3, steps: [{request: look, capture: {x: .x, z: .z}}, {think: {min: 1s, max: 1s}}]}, {name: b, steps: [{request: look}]}]}`)
	same.As(t, "connections and streams", []int32{3, 0}, []int32{a.GetTarget().GetHttp2Connections(), a.GetTarget().GetHttp2Streams()})
	same.As(t, "weights of journeys", []int32{3, 1}, []int32{a.GetJourneys()[0].GetWeight(), a.GetJourneys()[1].GetWeight()})
	same.As(t, "captured", map[string]string{"x": ".x", "z": ".z"}, a.GetJourneys()[0].GetSteps()[0].GetCapture())
	same.As(t, "weight of a request without a name beside journeys", 1, a.GetRequests()[1].GetWeight())
	if a.GetLargest() != nil {
		t.Errorf("the largest step is %v without a search", a.GetLargest())
	}
	found := assignedTo(t, "{steps: [], search: {users: {min: 1, max: 20}, duration: 1s}}").GetLargest()
	if found.GetTotal() != 20 {
		t.Errorf("the largest step of a search is %v", found)
	}
	same.As(t, "workers for 7500 users of a search", 3, planned(t, yamlSpec(t, "{steps: [], search: {users: {min: 1, max: 7500}, duration: 1s}}")).Workers)
	audit := assignedTo(t, `{requests: [{name: a, http: {}}], audits: [{name: x, stored: {read: {grpc: {method: a.B/C}}, value: .n, requests: [a]}}]}`).GetAudits()[0]
	if audit.GetRead().GetCall().GetMethod() != "a.B/C" {
		t.Errorf("the audit is %v", audit)
	}
}

// Headers that follow from a call are not those of a target. A control alone may need them.
func TestHeadersOfACallAreItsOwn(t *testing.T) {
	const headers = `headers: [{name: grpc-timeout, value: "1"}, {name: x, value: "2"}]`
	a := assignedTo(t, "{requests: [{name: c, grpc: {method: a.B/C}}], target: {url: 'http://a', "+headers+"}}")
	if h := a.GetRequests()[0].GetHeaders(); len(h) != 1 || h[0].GetName() != "x" {
		t.Errorf("headers %v", h)
	}
	a = assignedTo(t, "{otherTargets: [{name: b, url: 'http://b', "+headers+"}], versus: {target: b, preflight: [{grpc: {method: a.B/C}}]}}")
	if h := a.GetControl().GetTarget().GetReflectionHeaders(); len(h) != 1 || h[0].GetName() != "x" {
		t.Errorf("the control is asked for its services with %v", h)
	}
}

// Only the two together make a comparison.
func TestControlIsOfTheSpecAndTheStatus(t *testing.T) {
	lt := accepted(t, yamlSpec(t, "{otherTargets: [{name: b, url: 'http://b'}], versus: {target: b}}"))
	with := proto.Size(plan.Assignments(lt)[0].GetControl())
	noStatus, noSpec := lt.DeepCopy(), lt.DeepCopy()
	noStatus.Status.Versus, noSpec.Spec.Versus = nil, nil
	if with == 0 || plan.Assignments(noStatus)[0].GetControl() != nil || plan.Assignments(noSpec)[0].GetControl() != nil {
		t.Error("there is a control without a comparison in the spec and the status, or none with it")
	}
	if got := plan.ControlPreflight(&noSpec.Spec); got != nil {
		t.Errorf("a control that is not there is asked %v", got)
	}
	lt.Status.Internal.Access, lt.Status.Internal.ControlAccess = &v1beta1.TargetAccess{Name: "a.b.svc."}, nil
	if got := plan.Assignments(lt)[0]; got.GetTarget().GetName() != "a.b.svc." || got.GetControl().GetTarget().GetName() != "" {
		t.Errorf("targets are resolved as %q and %q", got.GetTarget().GetName(), got.GetControl().GetTarget().GetName())
	}
}

func TestAliasesNeedAPort(t *testing.T) {
	for _, at := range []string{"http://shortener", "http://a b:80"} {
		lt := replay("")
		lt.Status.TargetURL = at
		if got := plan.Assignments(lt)[0].GetTarget().GetAliases(); got != nil {
			t.Errorf("aliases of %s: %v", at, got)
		}
	}
}

// What is as short, or as slow, as can be is planned.
func TestLeastOfALoad(t *testing.T) {
	steps := plan.Steps(yamlSpec(t, `steps: [{name: 1 users, users: 1, ratePerUser: "0.000001", warmUp: 1ns, duration: 1s}, {name: 1 to 2 users, users: 1, rampTo: 2, ratePerUser: 1, duration: 10s},
		{name: 1 to 1000001 users, users: 1, rampTo: 1000001, ratePerUser: 1, duration: 10s}]`))
	if l := steps[0].Load; l.WarmUp == nil || plan.MostPerSecond(&l) != 0.000001 {
		t.Errorf("the shortest warm-up is %v", l.WarmUp)
	}
	slow := plan.Steps(yamlSpec(t, `steps: [{name: 1 users, users: 1, ratePerUser: "0.000001", duration: 1s}]`))[0].Load
	if slow.Requests != 1 || steps[1].Load.Requests == 0 || steps[2].Load.Requests != 0 {
		t.Errorf("planned are %d, %d and %d requests, want 1, some, and a number that is not known", slow.Requests, steps[1].Load.Requests, steps[2].Load.Requests)
	}
	rested := plan.Steps(yamlSpec(t, "{steps: [], ladder: {users: [1, 2], duration: 1s, rest: 1ns}}"))
	if len(rested) != 3 || rested[1].Load.Pause.Duration != time.Nanosecond {
		t.Errorf("a rest of 1 ns: %+v", rested)
	}
}

func TestWhatIsAllowedIsSaidWhereThereIsAny(t *testing.T) {
	lt := loadTest(yamlSpec(t, "worker: {image: evil.example/miner}"))
	_, refusal := plan.New(lt, policy.Default().For("demo"))
	if refusal == nil || !strings.Contains(refusal.Message, "leave it out to use the image of the release, or ask the administrator") {
		t.Errorf("refused: %v", refusal)
	}
}
