package rpc

import (
	"context"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"
)

const (
	// handshakeTimeout is that of a request's head over HTTP.
	handshakeTimeout = 10 * time.Second
	// idleTimeout is longer than a proxy keeps idle connections (Nginx: 60 s), as
	// over HTTP: else calls would meet a connection that is just being closed.
	idleTimeout = 120 * time.Second
	// pingAfter and pingTimeout find out within a minute that a silent client has
	// vanished, whose calls would otherwise hold their memory.
	pingAfter   = 30 * time.Second
	pingTimeout = 20 * time.Second
	// minPing is how often a client may do the same.
	minPing = 10 * time.Second
	// maxHeader is room for metadata, and no more, as over HTTP.
	maxHeader = 16 << 10
	// maxStreams bounds what one connection may ask for at the same time.
	maxStreams = 1000
)

// Server serves one service, with reflection and the health service.
type Server struct {
	*grpc.Server
	health *health.Server
	// endStreams ends those of the library's services.
	endStreams context.CancelFunc
}

// NewServer returns a server of a service whose requests have at most maxMessage
// bytes. Ready says whether the service is, each time that health is checked.
func NewServer(desc *grpc.ServiceDesc, service any, maxMessage int, ready func(context.Context) bool) Server {
	stopping, endStreams := context.WithCancel(context.Background())
	s := Server{health: health.NewServer(), endStreams: endStreams, Server: grpc.NewServer(
		grpc.MaxRecvMsgSize(maxMessage),
		grpc.MaxHeaderListSize(maxHeader),
		grpc.MaxConcurrentStreams(maxStreams),
		grpc.ConnectionTimeout(handshakeTimeout),
		grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionIdle: idleTimeout, Time: pingAfter, Timeout: pingTimeout}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: minPing, PermitWithoutStream: true}),
		grpc.InTapHandle(endable),
		grpc.StreamInterceptor(until(stopping, "/"+desc.ServiceName+"/")),
		grpc.ForceServerCodecV2(codec{encoding.GetCodecV2(proto.Name)}),
	)}
	s.RegisterService(desc, service)
	grpc_health_v1.RegisterHealthServer(s, checked{s.health, []string{"", desc.ServiceName}, ready})
	reflection.Register(s)
	return s
}

// Drain makes the health service say no from now on.
func (s Server) Drain() { s.health.Shutdown() }

// GracefulStop finishes the calls in flight. Streams of the library's services last as
// long as their clients like, and are ended.
func (s Server) GracefulStop() {
	s.endStreams()
	s.Server.GracefulStop()
}

// until ends streams with a context, but for those of our own service.
func until(stopping context.Context, own string) grpc.StreamServerInterceptor {
	return func(service any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
		if !strings.HasPrefix(info.FullMethod, own) {
			end, _ := stream.Context().Value(endKey{}).(context.CancelFunc)
			defer context.AfterFunc(stopping, end)()
		}
		return handle(service, stream)
	}
}

// checked is a health service that asks before it answers.
type checked struct {
	*health.Server
	services []string
	ready    func(context.Context) bool
}

func (c checked) Check(ctx context.Context, r *grpc_health_v1.HealthCheckRequest) (*grpc_health_v1.HealthCheckResponse, error) {
	state := grpc_health_v1.HealthCheckResponse_NOT_SERVING
	if c.ready(ctx) {
		state = grpc_health_v1.HealthCheckResponse_SERVING
	}
	for _, name := range c.services {
		c.SetServingStatus(name, state)
	}
	return c.Server.Check(ctx, r)
}
