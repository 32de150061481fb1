package http

import (
	"net/http"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/reply"
	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
)

// statuses are those of requests that are not granted.
var statuses = map[ratelimiter.Refusal]int{
	ratelimiter.Limited:     http.StatusTooManyRequests,
	ratelimiter.Invalid:     http.StatusBadRequest,
	ratelimiter.Unavailable: http.StatusServiceUnavailable,
	ratelimiter.Internal:    http.StatusInternalServerError,
}

// hit is the reply to a request that was granted.
type hit struct {
	Msg        string    `json:"msg"`
	Time       time.Time `json:"time"`
	InstanceID string    `json:"instanceId"`
}

func (h *Handler) handleAPI(w http.ResponseWriter, r *http.Request) {
	a := h.Answer(r.Context(), func() (string, error) { return h.TrustedProxies.Client(r) })
	answer := reply.Reply{Status: http.StatusOK, Body: hit{a.Sentence, a.Time, h.About.InstanceID}}
	if a.Refusal != 0 {
		answer = reply.Failure(statuses[a.Refusal], a.Sentence)
	}
	for _, f := range a.Fields {
		answer.Headers = append(answer.Headers, reply.Header(f))
	}
	answer.Write(w)
}
