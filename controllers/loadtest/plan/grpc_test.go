package plan_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// calling is a LoadTest with a call.
func calling(t *testing.T) *v1beta1.LoadTest {
	t.Helper()
	lt := &v1beta1.LoadTest{Spec: *yamlSpec(t, `
target: {service: {name: shop}, protocol: HTTP/2, grpc: {descriptorsFrom: {configMap: {name: protos, key: shop.binpb}}},
  headers: [{name: Authorization, value: a}, {name: Content-Type, value: b}, {name: TE, value: c}, {name: x-user, value: d}]}
requests: [{name: home, expect: {grpcStatus: [OK, NOT_FOUND]}, grpc: {method: shop.v1.Cart/Add,
  metadata: [{name: X-User, value: e}, {name: x-key, valueFrom: {secret: {name: keys, key: shop}}}]}}]
steps: [{name: 1 users x 1, users: 1, requestsPerUser: 1}]`)}
	lt.Spec.Requests[0].GRPC.Message = &apiextensionsv1.JSON{Raw: []byte(`{"item": "${user}"}`)}
	lt.Namespace = "demo"
	lt.Status.TargetURL, lt.Status.Workers.Desired = "http://shop.demo.svc:80", 1
	return lt
}

func TestCallIsAssignedWithItsFilesAndStatuses(t *testing.T) {
	lt := calling(t)
	want := []plan.File{{Kind: plan.InConfigMap, Name: "protos", Key: "shop.binpb"}, {Kind: plan.InSecret, Name: "keys", Key: "shop"}}
	same.As(t, "files", want, plan.Files(&lt.Spec))
	a := plan.Assignments(lt)[0]
	same.As(t, "file of the descriptors", "/var/run/loadtest/configmaps/protos/shop.binpb", a.GetTarget().GetDescriptorsFile())
	r := a.GetRequests()[0]
	if r.GetCall().GetMethod() != "shop.v1.Cart/Add" || messagesIn(r) != `{"item": "${user}"}` || r.GetName() != "home" || r.GetType() != "Call" {
		t.Errorf("the request is %v", r)
	}
	same.As(t, "expected statuses", []int32{0, 5}, r.GetExpectedStatus())
	var headers []string
	for _, h := range r.GetHeaders() {
		headers = append(headers, h.GetName()+": "+h.GetValue()+h.GetValueFile())
	}
	same.As(t, "metadata", []string{"Authorization: a", "X-User: e", "x-key: /var/run/loadtest/secrets/keys/shop"}, headers)
	lt.Spec.Requests[0].GRPC.Message = nil
	same.As(t, "no message", "{}", messagesIn(plan.Assignments(lt)[0].GetRequests()[0]))
	same.As(t, "headers of the spec, which must not change", 4, len(lt.Spec.Target.Headers))
}

// messagesIn are the messages of a request that is assigned.
func messagesIn(r *workerv1.Request) string {
	return string(bytes.Join(r.GetCall().GetMessages(), []byte(" ")))
}

func TestStreamIsAssignedWithItsMessagesAndReplies(t *testing.T) {
	values := []v1beta1.ExpectedValue{{Path: ".a", Equals: apiextensionsv1.JSON{Raw: []byte("1")}}}
	tests := map[string]struct {
		expect   v1beta1.Expectation
		min, max int64
	}{
		"any number":                       {v1beta1.Expectation{}, 0, 0},
		"values, which some reply has":     {v1beta1.Expectation{JSON: values}, 1, 0},
		"values, which none needs to have": {v1beta1.Expectation{JSON: values, Replies: &v1beta1.ReplyRange{Min: ptr(int64(0)), Max: ptr(int64(9))}}, 0, 9},
		"a number":                         {v1beta1.Expectation{Replies: &v1beta1.ReplyRange{Min: ptr(int64(3))}}, 3, 0},
		"a largest number":                 {v1beta1.Expectation{JSON: values, Replies: &v1beta1.ReplyRange{Max: ptr(int64(9))}}, 1, 9},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			lt := calling(t)
			lt.Spec.Requests[0].Expect = &tt.expect
			call := lt.Spec.Requests[0].GRPC
			call.Message, call.Compression = nil, v1beta1.CompressionGzip
			call.Messages = []apiextensionsv1.JSON{{Raw: []byte(`{"a": 1}`)}, {Raw: []byte(`{"a": "${user}"}`)}}
			r := plan.Assignments(lt)[0].GetRequests()[0]
			if got, want := messagesIn(r), `{"a": 1} {"a": "${user}"}`; got != want || !r.GetCall().GetGzip() {
				t.Errorf("messages %s, gzip %v; want %s in gzip", got, r.GetCall().GetGzip(), want)
			}
			if r.GetMinReplies() != tt.min || r.GetMaxReplies() != tt.max {
				t.Errorf("%d to %d replies, want %d to %d", r.GetMinReplies(), r.GetMaxReplies(), tt.min, tt.max)
			}
		})
	}
}

