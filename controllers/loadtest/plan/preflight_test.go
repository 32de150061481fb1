package plan_test

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/testing/protocmp"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestPreflight(t *testing.T) {
	const bearer, other = `{name: Authorization, value: Bearer x}`, `{name: AUTHORIZATION, value: none}`
	authorized, own := []*workerv1.Header{{Name: "Authorization", Value: "Bearer x"}}, []*workerv1.Header{{Name: "AUTHORIZATION", Value: "none"}}
	health := func(name, of string) *workerv1.Request {
		call := &workerv1.Call{Method: "grpc.health.v1.Health/Check", Messages: [][]byte{[]byte(`{"service":"` + of + `"}`)}, Health: true}
		return &workerv1.Request{Name: name, Type: "Call", Weight: 1, Headers: authorized, Call: call}
	}
	for name, tt := range map[string]struct {
		headers, asked string // of the target, and the questions
		want           []*workerv1.Request
	}{
		"nothing":                     {bearer, "", nil},
		"a question without anything": {"", "{}", []*workerv1.Request{{Name: "GET /", Type: "Read", Weight: 1, Method: "GET", Path: "/"}}},
		"with the header of the target": {bearer, "{http: {path: /version}}",
			[]*workerv1.Request{{Name: "GET /version", Type: "Read", Weight: 1, Method: "GET", Path: "/version", Headers: authorized}}},
		"with its own in the place of it": {bearer, "{http: {headers: [" + other + "]}}",
			[]*workerv1.Request{{Name: "GET /", Type: "Read", Weight: 1, Method: "GET", Path: "/", Headers: own}}},
		"a call, with metadata in the place of the target's header": {
			bearer + ", {name: Content-Type, value: text/plain}", "{grpc: {method: shop.v1.Shop/About, metadata: [" + other + "]}, expect: {grpcStatus: [OK, NOT_FOUND]}}",
			[]*workerv1.Request{{
				Name: "shop.v1.Shop/About", Type: "Call", Weight: 1, ExpectedStatus: []int32{0, 5}, Headers: own,
				Call: &workerv1.Call{Method: "shop.v1.Shop/About", Messages: [][]byte{[]byte("{}")}},
			}},
		},
		"the health of a service, and of the target": {bearer, "{grpcHealth: {service: shop.v1.Shop}}, {name: alive, grpcHealth: {}}",
			[]*workerv1.Request{health("grpcHealth shop.v1.Shop", "shop.v1.Shop"), health("alive", "")}},
		"two, in their order": {
			"", "{name: z, http: {method: POST, path: /z}, expect: {status: [204]}}, {name: a, http: {path: /a}}",
			[]*workerv1.Request{
				{Name: "z", Type: "Write", Weight: 1, Method: "POST", Path: "/z", ExpectedStatus: []int32{204}},
				{Name: "a", Type: "Read", Weight: 1, Method: "GET", Path: "/a"},
			},
		},
	} {
		t.Run(name, func(t *testing.T) { // of the last of several workers
			list := assignments(t, yamlSpec(t, "{parallelism: 3, target: {url: 'http://a', headers: ["+tt.headers+"]}, preflight: ["+tt.asked+"]}"))
			same.As(t, "preflight", tt.want, list[2].GetPreflight(), protocmp.Transform())
		})
	}
}

func TestPreflightNames(t *testing.T) {
	asked := yamlSpec(t, `preflight: [{name: strategy}, {http: {method: HEAD, path: /health}}, {http: {path: /`+strings.Repeat("ä", 100)+`}},
		{grpc: {method: shop.v1.Shop/About}}, {grpcHealth: {}}, {grpcHealth: {service: `+strings.Repeat("x", 256)+`}}]`).Preflight
	want := []string{"strategy", "HEAD /health", "GET /" + strings.Repeat("ä", 58), "shop.v1.Shop/About", "grpcHealth", "grpcHealth " + strings.Repeat("x", 52)}
	same.As(t, "names", want, plan.PreflightNames(asked))
	if got := plan.PreflightNames(nil); len(got) != 0 {
		t.Errorf("without questions there are the names %v", got)
	}
}
