package grpc

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
	eventstorev1 "github.com/loadtest-dev/loadtest-operator/targets/eventstore/grpc/v1"
)

// Read sends a range in parts. As events do not change, the range is the same
// whenever its parts are read.
func (s *server) Read(r *eventstorev1.ReadRequest, stream grpc.ServerStreamingServer[eventstorev1.ReadResponse]) error {
	c := of(stream.Context())
	if r.GetFrom() < 0 || r.GetTo() < 0 {
		return eventstore.InvalidError("from and to are positions: use 0 or more")
	}
	to := c.Store.Position()
	if r.To != nil {
		to = min(to, r.GetTo())
	}
	for next := max(1, r.GetFrom()); next <= to; {
		part := &eventstorev1.ReadResponse{}
		size := 0
		n, err := eventstore.ReadPart(stream.Context(), c.Store, next, min(to, next+eventstore.PartEvents-1), func(e eventstore.Event) (full bool) {
			part.Events = append(part.Events, message(e))
			size += len(e.Type) + len(e.Data)
			return size >= eventstore.PartBytes
		})
		if err != nil {
			return err
		}
		next, c.seen.Read = next+int64(n), c.seen.Read+n
		if err := stream.Send(part); err != nil {
			s.Logger.Warn("reply cut off", "error", err, "sent", c.seen.Read)
			return err
		}
	}
	return nil
}

func message(e eventstore.Event) *eventstorev1.Event {
	return &eventstorev1.Event{Position: e.Position, Type: e.Type, Data: string(e.Data), Timestamp: timestamppb.New(e.Timestamp)}
}

// GetPosition returns where the log ends.
func (s *server) GetPosition(ctx context.Context, _ *eventstorev1.GetPositionRequest) (*eventstorev1.GetPositionResponse, error) {
	return &eventstorev1.GetPositionResponse{Position: of(ctx).Store.Position()}, nil
}

// GetSubscription returns where a reader stands.
func (s *server) GetSubscription(ctx context.Context, r *eventstorev1.GetSubscriptionRequest) (*eventstorev1.GetSubscriptionResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, eventstore.PointTimeout)
	defer cancel()
	at, err := of(ctx).Store.Subscription(ctx, r.GetId())
	return &eventstorev1.GetSubscriptionResponse{Position: at}, err
}

// MoveSubscription sets where a reader stands.
func (s *server) MoveSubscription(ctx context.Context, r *eventstorev1.MoveSubscriptionRequest) (*eventstorev1.MoveSubscriptionResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, eventstore.PointTimeout)
	defer cancel()
	if r.Position == nil {
		return nil, eventstore.InvalidError("position is missing")
	}
	m := eventstore.Move{ID: r.GetId(), Position: r.GetPosition(), Backwards: r.GetAllowBackwards()}
	return &eventstorev1.MoveSubscriptionResponse{}, of(ctx).Store.Move(ctx, m)
}
