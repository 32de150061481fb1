package http

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/reply"
)

// headerReplayed marks an answer to a repetition.
const headerReplayed = "Idempotency-Replayed"

// saved says where a batch is stored.
type saved struct {
	Saved         int   `json:"saved"`
	FirstPosition int64 `json:"first_position"`
	LastPosition  int64 `json:"last_position"`
}

func (h *Handler) appendBatch(ctx context.Context, r *http.Request, c eventstore.Caller) answer {
	_, receipt, err := h.append(ctx, r, c, maxBatch, decodeBatch)
	if err != nil {
		return replied(h.failure(err))
	}
	body := saved{int(receipt.Last - receipt.First + 1), receipt.First, receipt.Last}
	return answer{
		Reply:    reply.Reply{Status: http.StatusOK, Headers: replayedHeader(receipt), Body: body},
		replayed: receipt.Replayed,
	}
}

// appendEvent answers with the event as it is stored. To a repetition that is
// not the event that was sent: the first try may have given it its timestamp.
func (h *Handler) appendEvent(ctx context.Context, r *http.Request, c eventstore.Caller) answer {
	events, receipt, err := h.append(ctx, r, c, maxEvent, decodeEvent)
	if err != nil {
		return replied(h.failure(err))
	}
	event := events[0]
	event.Position = receipt.First
	if receipt.Replayed {
		for stored, err := range c.Store.Events(ctx, receipt.First, receipt.First) {
			if err != nil {
				return replied(h.failure(fmt.Errorf("%w: %w", eventstore.ErrUnread, err)))
			}
			event = stored
		}
	}
	return answer{
		Reply:    reply.Reply{Status: http.StatusOK, Headers: replayedHeader(receipt)},
		encoded:  append(appendEvent(make([]byte, 0, 128+len(event.Data)), event), '\n'),
		replayed: receipt.Replayed,
	}
}

// append reads the events of a request and stores them. The memory for what was read
// of its body is held until then.
func (h *Handler) append(ctx context.Context, r *http.Request, c eventstore.Caller, limit int64,
	decode func(io.Reader) ([]eventstore.Event, error),
) ([]eventstore.Event, eventstore.Receipt, error) {
	body, err := h.bodyOf(r, limit)
	if err != nil {
		return nil, eventstore.Receipt{}, err
	}
	defer body.Release()
	terms, err := termsOf(r.Header)
	if err != nil {
		return nil, eventstore.Receipt{}, err
	}
	events, err := decode(body)
	if err != nil {
		return nil, eventstore.Receipt{}, err
	}
	a, err := eventstore.NewAppend(events, terms, h.Now())
	if err != nil {
		return nil, eventstore.Receipt{}, err
	}
	receipt, err := c.Store.Append(ctx, a)
	return a.Events, receipt, err
}

func replayedHeader(r eventstore.Receipt) []reply.Header {
	if !r.Replayed {
		return nil
	}
	return []reply.Header{{Name: headerReplayed, Value: "true"}}
}
