package groundtruth

import (
	"context"
	"fmt"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// overCalls runs a test over each protocol that carries calls, with grpc-go as the client.
func overCalls(t *testing.T, c Config, test func(t *testing.T, s *Server, call func(number int) codes.Code)) {
	t.Helper()
	for name, protocol := range map[string]Protocol{"TLS": HTTP2, "prior knowledge": H2C} {
		t.Run(name, func(t *testing.T) {
			c := c
			c.Protocol = protocol
			s := start(t, c)
			secured := insecure.NewCredentials()
			if protocol.isSecure() {
				secured = credentials.NewClientTLSFromCert(s.authorities(t), "")
			}
			conn, err := grpc.NewClient(s.Address(), grpc.WithTransportCredentials(secured), grpc.WithDisableRetry())
			must.Succeed(t, err)
			t.Cleanup(func() { _ = conn.Close() })
			ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
			t.Cleanup(cancel)
			test(t, s, func(number int) codes.Code {
				reply, err := healthpb.NewHealthClient(conn).Check(metadata.AppendToOutgoingContext(ctx, NumberHeader, fmt.Sprint(number)), &healthpb.HealthCheckRequest{})
				if err == nil && len(reply.ProtoReflect().GetUnknown()) != defaultBody {
					t.Errorf("the reply is %v", reply)
				}
				return status.Code(err)
			})
		})
	}
}

// What the server answers is what grpc-go makes of it.
func TestRepliesToCalls(t *testing.T) {
	for text, want := range map[string]codes.Code{
		"grpc:0:64": codes.OK, "grpc:5:0": codes.NotFound, "grpc:14:64": codes.Unavailable,
		"grpccut:64": codes.Internal, "grpcunended:64": codes.Unknown, "ok:64": codes.Unknown, "status:503:0": codes.Unavailable,
		"frame:reset-cancel": codes.Canceled, "frame:uppercase": codes.Internal,
	} {
		t.Run(text, func(t *testing.T) {
			reply, err := ParseReply(text)
			must.Succeed(t, err)
			routes := map[string]Route{healthpb.Health_ServiceDesc.ServiceName: {Reply: reply}}
			overCalls(t, Config{Routes: routes, Record: 2}, func(t *testing.T, s *Server, call func(int) codes.Code) {
				for number := range 2 {
					same.As(t, fmt.Sprintf("call %d is answered", number), want, call(number))
				}
				got := until(t, s, func(c Counters) bool { return c.Requests == 2 && c.InFlight == 0 })
				if got.Routes[healthpb.Health_ServiceDesc.ServiceName] != 2 {
					t.Errorf("counters %+v, want 2 calls of the service", got)
				}
				for i, r := range s.Records() {
					if r.Number != int64(i) {
						t.Errorf("record %d is %+v", i, r)
					}
				}
			})
		})
	}
}
