package workertest

import (
	"context"
	"net"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// UnaryCall is the method that Calls serves.
const UnaryCall = "grpc.testing.TestService/UnaryCall"

// Descriptors is a descriptor set of the service of Calls.
func Descriptors(t testing.TB) []byte {
	t.Helper()
	set, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: withImports(nil, grpc_testing.File_grpc_testing_test_proto)})
	if err != nil {
		t.Fatal(err)
	}
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

// Calls is a target of grpc-go, which counts the calls of UnaryCall by the status with
// which it answers them: that of response_status. It replies with the payload of the
// request.
type Calls struct {
	grpc_testing.UnimplementedTestServiceServer
	URL    string
	Server *grpc.Server
	// Handle answers a call; nil: as above.
	Handle func(context.Context, *grpc_testing.SimpleRequest) (*grpc_testing.SimpleResponse, error)

	mu       sync.Mutex
	statuses map[codes.Code]int64
	metadata []metadata.MD
}

// ServeCalls starts a target, by the options of grpc-go.
func ServeCalls(t testing.TB, options ...grpc.ServerOption) *Calls {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &Calls{URL: "http://" + listener.Addr().String(), Server: grpc.NewServer(options...), statuses: map[codes.Code]int64{}}
	grpc_testing.RegisterTestServiceServer(c.Server, c)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = c.Server.Serve(listener) // until it is stopped
	}()
	t.Cleanup(func() {
		c.Server.Stop()
		<-done
	})
	return c
}

// UnaryCall answers a call, and counts it.
func (c *Calls) UnaryCall(ctx context.Context, r *grpc_testing.SimpleRequest) (*grpc_testing.SimpleResponse, error) {
	reply, err := c.answer(ctx, r)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.statuses[status.Code(err)]++
	md, _ := metadata.FromIncomingContext(ctx)
	c.metadata = append(c.metadata, md)
	return reply, err
}

func (c *Calls) answer(ctx context.Context, r *grpc_testing.SimpleRequest) (*grpc_testing.SimpleResponse, error) {
	if c.Handle != nil {
		return c.Handle(ctx, r)
	}
	if s := r.GetResponseStatus(); s.GetCode() != 0 {
		return nil, status.Error(codes.Code(s.GetCode()), s.GetMessage())
	}
	return &grpc_testing.SimpleResponse{Payload: r.GetPayload(), Username: string(r.GetPayload().GetBody())}, nil
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
