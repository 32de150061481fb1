package workertest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	_ "google.golang.org/grpc/encoding/gzip" // registers it
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// The methods that Calls serves.
const (
	UnaryCall           = "grpc.testing.TestService/UnaryCall"
	StreamingOutputCall = "grpc.testing.TestService/StreamingOutputCall"
	StreamingInputCall  = "grpc.testing.TestService/StreamingInputCall"
	FullDuplexCall      = "grpc.testing.TestService/FullDuplexCall"
)

// Descriptors is a descriptor set of the service of Calls.
func Descriptors(t testing.TB) []byte {
	t.Helper()
	set, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: withImports(nil, grpc_testing.File_grpc_testing_test_proto)})
	must.Succeed(t, err)
	return set
}

// withImports adds a file behind those that it imports.
func withImports(list []*descriptorpb.FileDescriptorProto, f protoreflect.FileDescriptor) []*descriptorpb.FileDescriptorProto {
	for i := range f.Imports().Len() {
		list = withImports(list, f.Imports().Get(i))
	}
	for _, known := range list {
		if known.GetName() == f.Path() {
			return list
		}
	}
	return append(list, protodesc.ToFileDescriptorProto(f))
}

// Calls is a target of grpc-go, which counts its calls by the status with which it answers
// them: that of response_status. UnaryCall replies with the payload of the request, the
// others as their interop test has it. It reads gzip, and answers it by gzip.
// It has reflection.
type Calls struct {
	grpc_testing.UnimplementedTestServiceServer
	URL    string
	Server *grpc.Server
	// Health is its health service, which says SERVING of the target as a whole.
	Health *health.Server
	// Handle answers a call; nil: as above.
	Handle func(context.Context, *grpc_testing.SimpleRequest) (*grpc_testing.SimpleResponse, error)

	// HandleStream answers StreamingOutputCall; nil: with a reply for each of
	// response_parameters, whose body is of the letter a, b, …
	HandleStream func(*grpc_testing.StreamingOutputCallRequest, grpc.ServerStreamingServer[grpc_testing.StreamingOutputCallResponse]) error

	mu       sync.Mutex
	statuses map[codes.Code]int64
	metadata []metadata.MD
	messages int64 // of StreamingInputCall and FullDuplexCall
}

// ServeCalls starts a target, by the options of grpc-go.
func ServeCalls(t testing.TB, options ...grpc.ServerOption) *Calls {
	t.Helper()
	c := &Calls{Server: grpc.NewServer(options...), Health: health.NewServer(), statuses: map[codes.Code]int64{}}
	grpc_testing.RegisterTestServiceServer(c.Server, c)
	grpc_health_v1.RegisterHealthServer(c.Server, c.Health)
	reflection.Register(c.Server)
	c.URL = "http://" + ServeGRPC(t, c.Server)
	return c
}

// ServeGRPC has a server of grpc-go listen on loopback until the test ends, and returns its
// host and port.
func ServeGRPC(t testing.TB, s *grpc.Server) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(listener) // until it is stopped
	}()
	t.Cleanup(func() {
		s.Stop()
		<-done
	})
	return listener.Addr().String()
}

// UnaryCall answers a call, and counts it.
func (c *Calls) UnaryCall(ctx context.Context, r *grpc_testing.SimpleRequest) (*grpc_testing.SimpleResponse, error) {
	reply, err := c.answer(ctx, r)
	return reply, c.count(ctx, err)
}

// count counts a call that is answered by an error, or by none.
func (c *Calls) count(ctx context.Context, err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.statuses[status.Code(err)]++
	md, _ := metadata.FromIncomingContext(ctx)
	c.metadata = append(c.metadata, md)
	return err
}

func (c *Calls) answer(ctx context.Context, r *grpc_testing.SimpleRequest) (*grpc_testing.SimpleResponse, error) {
	if c.Handle != nil {
		return c.Handle(ctx, r)
	}
	if err := statusOf(r); err != nil {
		return nil, err
	}
	return &grpc_testing.SimpleResponse{Payload: r.GetPayload(), Username: string(r.GetPayload().GetBody())}, nil
}

// statusOf is the status that a message asks for; nil: OK.
func statusOf(r interface {
	GetResponseStatus() *grpc_testing.EchoStatus
}) error {
	return status.Error(codes.Code(r.GetResponseStatus().GetCode()), r.GetResponseStatus().GetMessage())
}

// StreamingOutputCall answers a call by a stream, and counts it.
func (c *Calls) StreamingOutputCall(r *grpc_testing.StreamingOutputCallRequest, stream grpc.ServerStreamingServer[grpc_testing.StreamingOutputCallResponse]) error {
	answer := c.HandleStream
	if answer == nil {
		answer = func(r *grpc_testing.StreamingOutputCallRequest, stream grpc.ServerStreamingServer[grpc_testing.StreamingOutputCallResponse]) error {
			return cmp.Or(reply(r, stream.Send), statusOf(r))
		}
	}
	return c.count(stream.Context(), answer(r, stream))
}

// reply sends the replies that a message asks for.
func reply(r *grpc_testing.StreamingOutputCallRequest, send func(*grpc_testing.StreamingOutputCallResponse) error) error {
	for i, p := range r.GetResponseParameters() {
		body := bytes.Repeat([]byte{byte('a' + i%26)}, int(p.GetSize()))
		if err := send(&grpc_testing.StreamingOutputCallResponse{Payload: &grpc_testing.Payload{Body: body}}); err != nil {
			return err
		}
	}
	return nil
}

// StreamingInputCall adds up the payloads of a stream, and counts the call.
func (c *Calls) StreamingInputCall(stream grpc.ClientStreamingServer[grpc_testing.StreamingInputCallRequest, grpc_testing.StreamingInputCallResponse]) error {
	size := 0
	for {
		r, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF):
			return c.count(stream.Context(), stream.SendAndClose(&grpc_testing.StreamingInputCallResponse{AggregatedPayloadSize: int32(size)}))
		case err != nil:
			return c.count(stream.Context(), err)
		}
		size += len(r.GetPayload().GetBody())
		c.countMessage()
	}
}

// FullDuplexCall answers each message as StreamingOutputCall does, and counts the call. A
// message that asks for a status ends it.
func (c *Calls) FullDuplexCall(stream grpc.BidiStreamingServer[grpc_testing.StreamingOutputCallRequest, grpc_testing.StreamingOutputCallResponse]) error {
	for {
		r, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return c.count(stream.Context(), nil)
		}
		if err == nil {
			c.countMessage()
			err = cmp.Or(reply(r, stream.Send), statusOf(r))
		}
		if err != nil {
			return c.count(stream.Context(), err)
		}
	}
}

func (c *Calls) countMessage() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.messages++
}

// Messages are how many came of the streams that the target takes.
func (c *Calls) Messages() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.messages
}

// Statuses are how many calls were answered, by status.
func (c *Calls) Statuses() map[codes.Code]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[codes.Code]int64{}
	for code, n := range c.statuses {
		all[code] = n
	}
	return all
}

// Metadata are those of all calls.
func (c *Calls) Metadata() []metadata.MD {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]metadata.MD(nil), c.metadata...)
}
