package rpc

import (
	"context"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/clientip"
)

const (
	// readTimeout is how long a request may take to arrive.
	readTimeout = 10 * time.Second
	// sendTimeout is how long a client may take to receive a part of a reply.
	sendTimeout = 30 * time.Second
)

// UnreadError is the status of a request that could not be read: its sender has to
// change it.
type UnreadError struct{ *status.Status }

func (e UnreadError) Error() string { return e.Message() }

// GRPCStatus is the status, for package status.
func (e UnreadError) GRPCStatus() *status.Status { return e.Status }

// Around returns the service with do around each call: call reads the request and
// answers it. An interceptor would not see the requests that cannot be read.
func Around(desc grpc.ServiceDesc, do func(ctx context.Context, method string, call func(context.Context) (any, error)) (any, error)) *grpc.ServiceDesc {
	desc.Methods, desc.Streams = slices.Clone(desc.Methods), slices.Clone(desc.Streams)
	for i, m := range desc.Methods {
		desc.Methods[i].Handler = func(service any, ctx context.Context, read func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			return do(ctx, m.MethodName, func(ctx context.Context) (any, error) {
				return m.Handler(service, ctx, func(request any) error { return receive(ctx, read, request) }, nil)
			})
		}
	}
	for i, m := range desc.Streams {
		desc.Streams[i].Handler = func(service any, s grpc.ServerStream) error {
			_, err := do(s.Context(), m.StreamName, func(ctx context.Context) (any, error) {
				return nil, m.Handler(service, stream{s, ctx})
			})
			return err
		}
	}
	return &desc
}

// stream is one whose client has a time limit for each message.
type stream struct {
	grpc.ServerStream
	ctx context.Context
}

func (s stream) Context() context.Context { return s.ctx }

func (s stream) RecvMsg(m any) error { return receive(s.ctx, s.ServerStream.RecvMsg, m) }

func (s stream) SendMsg(m any) error {
	return within(s.ctx, sendTimeout, func() error { return s.ServerStream.SendMsg(m) })
}

// receive reads a request.
func receive(ctx context.Context, read func(any) error, request any) error {
	r := &reading{request: request}
	done := reserveIfSlow(ctx)
	err := within(ctx, readTimeout, func() error { return read(r) })
	if refused := done(); refused != nil {
		return refused
	}
	if err != nil {
		return UnreadError{status.Convert(err)}
	}
	if r.err != nil {
		return UnreadError{status.New(codes.InvalidArgument, "request cannot be read: "+r.err.Error())}
	}
	return nil
}

// reading is a request and why it is none: the library would answer that with
// INTERNAL, as if it were the server's fault.
type reading struct {
	request any
	err     error
}

// codec is the usual one, with readings.
type codec struct{ encoding.CodecV2 }

func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	r, ok := v.(*reading)
	if !ok {
		return c.CodecV2.Unmarshal(data, v)
	}
	r.err = c.CodecV2.Unmarshal(data, r.request)
	return nil
}

type endKey struct{}

// endable gives each call a context that within can end: the library waits for a
// client as long as that lasts.
func endable(ctx context.Context, _ *tap.Info) (context.Context, error) {
	ctx, end := context.WithCancel(ctx)
	return context.WithValue(ctx, endKey{}, end), nil
}

// within ends the call of a client that takes longer.
func within(ctx context.Context, limit time.Duration, do func() error) error {
	end, _ := ctx.Value(endKey{}).(context.CancelFunc)
	timer := time.AfterFunc(limit, end)
	err := do()
	if !timer.Stop() {
		return status.Errorf(codes.DeadlineExceeded, "message took longer than %v", limit)
	}
	return err
}

// Client names the caller: its peer, or whom a trusted proxy forwards.
func Client(ctx context.Context, trusted clientip.Trusted) (string, error) {
	var address string
	if p, ok := peer.FromContext(ctx); ok {
		address = p.Addr.String()
	}
	return trusted.Name(address, Metadata(ctx, clientip.HeaderForwardedFor))
}

// Metadata is the first value that a call has under a name.
func Metadata(ctx context.Context, name string) string {
	values := metadata.ValueFromIncomingContext(ctx, name)
	if len(values) == 0 {
		return ""
	}
	return values[0]
}
