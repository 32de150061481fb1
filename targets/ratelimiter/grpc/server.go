package grpc

import (
	"context"
	"errors"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/clientip"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/rpc"
	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
	ratelimiterv1 "github.com/loadtest-dev/loadtest-operator/targets/ratelimiter/grpc/v1"
)

// maxRequest is far above a request without fields.
const maxRequest = 4 << 10

// statuses are those of requests that are not granted.
var statuses = map[ratelimiter.Refusal]codes.Code{
	ratelimiter.Limited:     codes.ResourceExhausted,
	ratelimiter.Invalid:     codes.InvalidArgument,
	ratelimiter.Unavailable: codes.Unavailable,
	ratelimiter.Internal:    codes.Internal,
}

// Config is what the service is made of.
type Config struct {
	ratelimiter.Service
	InstanceID string
	// TrustedProxies are the peers whose x-forwarded-for is believed.
	TrustedProxies clientip.Trusted
	// Ready says whether the service is.
	Ready func(context.Context) bool
}

// NewServer returns the server of a complete configuration.
func NewServer(c Config) (rpc.Server, error) {
	if c.Ready == nil {
		return rpc.Server{}, errors.New("gRPC server is incomplete: set Ready")
	}
	if err := c.Validate(); err != nil {
		return rpc.Server{}, err
	}
	s := &server{Config: c}
	return rpc.NewServer(rpc.Around(ratelimiterv1.RateLimiterService_ServiceDesc, s.count), s, maxRequest, c.Ready), nil
}

type server struct {
	ratelimiterv1.UnsafeRateLimiterServiceServer
	Config
}

var _ ratelimiterv1.RateLimiterServiceServer = (*server)(nil)

// count counts a request that cannot be read; Take counts the others.
func (s *server) count(ctx context.Context, _ string, call func(context.Context) (any, error)) (any, error) {
	start := s.Now()
	response, err := call(ctx)
	if unread := (rpc.UnreadError{}); errors.As(err, &unread) {
		s.Observe(ratelimiter.Failed, s.Now().Sub(start))
	}
	return response, err
}

// Take answers one request.
func (s *server) Take(ctx context.Context, _ *ratelimiterv1.TakeRequest) (*ratelimiterv1.TakeResponse, error) {
	a := s.Answer(ctx, func() (string, error) { return rpc.Client(ctx, s.TrustedProxies) })
	trailer := metadata.MD{}
	for _, f := range a.Fields {
		trailer.Set(f.Name, f.Value)
	}
	// The only error left is a client that disconnected.
	_ = grpc.SetTrailer(ctx, trailer)
	if a.Refusal != 0 {
		return nil, status.Error(statuses[a.Refusal], a.Sentence)
	}
	return &ratelimiterv1.TakeResponse{Msg: a.Sentence, Time: timestamppb.New(a.Time), InstanceId: s.InstanceID}, nil
}
