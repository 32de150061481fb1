package http

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/reply"
)

// answer is a reply, or one whose body is JSON already.
type answer struct {
	reply.Reply
	encoded  []byte
	replayed bool
	// unread says that the client left before there was an answer.
	unread bool
}

func replied(r reply.Reply) answer { return answer{Reply: r} }

func (a answer) write(w http.ResponseWriter) {
	if a.encoded == nil {
		a.Write(w)
		return
	}
	for _, h := range a.Headers {
		w.Header().Set(h.Name, h.Value)
	}
	setJSON(w)
	w.WriteHeader(a.Status)
	// The only error left is a client that disconnected.
	_, _ = w.Write(a.encoded)
}

func setJSON(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
}

func (a answer) outcome() eventstore.Outcome {
	switch {
	case a.unread:
		return eventstore.Aborted
	case a.Status == http.StatusTooManyRequests:
		return eventstore.Limited
	case a.Status >= 500:
		return eventstore.Failed
	case a.Status >= 400:
		return eventstore.Refused
	case a.replayed:
		return eventstore.Replayed
	}
	return eventstore.Done
}

// elsewhere is an error with the actual position of the log.
type elsewhere struct {
	Error    string `json:"error"`
	Position int64  `json:"position"`
}

// failure is the reply to a request that could not be done. The reply describes
// errors that a client can act on; the log has the rest.
//
// A 503 says that nothing of the request is stored, nor will be; any other 5xx leaves
// that open. A deadline by itself is of a read: one that passes while events wait to
// be stored comes with what became of them.
func (h *Handler) failure(err error) reply.Reply {
	var (
		invalid   eventstore.InvalidError
		conflict  eventstore.ConflictError
		backwards eventstore.BackwardsError
		tooLarge  *http.MaxBytesError
	)
	switch {
	case errors.As(err, &tooLarge):
		return reply.Failure(http.StatusRequestEntityTooLarge, "Request body is larger than "+strconv.FormatInt(tooLarge.Limit, 10)+" bytes")
	case errors.As(err, &invalid):
		return reply.Failure(http.StatusBadRequest, err.Error())
	case errors.As(err, &conflict):
		return reply.Reply{Status: http.StatusConflict, Body: elsewhere{conflict.Error(), conflict.Actual}}
	case errors.As(err, &backwards):
		return reply.Reply{Status: http.StatusConflict, Body: elsewhere{backwards.Error(), backwards.Current}}
	case errors.Is(err, eventstore.ErrKeyReused):
		return reply.Failure(http.StatusUnprocessableEntity, eventstore.ErrKeyReused.Error())
	case errors.Is(err, eventstore.ErrOutcomeUnknown):
		return reply.Failure(http.StatusGatewayTimeout, eventstore.ErrOutcomeUnknown.Error())
	case errors.Is(err, errUnread):
		h.Logger.Warn("cannot read what is stored", "error", err)
		return reply.Failure(http.StatusGatewayTimeout, errUnread.Error())
	}
	for _, temporary := range []error{eventstore.ErrBusy, eventstore.ErrClosed, eventstore.ErrNotOpened, eventstore.ErrNotStored, errNoMemory} {
		if errors.Is(err, temporary) {
			return unavailable(temporary.Error())
		}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return unavailable("not read in time: try again later")
	}
	if !errors.Is(err, context.Canceled) {
		h.Logger.Error("request failed", "error", err)
	}
	return reply.Failure(http.StatusInternalServerError, "internal error: see the service's log")
}

// unavailable asks the client to come again.
func unavailable(sentence string) reply.Reply {
	r := reply.Failure(http.StatusServiceUnavailable, sentence)
	r.Headers = []reply.Header{{Name: "Retry-After", Value: "1"}}
	return r
}
