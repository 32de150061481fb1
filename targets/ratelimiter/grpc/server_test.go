package grpc

import (
	"context"
	"io"
	"log/slog"
	"net/netip"
	"strconv"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/rpctest"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/servetest"
	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
	ratelimiterv1 "github.com/loadtest-dev/loadtest-operator/targets/ratelimiter/grpc/v1"
	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter/limitertest"
	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter/memory"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

var testTime = time.Date(2026, time.November, 20, 12, 0, 0, 123456789, time.UTC)

// service is a server's client, and what the server observed.
type service struct {
	ratelimiterv1.RateLimiterServiceClient
	conn     *grpc.ClientConn
	mu       sync.Mutex
	observed []ratelimiter.Outcome
}

func (s *service) config() Config {
	return Config{
		Service: ratelimiter.Service{
			Limiter:        limitertest.Decide(ratelimiter.Decision{Allowed: true, Remaining: 49}, nil),
			Contract:       ratelimiter.Contract{Capacity: 50, RefillPerSecond: 10},
			OnStoreFailure: ratelimiter.Closed,
			StorePause:     2500 * time.Millisecond,
			Observe: func(o ratelimiter.Outcome, _ time.Duration) {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.observed = append(s.observed, o)
			},
			Now:    func() time.Time { return testTime },
			Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		},
		InstanceID:     "pod-abc123",
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		Ready:          func(context.Context) bool { return true },
	}
}

func newService(t *testing.T, change func(*Config)) *service {
	t.Helper()
	s := &service{}
	config := s.config()
	if change != nil {
		change(&config)
	}
	server, err := NewServer(config)
	must.Succeed(t, err)
	s.conn = rpctest.Serve(t, server)
	s.RateLimiterServiceClient = ratelimiterv1.NewRateLimiterServiceClient(s.conn)
	return s
}

func (s *service) seen() []ratelimiter.Outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.observed
}

// take sends one request of a client, and returns the trailers as well.
func (s *service) take(ctx context.Context, client string) (*ratelimiterv1.TakeResponse, metadata.MD, error) {
	var trailer metadata.MD
	ctx = metadata.AppendToOutgoingContext(ctx, "x-forwarded-for", client)
	response, err := s.Take(ctx, &ratelimiterv1.TakeRequest{}, grpc.Trailer(&trailer))
	delete(trailer, "content-type")
	return response, trailer, err
}

func TestDecisionsAreAnsweredAndCounted(t *testing.T) {
	hit := &ratelimiterv1.TakeResponse{
		Msg: "Successfully Hit", Time: timestamppb.New(testTime.Truncate(time.Second)), InstanceId: "pod-abc123",
	}
	code := map[int]codes.Code{
		200: codes.OK, 400: codes.InvalidArgument, 429: codes.ResourceExhausted, 500: codes.Internal, 503: codes.Unavailable,
	}
	for name, answer := range limitertest.Answers() {
		t.Run(name, func(t *testing.T) {
			s := newService(t, func(c *Config) { c.Limiter, c.OnStoreFailure = answer.Limiter, answer.Policy })
			response, trailer, err := s.take(t.Context(), answer.Client)
			if answer.Error == "" {
				same.As(t, "response", hit, response, protocmp.Transform())
			}
			same.As(t, "status", status.New(code[answer.Status], answer.Error).Proto(), status.Convert(err).Proto(), protocmp.Transform(), protocmp.IgnoreEmptyMessages())
			same.As(t, "trailers", metadata.New(answer.Headers), trailer)
			same.As(t, "observed", []ratelimiter.Outcome{answer.Outcome}, s.seen())
		})
	}
}

// What cannot be read takes no token, and is counted.
func TestUnreadableRequestIsCounted(t *testing.T) {
	// The library may answer before the request is counted.
	observed := make(chan ratelimiter.Outcome, 1)
	s := newService(t, func(c *Config) {
		c.Limiter = limitertest.Func(func(context.Context, string) (ratelimiter.Decision, error) { panic("asked") })
		c.Observe = func(o ratelimiter.Outcome, _ time.Duration) { observed <- o }
	})
	const method = "/loadtest.ratelimiter.v1.RateLimiterService/Take"
	err := s.conn.Invoke(t.Context(), method, wrapperspb.Bytes(make([]byte, maxRequest)), &ratelimiterv1.TakeResponse{})
	if status.Code(err) != codes.ResourceExhausted {
		t.Errorf("error = %v, want %v", err, codes.ResourceExhausted)
	}
	same.As(t, "observed", ratelimiter.Failed, <-observed)
}

// A client that has gone away has perhaps taken its token: the decision goes on,
// and is counted.
func TestClientDisconnectDoesNotCancelDecision(t *testing.T) {
	asked, left, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	decided := make(chan ratelimiter.Outcome, 1)
	s := newService(t, func(c *Config) {
		c.Limiter = limitertest.Func(func(ctx context.Context, _ string) (ratelimiter.Decision, error) {
			close(asked)
			<-left
			ended <- ctx.Err()
			return ratelimiter.Decision{Allowed: true}, nil
		})
		c.Observe = func(o ratelimiter.Outcome, _ time.Duration) { decided <- o }
	})
	ctx, leave := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		_, _, err := s.take(ctx, "client")
		gone <- err
	}()
	<-asked
	leave()
	if err := <-gone; status.Code(err) != codes.Canceled {
		t.Errorf("the client that left has %v", err)
	}
	// The server has heard of it when it has answered a later call on the connection.
	_ = s.conn.Invoke(t.Context(), "/test.None/None", &ratelimiterv1.TakeRequest{}, &ratelimiterv1.TakeResponse{})
	close(left)
	must.Report(t, "the decision was ended", <-ended)
	same.As(t, "observed", ratelimiter.Granted, <-decided)
}

// over is the limiter by way of gRPC.
type over struct{ *service }

func (o over) Take(ctx context.Context, client string) (ratelimiter.Decision, error) {
	_, trailer, err := o.take(ctx, client)
	if err != nil && status.Code(err) != codes.ResourceExhausted {
		return ratelimiter.Decision{}, err
	}
	number := func(name string) int64 {
		n, _ := strconv.ParseInt(trailer.Get(name)[0], 10, 64)
		return n
	}
	d := ratelimiter.Decision{Allowed: err == nil, Remaining: number("x-ratelimit-remaining")}
	if !d.Allowed {
		d.RetryAfter = time.Duration(number("retry-after")) * time.Second
	}
	return d, nil
}

func TestServerConforms(t *testing.T) {
	limitertest.RunFront(t, func(t *testing.T, c ratelimiter.Contract, now func() time.Time) ratelimiter.Limiter {
		return over{newService(t, func(config *Config) {
			config.Contract, config.Limiter = c, memory.New(c, now)
		})}
	})
}

func TestNewServerRefusesIncompleteConfig(t *testing.T) {
	accept := func(c Config) error { _, err := NewServer(c); return err }
	servetest.Required(t, (&service{}).config(), accept, "Limiter", "Ready")
}
