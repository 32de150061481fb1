package plan_test

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/testing/protocmp"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// asked are the questions of the last of several workers.
func asked(t *testing.T, spec *v1beta1.LoadTestSpec) []*workerv1.Request {
	t.Helper()
	list := assignments(t, spec)
	return list[len(list)-1].GetPreflight()
}

func TestPreflight(t *testing.T) {
	bearer := v1beta1.Header{Name: "Authorization", Value: ptr("Bearer x")}
	other := v1beta1.Header{Name: "AUTHORIZATION", Value: ptr("none")}
	tests := map[string]struct {
		target []v1beta1.Header
		asked  []v1beta1.Preflight
		want   []*workerv1.Request
	}{
		"nothing":                     {target: []v1beta1.Header{bearer}},
		"a question without anything": {asked: []v1beta1.Preflight{{}}, want: []*workerv1.Request{{Name: "GET /", Type: "Read", Weight: 1, Method: "GET", Path: "/"}}},
		"with the header of the target": {
			target: []v1beta1.Header{bearer},
			asked:  []v1beta1.Preflight{{HTTP: &v1beta1.Query{Path: "/version"}}},
			want: []*workerv1.Request{{
				Name: "GET /version", Type: "Read", Weight: 1, Method: "GET", Path: "/version",
				Headers: []*workerv1.Header{{Name: "Authorization", Value: "Bearer x"}},
			}},
		},
		"with its own in the place of it": {
			target: []v1beta1.Header{bearer},
			asked:  []v1beta1.Preflight{{HTTP: &v1beta1.Query{Headers: []v1beta1.Header{other}}}},
			want: []*workerv1.Request{{
				Name: "GET /", Type: "Read", Weight: 1, Method: "GET", Path: "/",
				Headers: []*workerv1.Header{{Name: "AUTHORIZATION", Value: "none"}},
			}},
		},
		"a call, with metadata in the place of the target's header": {
			target: []v1beta1.Header{bearer, {Name: "Content-Type", Value: ptr("text/plain")}},
			asked: []v1beta1.Preflight{{
				GRPC:   &v1beta1.Call{Method: "shop.v1.Shop/About", Metadata: []v1beta1.Header{other}},
				Expect: &v1beta1.Expectation{GRPCStatus: []v1beta1.GRPCStatus{"OK", "NOT_FOUND"}},
			}},
			want: []*workerv1.Request{{
				Name: "shop.v1.Shop/About", Type: "Call", Weight: 1, ExpectedStatus: []int32{0, 5},
				Call:    &workerv1.Call{Method: "shop.v1.Shop/About", Messages: [][]byte{[]byte("{}")}},
				Headers: []*workerv1.Header{{Name: "AUTHORIZATION", Value: "none"}},
			}},
		},
		"the health of a service, and of the target": {
			target: []v1beta1.Header{bearer},
			asked:  []v1beta1.Preflight{{GRPCHealth: &v1beta1.GRPCHealth{Service: "shop.v1.Shop"}}, {Name: "alive", GRPCHealth: &v1beta1.GRPCHealth{}}},
			want: []*workerv1.Request{
				{Name: "grpcHealth shop.v1.Shop", Type: "Call", Weight: 1, Headers: []*workerv1.Header{{Name: "Authorization", Value: "Bearer x"}},
					Call: &workerv1.Call{Method: "grpc.health.v1.Health/Check", Messages: [][]byte{[]byte(`{"service":"shop.v1.Shop"}`)}, Health: true}},
				{Name: "alive", Type: "Call", Weight: 1, Headers: []*workerv1.Header{{Name: "Authorization", Value: "Bearer x"}},
					Call: &workerv1.Call{Method: "grpc.health.v1.Health/Check", Messages: [][]byte{[]byte(`{"service":""}`)}, Health: true}},
			},
		},
		"two, in their order": {
			asked: []v1beta1.Preflight{
				{Name: "z", HTTP: &v1beta1.Query{Method: "POST", Path: "/z"}, Expect: &v1beta1.Expectation{Status: []int32{204}}},
				{Name: "a", HTTP: &v1beta1.Query{Path: "/a"}},
			},
			want: []*workerv1.Request{
				{Name: "z", Type: "Write", Weight: 1, Method: "POST", Path: "/z", ExpectedStatus: []int32{204}},
				{Name: "a", Type: "Read", Weight: 1, Method: "GET", Path: "/a"},
			},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			spec := oneUser()
			spec.Parallelism, spec.Target.Headers, spec.Preflight = ptr(int32(3)), tt.target, tt.asked
			same.As(t, "preflight", tt.want, asked(t, spec), protocmp.Transform())
		})
	}
}

func TestPreflightNames(t *testing.T) {
	spec := &v1beta1.LoadTestSpec{Preflight: []v1beta1.Preflight{
		{Name: "strategy"},
		{HTTP: &v1beta1.Query{Method: "HEAD", Path: "/health"}},
		{HTTP: &v1beta1.Query{Path: "/" + strings.Repeat("ä", 100)}},
		{GRPC: &v1beta1.Call{Method: "shop.v1.Shop/About"}},
		{GRPCHealth: &v1beta1.GRPCHealth{}},
		{GRPCHealth: &v1beta1.GRPCHealth{Service: strings.Repeat("x", 256)}},
	}}
	want := []string{"strategy", "HEAD /health", "GET /" + strings.Repeat("ä", 58), "shop.v1.Shop/About", "grpcHealth", "grpcHealth " + strings.Repeat("x", 52)}
	same.As(t, "names", want, plan.PreflightNames(spec.Preflight))
	if got := plan.PreflightNames(nil); len(got) != 0 {
		t.Errorf("without questions there are the names %v", got)
	}
}
