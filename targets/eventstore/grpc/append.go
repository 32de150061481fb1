package grpc

import (
	"context"
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
	eventstorev1 "github.com/loadtest-dev/loadtest-operator/targets/eventstore/grpc/v1"
)

// Append stores events. The memory for the request is held until then; while it was being read, a
// slow one held as much as the largest may have.
func (s *server) Append(ctx context.Context, r *eventstorev1.AppendRequest) (*eventstorev1.AppendResponse, error) {
	c, timeout := of(ctx), eventstore.BulkTimeout
	if len(r.GetEvents()) == 1 {
		c.seen.Operation, timeout = eventstore.AppendEvent, eventstore.PointTimeout
	}
	release, err := s.Bodies.Reserve(int64(proto.Size(r)))
	if err != nil {
		return nil, err
	}
	defer release()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	events, err := decode(r.GetEvents())
	if err != nil {
		return nil, err
	}
	a, err := eventstore.NewAppend(events, eventstore.Terms{Key: r.GetIdempotencyKey(), Expected: r.ExpectedPosition}, s.Now())
	if err != nil {
		return nil, err
	}
	receipt, err := c.Store.Append(ctx, a)
	if err != nil {
		return nil, err
	}
	if receipt.Replayed {
		c.seen.Outcome = eventstore.Replayed
	}
	return &eventstorev1.AppendResponse{FirstPosition: receipt.First, LastPosition: receipt.Last, Replayed: receipt.Replayed}, nil
}

// decode returns the events of a request; what the domain examines is left to it.
func decode(messages []*eventstorev1.Event) ([]eventstore.Event, error) {
	events := make([]eventstore.Event, len(messages))
	for i, m := range messages {
		e := eventstore.Event{Type: m.GetType(), Data: []byte(m.GetData())}
		if len(e.Data) > 0 && !json.Valid(e.Data) {
			return nil, eventstore.InvalidError(fmt.Sprintf("event %d: data is no JSON value", i))
		}
		if m.Timestamp != nil {
			if nanos := m.Timestamp.GetNanos(); nanos < 0 || nanos > 999_999_999 {
				return nil, eventstore.InvalidError(fmt.Sprintf("event %d: timestamp: nanoseconds are %d: use 0 to 999999999", i, nanos))
			}
			e.Timestamp = m.Timestamp.AsTime()
		}
		events[i] = e
	}
	return events, nil
}
