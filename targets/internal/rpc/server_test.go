package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/apipb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/rpc"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/rpctest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// echo is a service without generated code: its request is a string, which it
// returns.
var echo = grpc.ServiceDesc{
	ServiceName: "test.Echo",
	Methods: []grpc.MethodDesc{{
		MethodName: "Echo",
		Handler: func(_ any, _ context.Context, read func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			request := &wrapperspb.StringValue{}
			if err := read(request); err != nil {
				return nil, err
			}
			return request, nil
		},
	}},
	Streams: []grpc.StreamDesc{{
		StreamName: "Twice", ServerStreams: true,
		Handler: func(_ any, s grpc.ServerStream) error {
			request := &wrapperspb.StringValue{}
			if err := s.RecvMsg(request); err != nil {
				return err
			}
			if err := s.SendMsg(request); err != nil {
				return err
			}
			return s.SendMsg(request)
		},
	}},
}

type seen struct {
	Method string
	Code   codes.Code
}

// start serves the echo, and records its calls.
func start(t *testing.T, ready func(context.Context) bool) (rpc.Server, *grpc.ClientConn, chan seen) {
	t.Helper()
	calls := make(chan seen, 10)
	around := func(ctx context.Context, method string, call func(context.Context) (any, error)) (any, error) {
		response, err := call(ctx)
		calls <- seen{method, status.Code(err)}
		return response, err
	}
	s := rpc.NewServer(rpc.Around(echo, around), nil, 100, ready)
	return s, rpctest.Serve(t, s), calls
}

func always(context.Context) bool { return true }

// Each request is seen once, also one that cannot be read.
func TestAroundSeesEveryRequest(t *testing.T) {
	_, conn, calls := start(t, always)
	tests := map[string]struct {
		request proto.Message
		want    codes.Code
	}{
		"an echo":      {wrapperspb.String("a"), codes.OK},
		"not a string": {&timestamppb.Timestamp{Seconds: 1}, codes.OK}, // another field: unknown, and left out
		"not UTF-8":    {wrapperspb.Bytes([]byte{0xff}), codes.InvalidArgument},
		"too large":    {wrapperspb.Bytes(make([]byte, 101)), codes.ResourceExhausted},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := conn.Invoke(t.Context(), "/test.Echo/Echo", tc.request, &wrapperspb.StringValue{})
			if status.Code(err) != tc.want {
				t.Errorf("unary: %v, want %v", err, tc.want)
			}
			same.As(t, "seen", seen{"Echo", tc.want}, <-calls)
			same.As(t, "stream", tc.want, twice(t, conn, tc.request))
			same.As(t, "seen", seen{"Twice", tc.want}, <-calls)
		})
	}
}

// twice is the code with which a stream ends.
func twice(t *testing.T, conn *grpc.ClientConn, request proto.Message) codes.Code {
	t.Helper()
	s, err := conn.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true}, "/test.Echo/Twice")
	must.Succeed(t, err)
	must.Succeed(t, s.SendMsg(request))
	must.Succeed(t, s.CloseSend())
	for range 2 {
		if err := s.RecvMsg(&wrapperspb.StringValue{}); err != nil {
			return status.Code(err)
		}
	}
	return codes.OK
}

// Health is that of the moment, and no while the server drains.
func TestHealth(t *testing.T) {
	var unwell atomic.Bool
	s, conn, _ := start(t, func(context.Context) bool { return !unwell.Load() })
	client := grpc_health_v1.NewHealthClient(conn)
	check := func(when, service string, want grpc_health_v1.HealthCheckResponse_ServingStatus) {
		t.Helper()
		got, err := client.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{Service: service})
		if err != nil || got.GetStatus() != want {
			t.Errorf("%s: %q is %v, %v, want %v", when, service, got.GetStatus(), err, want)
		}
	}
	for _, service := range []string{"", "test.Echo"} {
		check("well", service, grpc_health_v1.HealthCheckResponse_SERVING)
		unwell.Store(true)
		check("unwell", service, grpc_health_v1.HealthCheckResponse_NOT_SERVING)
		unwell.Store(false)
		check("well again", service, grpc_health_v1.HealthCheckResponse_SERVING)
	}
	_, err := client.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{Service: "test.Other"})
	if status.Code(err) != codes.NotFound {
		t.Errorf("another service: %v, want %v", err, codes.NotFound)
	}
	s.Drain()
	check("draining", "", grpc_health_v1.HealthCheckResponse_NOT_SERVING)
}

// A client that watches the health holds up no shutdown; one that is in the middle of
// a stream of the service gets the rest of it.
func TestGracefulStopWaitsForCallsAndNotForWatchers(t *testing.T) {
	s, conn, _ := start(t, always)
	watch, err := grpc_health_v1.NewHealthClient(conn).Watch(t.Context(), &grpc_health_v1.HealthCheckRequest{})
	must.Succeed(t, err)
	if _, err := watch.Recv(); err != nil {
		t.Fatal(err)
	}
	call, err := conn.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true}, "/test.Echo/Twice")
	must.Succeed(t, err)
	// The server has the call when it has answered one after it.
	must.Succeed(t, conn.Invoke(t.Context(), "/test.Echo/Echo", wrapperspb.String("a"), &wrapperspb.StringValue{}))
	stopped := make(chan struct{})
	go func() {
		s.GracefulStop()
		close(stopped)
	}()
	if _, err := watch.Recv(); err == nil {
		t.Error("the watcher is told of another state, and not of the end")
	}
	select {
	case <-stopped:
		t.Error("stopped before the call in flight was answered")
	default:
	}
	must.Succeed(t, errors.Join(call.SendMsg(wrapperspb.String("a")), call.CloseSend()))
	for range 2 {
		must.Report(t, "the call in flight", call.RecvMsg(&wrapperspb.StringValue{}))
	}
	<-stopped
}

func TestReflectionListsTheService(t *testing.T) {
	_, conn, _ := start(t, always)
	stream, err := grpc_reflection_v1.NewServerReflectionClient(conn).ServerReflectionInfo(t.Context())
	must.Succeed(t, err)
	if err := stream.Send(&grpc_reflection_v1.ServerReflectionRequest{
		MessageRequest: &grpc_reflection_v1.ServerReflectionRequest_ListServices{},
	}); err != nil {
		t.Fatal(err)
	}
	got, err := stream.Recv()
	must.Succeed(t, err)
	names := map[string]bool{}
	for _, s := range got.GetListServicesResponse().GetService() {
		names[s.GetName()] = true
	}
	if !names["test.Echo"] || !names["grpc.health.v1.Health"] {
		t.Errorf("services are %v, want test.Echo and grpc.health.v1.Health among them", names)
	}
}

// A set holds each file after its imports, so that it can be read as it is.
func TestDescriptorsAreComplete(t *testing.T) {
	var out bytes.Buffer
	// It imports two others, of which one imports the other and a third.
	must.Succeed(t, rpc.WriteDescriptors(&out, apipb.File_google_protobuf_api_proto))
	set := &descriptorpb.FileDescriptorSet{}
	must.Succeed(t, proto.Unmarshal(out.Bytes(), set))
	if len(set.File) != 4 {
		t.Errorf("%d files, want 4", len(set.File))
	}
	files, err := protodesc.NewFiles(set)
	must.Succeed(t, err)
	if _, err := files.FindDescriptorByName("google.protobuf.Api"); err != nil {
		t.Error(err)
	}
}
