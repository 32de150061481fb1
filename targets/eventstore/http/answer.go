package http

import (
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

// statuses are those of refusals. A 503 says that nothing of the request is stored,
// nor will be; any other 5xx leaves that open.
var statuses = map[eventstore.Reason]int{
	eventstore.Invalid:         http.StatusBadRequest,
	eventstore.Unauthenticated: http.StatusUnauthorized,
	eventstore.Throttled:       http.StatusTooManyRequests,
	eventstore.Conflict:        http.StatusConflict,
	eventstore.Backwards:       http.StatusConflict,
	eventstore.KeyReused:       http.StatusUnprocessableEntity,
	eventstore.Unknown:         http.StatusGatewayTimeout,
	eventstore.Unavailable:     http.StatusServiceUnavailable,
	eventstore.Internal:        http.StatusInternalServerError,
}

// failure is the reply to a request that could not be done.
func (h *Handler) failure(err error) reply.Reply {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return reply.Failure(http.StatusRequestEntityTooLarge, "Request body is larger than "+strconv.FormatInt(tooLarge.Limit, 10)+" bytes")
	}
	refusal := eventstore.Explain(err, h.Logger)
	r := reply.Failure(statuses[refusal.Reason], refusal.Sentence)
	switch refusal.Reason {
	case eventstore.Unauthenticated:
		r.Headers = []reply.Header{{Name: "WWW-Authenticate", Value: "Bearer"}}
	case eventstore.Conflict, eventstore.Backwards:
		r.Body = elsewhere{refusal.Sentence, refusal.Position}
	}
	if refusal.RetryAfter > 0 {
		r.Headers = []reply.Header{{Name: "Retry-After", Value: wholeSeconds(refusal.RetryAfter)}}
	}
	return r
}
