package http

import (
	"context"
	"errors"
	"net/http"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/reply"
)

// position is where a log ends, or a reader stands.
type position struct {
	Position int64 `json:"position"`
}

func readPosition(_ context.Context, _ *http.Request, c eventstore.Caller) answer {
	return replied(reply.Reply{Status: http.StatusOK, Body: position{c.Store.Position()}})
}

func (h *Handler) readSubscription(ctx context.Context, r *http.Request, c eventstore.Caller) answer {
	at, err := c.Store.Subscription(ctx, r.PathValue("id"))
	if err != nil {
		return replied(h.failure(err))
	}
	return replied(reply.Reply{Status: http.StatusOK, Body: position{at}})
}

// wireMove is a move as clients send it.
type wireMove struct {
	// Position is a pointer since 0 is a place and nothing is a mistake.
	Position       *int64 `json:"position"`
	AllowBackwards bool   `json:"allowBackwards"`
}

func (h *Handler) moveSubscription(ctx context.Context, r *http.Request, c eventstore.Caller) answer {
	m, err := decodeMove(r)
	if err == nil {
		err = c.Store.Move(ctx, m)
	}
	if err != nil {
		return replied(h.failure(err))
	}
	return replied(reply.Reply{Status: http.StatusNoContent})
}

func decodeMove(r *http.Request) (eventstore.Move, error) {
	var body wireMove
	if err := decodeOne(http.MaxBytesReader(nil, r.Body, maxSmall), &body); err != nil {
		return eventstore.Move{}, err
	}
	if body.Position == nil {
		return eventstore.Move{}, unreadable(errors.New("position is missing"))
	}
	m := eventstore.Move{ID: r.PathValue("id"), Position: *body.Position, Backwards: body.AllowBackwards}
	switch value := r.URL.Query().Get("allowBackwards"); value {
	case "true":
		m.Backwards = true
	case "", "false":
	default:
		return eventstore.Move{}, eventstore.InvalidError("Invalid 'allowBackwards' parameter: use true or false")
	}
	return m, m.Validate()
}