// Nothing is mounted then, and the target is asked as it is called.
func TestDescriptorsThatAreNotGivenAreOfTheTarget(t *testing.T) {
	lt := calling(t)
	lt.Spec.Target.Headers = append(lt.Spec.Target.Headers, v1beta1.Header{
		Name: "x-key", ValueFrom: &v1beta1.HeaderSource{Prefix: "p ", Secret: v1beta1.KeyReference{Name: "keys", Key: "shop"}},
	})
	lt.Spec.Requests[0].GRPC.Metadata = nil
	given := plan.Assignments(lt)[0].GetTarget()
	if len(given.GetReflectionHeaders()) != 0 {
		t.Errorf("given descriptors are asked for, with %v", given.GetReflectionHeaders())
	}
	for name, grpc := range map[string]*v1beta1.TargetGRPC{"no target.grpc": nil, "an empty one": {}} {
		lt.Spec.Target.GRPC = grpc
		target := plan.Assignments(lt)[0].GetTarget()
		var headers []string
		for _, h := range target.GetReflectionHeaders() {
			headers = append(headers, h.GetName()+": "+h.GetValue()+h.GetValueFile())
		}
		if diff := cmp.Diff([]string{"Authorization: a", "x-user: d", "x-key: p /var/run/loadtest/secrets/keys/shop"}, headers); diff != "" || target.GetDescriptorsFile() != "" {
			t.Errorf("%s: descriptors in %q, headers (-want +got):\n%s", name, target.GetDescriptorsFile(), diff)
		}
		same.As(t, name+": files", []plan.File{{Kind: plan.InSecret, Name: "keys", Key: "shop"}}, plan.Files(&lt.Spec))
	}
	lt.Spec.Requests = []v1beta1.Request{{Name: "home", HTTP: &v1beta1.HTTPRequest{Path: "/"}}}
	if h := plan.Assignments(lt)[0].GetTarget().GetReflectionHeaders(); len(h) != 0 {
		t.Errorf("without calls the target is asked, with %v", h)
	}
}

// Of a comparison, each target may be asked by other questions.
func TestCallsToEachTargetNeedItsDescriptors(t *testing.T) {
	call, http := &v1beta1.Call{Method: "a.B/C"}, &v1beta1.Query{}
	calls, asks := []v1beta1.Request{{Name: "home", HTTP: &v1beta1.HTTPRequest{Path: "/"}}, {Name: "home-2", GRPC: call}}, []v1beta1.Preflight{{GRPC: call}}
	health := []v1beta1.Preflight{{GRPCHealth: &v1beta1.GRPCHealth{}}, {HTTP: http}}
	for name, tt := range map[string]struct {
		spec              v1beta1.LoadTestSpec
		toTarget, toOther bool
	}{
		"none":                   {v1beta1.LoadTestSpec{Requests: calls[:1], Preflight: health, Audits: []v1beta1.Audit{{Stored: &v1beta1.Stored{Read: v1beta1.Reading{HTTP: http}}}, {}}}, false, false},
		"of the mix":             {v1beta1.LoadTestSpec{Requests: calls}, true, false},
		"of a preflight":         {v1beta1.LoadTestSpec{Preflight: asks}, true, false},
		"of an audit":            {v1beta1.LoadTestSpec{Audits: []v1beta1.Audit{{Stored: &v1beta1.Stored{Read: v1beta1.Reading{GRPC: call}}}}}, true, false},
		"of the mix, to both":    {v1beta1.LoadTestSpec{Requests: calls, Versus: &v1beta1.Versus{}}, true, true},
		"of a preflight of both": {v1beta1.LoadTestSpec{Preflight: asks, Versus: &v1beta1.Versus{}}, true, true},
		"of the target's":        {v1beta1.LoadTestSpec{Preflight: asks, Versus: &v1beta1.Versus{Preflight: health}}, true, false},
		"of the control's":       {v1beta1.LoadTestSpec{Preflight: health, Versus: &v1beta1.Versus{Preflight: asks}}, false, true},
	} {
		if target, other := plan.HasCalls(&tt.spec); target != tt.toTarget || other != tt.toOther {
			t.Errorf("%s: %v to the target, %v to the control; want %v, %v", name, target, other, tt.toTarget, tt.toOther)
		}
	}
}

