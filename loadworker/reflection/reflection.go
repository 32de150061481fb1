package reflection

import (
	"context"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Error is why a target does not describe its services.
type Error struct {
	Err error
	// Remedy is what helps, but for descriptors that are given: "register reflection in the
	// server"; empty: nothing.
	Remedy string
	// NotReady says that a later try may succeed.
	NotReady bool
	// Code is the status of the target's answer; OK: none, or the answer is the problem.
	Code codes.Code
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// The methods. The messages of v1alpha are those of v1 by another name.
const (
	methodV1      = reflectionpb.ServerReflection_ServerReflectionInfo_FullMethodName
	methodV1Alpha = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
)

// files asks for what describes services.
func (s *stream) files(services []string) ([]*descriptorpb.FileDescriptorProto, error) {
	c := newCollection()
	for _, name := range services {
		answer, err := s.ask(&reflectionpb.ServerReflectionRequest{
			MessageRequest: &reflectionpb.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: name},
		})
		if isNotFound(err) {
			err = &Error{Err: fmt.Errorf("the target's reflection has no service %s", name), Remedy: "correct grpc.method"}
		}
		if err == nil {
			err = c.add(answer.GetFileDescriptorResponse().GetFileDescriptorProto())
		}
		if err != nil {
			return nil, err
		}
	}
	for name, by := c.missing(); name != ""; name, by = c.missing() {
		if err := s.askFile(c, name, by); err != nil {
			return nil, err
		}
	}
	return c.list, nil
}

// askFile asks for a file that another imports.
func (s *stream) askFile(c *collection, name, by string) error {
	answer, err := s.ask(&reflectionpb.ServerReflectionRequest{
		MessageRequest: &reflectionpb.ServerReflectionRequest_FileByFilename{FileByFilename: name},
	})
	if err == nil {
		err = c.add(answer.GetFileDescriptorResponse().GetFileDescriptorProto())
	}
	if err == nil && c.files[name] == nil || isNotFound(err) {
		return &Error{
			Err:    failure.Withhold(name+", which "+by+" imports", "the target's reflection lacks a file that another imports"),
			Remedy: "register that file in the server, by the name of its import",
		}
	}
	return err
}

// services asks for the names of all services.
func (s *stream) services() ([]string, error) {
	answer, err := s.ask(&reflectionpb.ServerReflectionRequest{
		MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{},
	})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, service := range answer.GetListServicesResponse().GetService() {
		names = append(names, service.GetName())
	}
	return names, nil
}

// stream is a call of the reflection service.
type stream struct {
	ctx  context.Context
	conn grpc.ClientConnInterface
	open grpc.BidiStreamingClient[reflectionpb.ServerReflectionRequest, reflectionpb.ServerReflectionResponse] // nil: not yet
}

// ask sends a question and receives its answer. The first one finds out which version of
// the service the target has.
func (s *stream) ask(question *reflectionpb.ServerReflectionRequest) (*reflectionpb.ServerReflectionResponse, error) {
	first := s.open == nil
	answer, err := s.try(methodV1, question)
	if first && status.Code(err) == codes.Unimplemented {
		s.open = nil
		answer, err = s.try(methodV1Alpha, question)
	}
	if s.ctx.Err() != nil && err != nil {
		return nil, s.ctx.Err()
	}
	if err != nil {
		return nil, problem(err)
	}
	if e := answer.GetErrorResponse(); e != nil {
		return nil, problem(status.Error(codes.Code(e.GetErrorCode()), e.GetErrorMessage()))
	}
	return answer, nil
}

func (s *stream) try(method string, question *reflectionpb.ServerReflectionRequest) (*reflectionpb.ServerReflectionResponse, error) {
	if s.open == nil {
		opened, err := s.conn.NewStream(s.ctx, &reflectionpb.ServerReflection_ServiceDesc.Streams[0], method)
		if err != nil {
			return nil, err
		}
		s.open = &grpc.GenericClientStream[reflectionpb.ServerReflectionRequest, reflectionpb.ServerReflectionResponse]{ClientStream: opened}
	}
	// A stream that has ended says so with EOF here, and why when it is read.
	if err := s.open.Send(question); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return s.open.Recv()
}

func isNotFound(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == codes.NotFound
}

// problem says what a status is about. Its text may be the target's, and is withheld.
func problem(err error) error {
	if errors.Is(err, io.EOF) {
		err = status.Error(codes.Unknown, "the stream ended without an answer")
	}
	s := status.Convert(err)
	name, e := statusName(s.Code()), &Error{Code: s.Code()}
	switch e.Code {
	case codes.Unimplemented:
		e.Err, e.Remedy = fmt.Errorf("the target has no reflection (%s)", name), "register reflection in the server"
	case codes.Unauthenticated, codes.PermissionDenied:
		e.Err, e.Remedy = failure.Withhold(s.Message(), "the target's reflection refuses the request (%s)", name), "set target.headers to the credentials that it needs"
	case codes.Unavailable, codes.DeadlineExceeded: // which side notices a deadline first is chance
		e.Err, e.NotReady = failure.Withhold(s.Message(), "the target's reflection is not ready (%s)", name), true
	default:
		e.Err = failure.Withhold(s.Message(), "the target's reflection fails (%s)", name)
	}
	return e
}

// statusName is the name of a status, of which a target may send any number.
func statusName(code codes.Code) string {
	if n := int(code); measure.IsGRPC(n) {
		return measure.StatusName(n)
	}
	return fmt.Sprintf("status %d", uint32(code))
}
