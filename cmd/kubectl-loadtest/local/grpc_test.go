package local_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/local"
	"github.com/loadtest-dev/loadtest-operator/loadworker/message"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

const calls = `{target: {url: TARGET, protocol: HTTP/2, grpc: {descriptorsFrom: {configMap: {name: protos, key: test.binpb}}}}, parallelism: 2, requests: [
  {name: ok, weight: 3, grpc: {method: grpc.testing.TestService/UnaryCall, message: {payload: {body: YW5u}}}, expect: {json: [{path: .username, equals: ann}]}},
  {name: none, grpc: {method: grpc.testing.TestService/UnaryCall, message: {responseStatus: {code: "5", message: "user ${user}"}}}, expect: {grpcStatus: [NOT_FOUND]}},
  {name: full, grpc: {method: grpc.testing.TestService/UnaryCall, message: {responseStatus: {code: 8}}}}],
  steps: [{name: burst, users: 10, requestsPerUser: 20}], thresholds: [{types: [Call], metric: failureRate, max: 50%}]}`

// addDescriptors adds the ConfigMap of the descriptors.
func addDescriptors(t *testing.T, files *local.Objects, set []byte) {
	t.Helper()
	o := object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: protos}}")
	o.Object["binaryData"] = map[string]any{"test.binpb": base64.StdEncoding.EncodeToString(set)}
	must.Succeed(t, files.Add(o))
}

// From the LoadTest to its status: what grpc-go has answered is what was counted.
func TestCallsAreCountedAsTheTargetCountsThem(t *testing.T) {
	s := workertest.ServeCalls(t)
	c := config(t)
	addDescriptors(t, c.Files, workertest.Descriptors(t))
	got := carryOut(t, loadTest(t, s.URL, calls), c)
	isCarriedOut(t, got)
	r := got.Status.Steps[0].Result
	counted := map[codes.Code]int64{}
	for _, code := range r.StatusCodes {
		counted[codes.Code(code.Code)] = code.Count
	}
	if want := (map[codes.Code]int64{codes.OK: 120, codes.NotFound: 40, codes.ResourceExhausted: 40}); !maps.Equal(counted, want) || !maps.Equal(s.Statuses(), want) {
		t.Errorf("counted %v, the target %v, want %v", counted, s.Statuses(), want)
	}
	if r.Outcomes.Success != 160 || r.Outcomes.RateLimited != 40 || r.Types[0].Name != "Call" {
		t.Errorf("outcomes %+v of type %s", r.Outcomes, r.Types[0].Name)
	}
}

// Without target.grpc each worker asks the target, and the status says for what.
func TestCallsByReflectionAreCountedAsTheTargetCountsThem(t *testing.T) {
	s := workertest.ServeCalls(t)
	spec := strings.Replace(calls, ", grpc: {descriptorsFrom: {configMap: {name: protos, key: test.binpb}}}", "", 1)
	got := carryOut(t, loadTest(t, s.URL, spec), config(t))
	isCarriedOut(t, got)
	if want := (map[codes.Code]int64{codes.OK: 120, codes.NotFound: 40, codes.ResourceExhausted: 40}); !maps.Equal(s.Statuses(), want) {
		t.Errorf("the target counts %v, want %v", s.Statuses(), want)
	}
	given, err := message.Read(workertest.Descriptors(t))
	must.Succeed(t, err)
	if got.Status.Descriptors != given.Digest() {
		t.Errorf("descriptors %s, want %s as of what the target was built from", got.Status.Descriptors, given.Digest())
	}
}

func TestTargetWithoutReflectionEndsTheRun(t *testing.T) {
	s := workertest.Serve(t, http.NotFound, func(s *httptest.Server) {
		s.Config.Protocols = &http.Protocols{}
		s.Config.Protocols.SetUnencryptedHTTP2(true)
		s.Start()
	})
	spec := strings.Replace(calls, "grpc: {descriptorsFrom: {configMap: {name: protos, key: test.binpb}}}", "grpc: {}", 1)
	got := carryOut(t, loadTest(t, s.URL, spec), config(t))
	want := "target.grpc: the target has no reflection (UNIMPLEMENTED): give target.grpc.descriptorsFrom, or register reflection in the server"
	if said := fmt.Sprint(got.Status.Conditions); got.Status.Verdict != "Error" || !strings.Contains(said, want) {
		t.Errorf("verdict %s, conditions %s\ndo not say %q", got.Status.Verdict, said, want)
	}
}

