package local_test

import (
	"encoding/base64"
	"fmt"
	"maps"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/local"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

const calls = `{target: {url: TARGET, protocol: HTTP/2, grpc: {descriptorsFrom: {configMapKeyRef: {name: protos, key: test.binpb}}}}, parallelism: 2, requests: [
  {name: ok, weight: 3, grpc: {method: grpc.testing.TestService/UnaryCall, message: {payload: {body: YW5u}}}, expect: {json: [{path: .username, equals: ann}]}},
  {name: none, grpc: {method: grpc.testing.TestService/UnaryCall, message: {responseStatus: {code: "5", message: "user ${user}"}}}, expect: {grpcStatus: [NOT_FOUND]}},
  {name: full, grpc: {method: grpc.testing.TestService/UnaryCall, message: {responseStatus: {code: 8}}}}],
  steps: [{name: burst, users: 10, requestsPerUser: 20}], thresholds: [{types: [Call], metric: failureRate, max: 50%}]}`

// addDescriptors adds the ConfigMap of the descriptors.
func addDescriptors(t *testing.T, files *local.Objects, set []byte) {
	t.Helper()
	o := object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: protos}}")
	o.Object["binaryData"] = map[string]any{"test.binpb": base64.StdEncoding.EncodeToString(set)}
	if err := files.Add(o); err != nil {
		t.Fatal(err)
	}
}

// From the LoadTest to its status: what grpc-go has answered is what was counted.
func TestCallsAreCountedAsTheTargetCountsThem(t *testing.T) {
	s := workertest.ServeCalls(t)
	c := config(t)
	addDescriptors(t, c.Files, workertest.Descriptors(t))
	got, err := local.Run(t.Context(), loadTest(t, s.URL, calls), c)
	if err != nil {
		t.Fatal(err)
	}
	passes(t, got)
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

func TestDescriptorsThatAreNoneEndTheRun(t *testing.T) {
	s := workertest.ServeCalls(t)
	c := config(t)
	addDescriptors(t, c.Files, []byte(`syntax = "proto3";`))
	got, err := local.Run(t.Context(), loadTest(t, s.URL, calls), c)
	if err != nil {
		t.Fatal(err)
	}
	want := "test.binpb is no descriptor set of protobuf: it must be binary, as protoc --include_imports --descriptor_set_out writes it"
	if said := fmt.Sprint(got.Status.Conditions); got.Status.Verdict != "Error" || !strings.Contains(said, want) {
		t.Errorf("verdict %s, conditions %s\ndo not say %q", got.Status.Verdict, said, want)
	}
}