func TestEveryStatusOfTheAPIIsAssigned(t *testing.T) {
	lt := calling(t)
	names := strings.Split("OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED "+
		"FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED", " ")
	lt.Spec.Requests[0].Expect.GRPCStatus = nil
	var want []int32
	for i, name := range names {
		lt.Spec.Requests[0].Expect.GRPCStatus = append(lt.Spec.Requests[0].Expect.GRPCStatus, v1beta1.GRPCStatus(name))
		want = append(want, int32(i))
	}
	same.As(t, "expected statuses", want, plan.Assignments(lt)[0].GetRequests()[0].GetExpectedStatus())
}

func TestMessageThatIsTooLongIsRefused(t *testing.T) {
	long := &v1beta1.Call{Method: "shop.v1.Cart/Add", Message: &apiextensionsv1.JSON{Raw: []byte(`{"item": "` + strings.Repeat("x", 64<<10) + `"}`)}}
	just := &v1beta1.Call{Method: long.Method, Message: &apiextensionsv1.JSON{Raw: []byte(`"` + strings.Repeat("x", 64<<10-2) + `"`)}}
	for field, set := range map[string]func(*v1beta1.LoadTestSpec){
		"audits[2].stored.read": func(s *v1beta1.LoadTestSpec) {
			s.Audits = []v1beta1.Audit{{Stored: &v1beta1.Stored{Read: v1beta1.Reading{HTTP: &v1beta1.Query{}}}}, {Stored: &v1beta1.Stored{Read: v1beta1.Reading{GRPC: just}}}, {Stored: &v1beta1.Stored{Read: v1beta1.Reading{GRPC: long}}}}
		},
		"requests[0]":  func(s *v1beta1.LoadTestSpec) { s.Requests[0].GRPC = long },
		"preflight[1]": func(s *v1beta1.LoadTestSpec) { s.Preflight = []v1beta1.Preflight{{}, {GRPC: long}} },
		"audits[1].stored.read": func(s *v1beta1.LoadTestSpec) {
			s.Audits = []v1beta1.Audit{{RateLimit: &v1beta1.RateLimit{}}, {Stored: &v1beta1.Stored{Read: v1beta1.Reading{GRPC: long}}}}
		},
		"versus.preflight[0]": func(s *v1beta1.LoadTestSpec) {
			s.Versus = &v1beta1.Versus{Preflight: []v1beta1.Preflight{{GRPC: long}}}
		},
	} {
		lt := calling(t)
		set(&lt.Spec)
		same.As(t, "refusal", "spec."+field+".grpc.message: must have at most 65536 bytes.", refusalOf(lt, policy.Rules{}))
	}
}

func TestMessagesThatAreTooLongTogetherAreRefused(t *testing.T) {
	lt := calling(t)
	call := lt.Spec.Requests[0].GRPC
	call.Message = nil
	for range 3 {
		call.Messages = append(call.Messages, apiextensionsv1.JSON{Raw: []byte(`{"item": "` + strings.Repeat("x", 22<<10) + `"}`)})
	}
	same.As(t, "refusal", "spec.requests[0].grpc.messages: must together have at most 65536 bytes.", refusalOf(lt, policy.Rules{}))
}

// The secrets of a question's metadata are mounted, as those of its headers are.
func TestQuestionIsAssignedWithItsFiles(t *testing.T) {
	lt := calling(t)
	lt.Spec.Requests[0].GRPC.Metadata = nil
	key := v1beta1.Header{Name: "x-key", ValueFrom: &v1beta1.HeaderSource{Secret: v1beta1.KeyReference{Name: "keys", Key: "ask"}}}
	lt.Spec.Preflight = []v1beta1.Preflight{{GRPC: &v1beta1.Call{Method: "shop.v1.Shop/About", Metadata: []v1beta1.Header{key}}}}
	want := []plan.File{{Kind: plan.InConfigMap, Name: "protos", Key: "shop.binpb"}, {Kind: plan.InSecret, Name: "keys", Key: "ask"}}
	same.As(t, "files", want, plan.Files(&lt.Spec))
	if got := plan.Assignments(lt)[0].GetPreflight()[0].GetHeaders(); len(got) != 3 || got[2].GetValueFile() != "/var/run/loadtest/secrets/keys/ask" {
		t.Errorf("metadata %v, want two headers of the target and the key", got)
	}
}