func TestDescriptorsThatAreNoneEndTheRun(t *testing.T) {
	s := workertest.ServeCalls(t)
	c := config(t)
	addDescriptors(t, c.Files, []byte(`syntax = "proto3";`))
	got := carryOut(t, loadTest(t, s.URL, calls), c)
	want := "test.binpb of ConfigMap protos is not a descriptor set of protobuf: it must be binary, as protoc --include_imports --descriptor_set_out writes it"
	if said := fmt.Sprint(got.Status.Conditions); got.Status.Verdict != "Error" || !strings.Contains(said, want) {
		t.Errorf("verdict %s, conditions %s\ndo not say %q", got.Status.Verdict, said, want)
	}
}

// callsBefore has calls in everything that is sent before the load, in a journey, and in an
// audit.
const callsBefore = `{target: {url: TARGET, protocol: HTTP/2, grpc: {descriptorsFrom: {configMap: {name: protos, key: test.binpb}}}}, parallelism: 2,
  preflight: [{grpcHealth: {}}, {grpc: {method: grpc.testing.TestService/UnaryCall, message: {payload: {body: bHVh}}}, expect: {json: [{path: .username, equals: lua}]}}],
  requests: [
    {name: login, weight: 0, grpc: {method: grpc.testing.TestService/UnaryCall, message: {payload: {body: "YW5u"}}}},
    {name: buy, weight: 0, grpc: {method: grpc.testing.TestService/UnaryCall, message: {responseStatus: {code: 5, message: "${who} ${account}"}}}, expect: {grpcStatus: [NOT_FOUND]}}],
  setup: {fill: {request: login, count: 6, capture: {account: .username}}, warmUp: {request: login, duration: 10ms}},
  journeys: [{name: shop, steps: [{request: login, capture: {who: .username}}, {request: buy, times: 2}]}],
  audits: [{name: same, stored: {read: {grpc: {method: grpc.testing.TestService/UnaryCall, message: {payload: {body: "Nw=="}}}}, value: .username, requests: [login, buy], stableFor: 0s, maxWait: 1s}}],
  steps: [{name: burst, users: 4, requestsPerUser: 9}], thresholds: [{metric: failureRate, max: 1%}]}`

// A run of calls alone: the target is verified by its health service and a call, filled and
// warmed up by calls, and its journeys carry values of one reply to the next call.
func TestCallsBeforeTheLoadAndInJourneys(t *testing.T) {
	s := workertest.ServeCalls(t)
	said := make(chan string, 1000)
	s.Handle = func(_ context.Context, r *grpc_testing.SimpleRequest) (*grpc_testing.SimpleResponse, error) {
		if c := r.GetResponseStatus(); c.GetCode() != 0 {
			said <- c.GetMessage()
			return nil, status.Error(codes.Code(c.GetCode()), "")
		}
		return &grpc_testing.SimpleResponse{Username: string(r.GetPayload().GetBody())}, nil
	}
	c := config(t)
	addDescriptors(t, c.Files, workertest.Descriptors(t))
	got := carryOut(t, loadTest(t, s.URL, callsBefore), c)
	verified := meta.FindStatusCondition(got.Status.Conditions, v1beta1.ConditionTargetVerified)
	if want := "grpcHealth is SERVING; grpc.testing.TestService/UnaryCall has .username lua."; verified == nil || verified.Message != want {
		t.Errorf("TargetVerified is %v, want %q", verified, want)
	}
	r := got.Status.Steps[0].Result
	if j := r.Journeys[0]; j.Completed != 12 || j.Failed != 0 || r.Sent != 36 || r.Failed != 0 {
		t.Errorf("%d journeys completed, %d failed, of %d requests %d failed: %v; want 12, 0, 36, 0", j.Completed, j.Failed, r.Sent, r.Failed, r.Requests)
	}
	if len(said) != 24 {
		t.Errorf("%d calls of the journeys' end, want 24", len(said))
	}
	for range len(said) {
		if got := <-said; got != "ann ann" {
			t.Errorf("a call has the captured values %q, want those of the journey and of the setup", got)
		}
	}
	// The number is read by a call, of a target that stores nothing of what it acknowledges. NOT_FOUND, which the
	// calls of the journeys' end expect, acknowledges nothing.
	if a := got.Status.Audits[0]; a.Before == nil || *a.Before != 7 || a.After == nil || *a.After != 7 || a.Acknowledged != 12 {
		t.Errorf("the audit is %+v, want 7 before and after, and 12 acknowledged", a)
	}
}
