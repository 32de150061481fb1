package main

import (
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/redistest"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/rpctest"
	ratelimiterv1 "github.com/loadtest-dev/loadtest-operator/targets/ratelimiter/grpc/v1"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// A client has one bucket over both protocols, and one counter.
func TestProtocolsShareBucketsAndCounters(t *testing.T) {
	s := start(t, "--redis-addr="+redistest.Start(t), "--strategy=lua-seconds", "--capacity=5",
		"--trusted-proxies=127.0.0.0/8", "--grpc-address=127.0.0.1:0")
	client := ratelimiterv1.NewRateLimiterServiceClient(rpctest.Dial(t, s.GRPC))
	ctx := metadata.AppendToOutgoingContext(t.Context(), "x-forwarded-for", "192.168.1.100")
	seen := map[any]int{}
	for range 4 {
		code, _ := get(t, s.URL+"/api", "192.168.1.100")
		_, err := client.Take(ctx, &ratelimiterv1.TakeRequest{})
		seen[code]++
		seen[status.Code(err)]++
	}
	want := map[any]int{200: 3, 429: 1, codes.OK: 2, codes.ResourceExhausted: 2}
	same.As(t, "replies by status", want, seen)
	_, page := get(t, s.URL+"/metrics", "")
	if granted, denied := counter(t, page, "granted"), counter(t, page, "denied"); granted != 5 || denied != 3 {
		t.Errorf("counted %d granted and %d denied, want 5 and 3", granted, denied)
	}
}

// The health service says what /ready says.
func TestHealthIsReadiness(t *testing.T) {
	for addr, want := range map[string]grpc_health_v1.HealthCheckResponse_ServingStatus{
		redistest.Start(t):      grpc_health_v1.HealthCheckResponse_SERVING,
		t.TempDir() + "/absent": grpc_health_v1.HealthCheckResponse_NOT_SERVING,
	} {
		s := start(t, "--redis-addr="+addr, "--grpc-address=127.0.0.1:0")
		got, err := grpc_health_v1.NewHealthClient(rpctest.Dial(t, s.GRPC)).Check(t.Context(),
			&grpc_health_v1.HealthCheckRequest{Service: "loadtest.ratelimiter.v1.RateLimiterService"})
		if err != nil || got.GetStatus() != want {
			t.Errorf("redis at %s: %v, %v, want %v", addr, got.GetStatus(), err, want)
		}
	}
}

func TestGRPCIsOffByDefault(t *testing.T) {
	same.As(t, "address of gRPC", "", start(t, "--redis-addr="+redistest.Start(t)).GRPC)
}
