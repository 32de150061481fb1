package reflection

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/interop/grpc_testing"
	grpcreflection "google.golang.org/grpc/reflection"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

// connect serves until the test ends, and returns a client of what is served.
func connect(t testing.TB, register func(*grpc.Server)) *Client {
	t.Helper()
	s := grpc.NewServer()
	register(s)
	address := workertest.ServeGRPC(t, s)
	client, err := NewClient(Config{Authority: "test", Dial: func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", address)
	}})
	must.Succeed(t, err)
	return client
}

// A server of grpc-go has both versions, or one of them.
func TestFilesAreThoseOfTheServer(t *testing.T) {
	for name, register := range map[string]func(*grpc.Server){
		"both versions": func(s *grpc.Server) { grpcreflection.Register(s) },
		"v1":            func(s *grpc.Server) { grpcreflection.RegisterV1(s) },
		"v1alpha": func(s *grpc.Server) {
			desc := reflectionpb.ServerReflection_ServiceDesc
			desc.ServiceName = "grpc.reflection.v1alpha.ServerReflection"
			s.RegisterService(&desc, grpcreflection.NewServerV1(grpcreflection.ServerOptions{Services: s}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			client := connect(t, func(s *grpc.Server) {
				grpc_testing.RegisterTestServiceServer(s, grpc_testing.UnimplementedTestServiceServer{})
				grpc_testing.RegisterHookServiceServer(s, grpc_testing.UnimplementedHookServiceServer{})
				register(s)
			})
			files, err := client.Files(t.Context(), []string{"grpc.testing.TestService", "grpc.testing.HookService"})
			var names []string
			for _, f := range files {
				names = append(names, f.GetName())
			}
			slices.Sort(names)
			if want := []string{"grpc/testing/empty.proto", "grpc/testing/messages.proto", "grpc/testing/test.proto"}; err != nil || !slices.Equal(names, want) {
				t.Errorf("%v, %v; want %v", names, err, want)
			}
			services, err := client.Services(t.Context())
			if err != nil || !slices.Contains(services, "grpc.testing.TestService") {
				t.Errorf("services %v, %v", services, err)
			}
		})
	}
}

// scripted answers each question by a function.
type scripted struct {
	reflectionpb.UnimplementedServerReflectionServer
	answer func(*reflectionpb.ServerReflectionRequest) (*reflectionpb.ServerReflectionResponse, error)
}

func (s scripted) ServerReflectionInfo(stream reflectionpb.ServerReflection_ServerReflectionInfoServer) error {
	for {
		question, err := stream.Recv()
		if err != nil {
			return err
		}
		answer, err := s.answer(question)
		if errors.Is(err, io.EOF) {
			return nil // the end of the stream, of status OK
		}
		if err != nil {
			return err
		}
		if err := stream.Send(answer); err != nil {
			return err
		}
	}
}

// sent is an answer of files.
func sent(files ...[]byte) (*reflectionpb.ServerReflectionResponse, error) {
	return &reflectionpb.ServerReflectionResponse{MessageResponse: &reflectionpb.ServerReflectionResponse_FileDescriptorResponse{
		FileDescriptorResponse: &reflectionpb.FileDescriptorResponse{FileDescriptorProto: files},
	}}, nil
}

func failed(code codes.Code) (*reflectionpb.ServerReflectionResponse, error) {
	return &reflectionpb.ServerReflectionResponse{MessageResponse: &reflectionpb.ServerReflectionResponse_ErrorResponse{
		ErrorResponse: &reflectionpb.ErrorResponse{ErrorCode: int32(code), ErrorMessage: "s3cret"},
	}}, nil
}

// importing is a file that imports others, publicly.
func importing(name string, imports ...string) []byte {
	f := &descriptorpb.FileDescriptorProto{Name: proto.String(name), Dependency: imports}
	for i := range imports {
		f.PublicDependency = append(f.PublicDependency, int32(i))
	}
	return encoded(f)
}

func encoded(f *descriptorpb.FileDescriptorProto) []byte {
	b, err := proto.Marshal(f)
	if err != nil {
		panic(err) // not reached: a file of ours has a form
	}
	return b
}

// nested is a file of messages in one another.
func nested(depth int) []byte {
	m := &descriptorpb.DescriptorProto{}
	for range depth {
		m = &descriptorpb.DescriptorProto{NestedType: []*descriptorpb.DescriptorProto{m}}
	}
	return encoded(&descriptorpb.FileDescriptorProto{Name: proto.String("a"), MessageType: []*descriptorpb.DescriptorProto{m}})
}

// many is a file of many empty messages.
func many(n int) []byte {
	return encoded(&descriptorpb.FileDescriptorProto{Name: proto.String("a"), MessageType: slices.Repeat([]*descriptorpb.DescriptorProto{{}}, n)})
}

// Whatever a target answers is an error that has nothing of it, and ends.
func TestHostileReflectionIsAnError(t *testing.T) {
	type question = *reflectionpb.ServerReflectionRequest
	var asked int
	for name, tt := range map[string]struct {
		answer func(question) (*reflectionpb.ServerReflectionResponse, error)
		want   string
	}{
		"no file": {func(question) (*reflectionpb.ServerReflectionResponse, error) { return sent() }, "the target's reflection answers with no file"},
		"an answer to another question": {func(question) (*reflectionpb.ServerReflectionResponse, error) {
			return &reflectionpb.ServerReflectionResponse{MessageResponse: &reflectionpb.ServerReflectionResponse_ListServicesResponse{}}, nil
		}, "the target's reflection answers with no file"},
		"no answer": {func(question) (*reflectionpb.ServerReflectionResponse, error) { return nil, io.EOF }, "the target's reflection fails (UNKNOWN)"},
		"a status": {func(question) (*reflectionpb.ServerReflectionResponse, error) {
			return nil, status.Error(codes.Internal, "s3cret")
		}, "the target's reflection fails (INTERNAL)"},
		"no such status":      {func(question) (*reflectionpb.ServerReflectionResponse, error) { return failed(1 << 31) }, "the target's reflection fails (status 2147483648)"},
		"an error that is OK": {func(question) (*reflectionpb.ServerReflectionResponse, error) { return failed(codes.OK) }, "the target's reflection fails (OK)"},
		"no service":          {func(question) (*reflectionpb.ServerReflectionResponse, error) { return failed(codes.NotFound) }, "the target's reflection has no service a.B"},
		"no descriptor":       {func(question) (*reflectionpb.ServerReflectionResponse, error) { return sent([]byte("s3cret")) }, "a file that is not a descriptor of protobuf"},
		"a file without name": {func(question) (*reflectionpb.ServerReflectionResponse, error) {
			return sent(encoded(&descriptorpb.FileDescriptorProto{}))
		}, "a file that is not a descriptor of protobuf"},
		"cut short": {func(question) (*reflectionpb.ServerReflectionResponse, error) {
			b := many(3)
			return sent(b[:len(b)-1])
		}, "a file that is not a descriptor of protobuf"},
		"too many bytes":      {func(question) (*reflectionpb.ServerReflectionResponse, error) { return sent(make([]byte, MaxBytes+1)) }, "more than 1048576 bytes of descriptors"},
		"too large an answer": {func(question) (*reflectionpb.ServerReflectionResponse, error) { return sent(make([]byte, maxAnswer)) }, "the target's reflection fails (RESOURCE_EXHAUSTED)"},
		"the same file again and again": {func(question) (*reflectionpb.ServerReflectionResponse, error) {
			return sent(slices.Repeat([][]byte{many(1000)}, 40)...)
		}, "more than 32768 parts of descriptors"},
		"too many parts":        {func(question) (*reflectionpb.ServerReflectionResponse, error) { return sent(many(MaxParts)) }, "more than 32768 parts"},
		"too deep":              {func(question) (*reflectionpb.ServerReflectionResponse, error) { return sent(nested(maxDepth + 1)) }, "messages deeper than 100"},
		"two files of one name": {func(question) (*reflectionpb.ServerReflectionResponse, error) { return sent(many(1), many(2)) }, "two different files of one name"},
		"too many files": {func(question) (*reflectionpb.ServerReflectionResponse, error) {
			asked++
			return sent(importing(fmt.Sprint("f", asked), fmt.Sprint("f", asked+1)))
		}, ""},
		"a missing import": {func(q question) (*reflectionpb.ServerReflectionResponse, error) {
			if q.GetFileByFilename() != "" {
				return failed(codes.NotFound)
			}
			return sent(importing("a", "s3cret"))
		}, "the target's reflection lacks a file that another imports"},
		"another file than that which is imported": {func(question) (*reflectionpb.ServerReflectionResponse, error) { return sent(importing("a", "b")) }, "the target's reflection lacks a file that another imports"},
	} {
		t.Run(name, func(t *testing.T) {
			client := connect(t, func(s *grpc.Server) { reflectionpb.RegisterServerReflectionServer(s, scripted{answer: tt.answer}) })
			files, err := client.Files(t.Context(), []string{"a.B"})
			if tt.want == "" { // the names that are asked for follow from the answers
				tt.want = "the target's reflection answers with more than 512 files"
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) || files != nil {
				t.Fatalf("%d files, %v, want …%s", len(files), err, tt.want)
			}
			if strings.Contains(failure.Message(err, false), "s3cret") {
				t.Errorf("%v shows what the target sent", err)
			}
		})
	}
}

func TestStreamEndsWithItsContext(t *testing.T) {
	begun := make(chan struct{})
	hold := make(chan struct{})
	client := connect(t, func(s *grpc.Server) {
		reflectionpb.RegisterServerReflectionServer(s, scripted{answer: func(*reflectionpb.ServerReflectionRequest) (*reflectionpb.ServerReflectionResponse, error) {
			close(begun)
			<-hold
			return sent()
		}})
	})
	defer close(hold)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		<-begun
		cancel()
	}()
	if _, err := client.Files(ctx, []string{"a.B"}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that of the context", err)
	}
}

// FuzzCollection: whatever comes is a bounded collection, or an error.
func FuzzCollection(f *testing.F) {
	f.Add(many(3))
	f.Add(nested(5))
	f.Add(importing("a"))
	f.Fuzz(func(t *testing.T, b []byte) {
		c := newCollection()
		if err := c.add([][]byte{b}); err != nil {
			return
		}
		if len(c.list) != 1 || c.parts > MaxParts || c.bytes > MaxBytes || !bytes.Equal(c.encoded[c.list[0].GetName()], b) {
			t.Errorf("%d files, %d parts", len(c.list), c.parts)
		}
	})
}
