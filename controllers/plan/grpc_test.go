package plan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

// calling is a LoadTest with a call.
func calling() *v1alpha1.LoadTest {
	lt := &v1alpha1.LoadTest{}
	lt.Namespace = "demo"
	lt.Spec.Target.Service = &v1alpha1.ServiceReference{Name: "shop"}
	lt.Spec.Target.Protocol = v1alpha1.ProtocolHTTP2
	lt.Spec.Target.GRPC = &v1alpha1.TargetGRPC{DescriptorsFrom: v1alpha1.KeySource{
		ConfigMapKeyRef: &v1alpha1.KeyReference{Name: "protos", Key: "shop.binpb"},
	}}
	lt.Spec.Target.Headers = []v1alpha1.Header{
		{Name: "Authorization", Value: ptr("a")}, {Name: "Content-Type", Value: ptr("b")}, {Name: "TE", Value: ptr("c")}, {Name: "x-user", Value: ptr("d")},
	}
	lt.Spec.Requests = []v1alpha1.Request{{GRPC: &v1alpha1.Call{
		Method: "shop.v1.Cart/Add", Message: &apiextensionsv1.JSON{Raw: []byte(`{"item": "${user}"}`)},
		Metadata: []v1alpha1.Header{
			{Name: "X-User", Value: ptr("e")},
			{Name: "x-key", ValueFrom: &v1alpha1.HeaderSource{SecretKeyRef: v1alpha1.KeyReference{Name: "keys", Key: "shop"}}},
		},
	}, Expect: &v1alpha1.Expectation{GRPCStatus: []v1alpha1.GRPCStatus{"OK", "NOT_FOUND"}}}}
	lt.Spec.Steps = []v1alpha1.Step{{Users: ptr(int32(1)), RequestsPerUser: ptr(int32(1))}}
	lt.Status.TargetURL = "http://shop.demo.svc:80"
	lt.Status.Workers.Desired = 1
	return lt
}

func TestCallIsAssignedWithItsFilesAndStatuses(t *testing.T) {
	lt := calling()
	want := []plan.File{{Name: "protos", Key: "shop.binpb"}, {Secret: true, Name: "keys", Key: "shop"}}
	if diff := cmp.Diff(want, plan.Files(&lt.Spec)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	a := plan.Assignments(lt)[0]
	if got := a.GetTarget().GetDescriptorsFile(); got != "/var/run/loadtest/configmaps/protos/shop.binpb" {
		t.Errorf("the descriptors are in %s", got)
	}
	r := a.GetRequests()[0]
	if r.GetCall().GetMethod() != "shop.v1.Cart/Add" || string(r.GetCall().GetMessage()) != `{"item": "${user}"}` || r.GetName() != "shop.v1.Cart/Add" || r.GetType() != "Call" {
		t.Errorf("the request is %v", r)
	}
	if diff := cmp.Diff([]int32{0, 5}, r.GetExpectedStatus()); diff != "" {
		t.Errorf("expected statuses (-want +got):\n%s", diff)
	}
	var headers []string
	for _, h := range r.GetHeaders() {
		headers = append(headers, h.GetName()+": "+h.GetValue()+h.GetValueFile())
	}
	if diff := cmp.Diff([]string{"Authorization: a", "X-User: e", "x-key: /var/run/loadtest/secrets/keys/shop"}, headers); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
	lt.Spec.Requests[0].GRPC.Message = nil
	if got := string(plan.Assignments(lt)[0].GetRequests()[0].GetCall().GetMessage()); got != "{}" {
		t.Errorf("no message is %s", got)
	}
	if len(lt.Spec.Target.Headers) != 4 {
		t.Error("the spec was changed")
	}
}

func TestEveryStatusOfTheAPIIsAssigned(t *testing.T) {
	lt := calling()
	names := strings.Split("OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED "+
		"FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED", " ")
	lt.Spec.Requests[0].Expect.GRPCStatus = nil
	var want []int32
	for i, name := range names {
		lt.Spec.Requests[0].Expect.GRPCStatus = append(lt.Spec.Requests[0].Expect.GRPCStatus, v1alpha1.GRPCStatus(name))
		want = append(want, int32(i))
	}
	if diff := cmp.Diff(want, plan.Assignments(lt)[0].GetRequests()[0].GetExpectedStatus()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMessageThatIsTooLongIsRefused(t *testing.T) {
	lt := calling()
	lt.Spec.Requests[0].GRPC.Message.Raw = []byte(`{"item": "` + strings.Repeat("x", 64<<10) + `"}`)
	_, refusal := plan.New(lt, policy.Rules{})
	if want := "spec.requests[0].grpc.message: must have at most 65536 bytes."; refusal == nil || refusal.Message != want {
		t.Errorf("%v, want %s", refusal, want)
	}
}
