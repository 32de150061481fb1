package grpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
	eventstorev1 "github.com/loadtest-dev/loadtest-operator/targets/eventstore/grpc/v1"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/clientip"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/rpc"
)

// maxRequest is a batch, as over HTTP: 8 KB for each of 1,000 events.
const maxRequest = 8 << 20

// operations are what methods are counted as; Append says more exactly when it has read
// its events.
var operations = map[string]eventstore.Operation{
	"Append":           eventstore.AppendBatch,
	"Read":             eventstore.ReadStream,
	"GetPosition":      eventstore.ReadPosition,
	"GetSubscription":  eventstore.ReadReader,
	"MoveSubscription": eventstore.MoveReader,
}

// statuses are those of refusals. UNAVAILABLE says that nothing of the request is
// stored, nor will be; DEADLINE_EXCEEDED and INTERNAL leave that open.
var statuses = map[eventstore.Reason]codes.Code{
	eventstore.Invalid:         codes.InvalidArgument,
	eventstore.Unauthenticated: codes.Unauthenticated,
	eventstore.Throttled:       codes.ResourceExhausted,
	eventstore.Conflict:        codes.Aborted,
	eventstore.Backwards:       codes.FailedPrecondition,
	eventstore.KeyReused:       codes.AlreadyExists,
	eventstore.Unknown:         codes.DeadlineExceeded,
	eventstore.Unavailable:     codes.Unavailable,
	eventstore.Internal:        codes.Internal,
}

// Config is what the service is made of.
type Config struct {
	// Gate lets clients in.
	eventstore.Gate
	// TrustedProxies are the peers whose x-forwarded-for is believed.
	TrustedProxies clientip.Trusted
	// Ready says whether the service is.
	Ready func(context.Context) bool
	// Observe receives each call, once.
	Observe func(eventstore.Observation)
	Now     func() time.Time
	Logger  *slog.Logger
}

// NewServer returns the server of a complete configuration.
func NewServer(c Config) (rpc.Server, error) {
	if c.Stores == nil || c.Bodies == nil || c.Ready == nil || c.Observe == nil || c.Now == nil || c.Logger == nil {
		return rpc.Server{}, errors.New("gRPC server is incomplete: set Stores, Bodies, Ready, Observe, Now and Logger")
	}
	s := &server{Config: c}
	return rpc.NewServer(rpc.Around(eventstorev1.EventStoreService_ServiceDesc, s.perform), s, maxRequest, c.Ready), nil
}

type server struct {
	eventstorev1.UnsafeEventStoreServiceServer
	Config
}

var _ eventstorev1.EventStoreServiceServer = (*server)(nil)

// call is one request: its client, and what is observed of it.
type call struct {
	eventstore.Caller
	seen eventstore.Observation
}

type callKey struct{}

// of is the call that perform has admitted.
func of(ctx context.Context) *call { return ctx.Value(callKey{}).(*call) }

// perform turns every way in which a call can end into one status, and observes
// it. A panic is one of them; let through, it would end the process.
func (s *server) perform(ctx context.Context, method string, do func(context.Context) (any, error)) (response any, err error) {
	c := &call{seen: eventstore.Observation{Operation: operations[method], Outcome: eventstore.Done}}
	start := s.Now()
	defer func() {
		if v := recover(); v != nil {
			s.Logger.Error("panic while answering", "panic", fmt.Sprint(v))
			c.seen.Outcome, err = eventstore.Failed, status.Error(codes.Internal, "internal error")
		}
		c.seen.Took = s.Now().Sub(start)
		s.Observe(c.seen)
	}()
	if c.Caller, err = s.admit(ctx); err == nil {
		ctx := rpc.Reserving(ctx, func() (func(), error) { return s.Bodies.ReserveUnread(maxRequest) })
		response, err = do(context.WithValue(ctx, callKey{}, c))
	}
	if err == nil {
		return response, nil
	}
	// The context of a call without memory is ended here, not by its client.
	gone := ctx.Err() != nil && !errors.Is(err, eventstore.ErrNoMemory)
	outcome, err := s.failure(ctx, err)
	if gone && outcome == eventstore.Failed {
		outcome = eventstore.Aborted
	}
	c.seen.Outcome = outcome
	return nil, err
}

func (s *server) admit(ctx context.Context) (eventstore.Caller, error) {
	ctx, cancel := context.WithTimeout(ctx, eventstore.PointTimeout)
	defer cancel()
	key := eventstore.Presented(rpc.Metadata(ctx, "x-api-key"), rpc.Metadata(ctx, "authorization"))
	return s.Admit(ctx, func() (string, error) { return rpc.Client(ctx, s.TrustedProxies) }, key)
}

// failure is the status of a call that could not be done, with what HTTP says in
// headers and bodies as trailers.
func (s *server) failure(ctx context.Context, err error) (eventstore.Outcome, error) {
	if s, ok := status.FromError(err); ok {
		return lost(s.Code()), err
	}
	refusal := eventstore.Explain(err, s.Logger)
	trailer := metadata.MD{}
	if refusal.RetryAfter > 0 {
		trailer.Set("retry-after", strconv.FormatInt(max(1, int64(math.Ceil(refusal.RetryAfter.Seconds()))), 10))
	}
	if refusal.Reason == eventstore.Conflict || refusal.Reason == eventstore.Backwards {
		trailer.Set("position", strconv.FormatInt(refusal.Position, 10))
	}
	// The only error left is a client that disconnected.
	_ = grpc.SetTrailer(ctx, trailer)
	return refusal.Reason.Outcome(), status.Error(statuses[refusal.Reason], refusal.Sentence)
}

// lost is the outcome of a call that the library gave up: its request cannot be
// read, or its client is gone.
func lost(code codes.Code) eventstore.Outcome {
	switch code {
	case codes.Canceled, codes.DeadlineExceeded, codes.Unavailable:
		return eventstore.Aborted
	}
	return eventstore.Refused
}
