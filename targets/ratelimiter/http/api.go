package http

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/reply"
	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
)

// decideTimeout bounds a whole decision: the wait for its batch or for a
// connection, and all attempts. It is no more than the store's timeout for one
// command, so that clients with a timeout of three seconds get a reply also if the
// store hangs.
const decideTimeout = 2 * time.Second

// hit is the reply to a request that was granted.
type hit struct {
	Msg        string    `json:"msg"`
	Time       time.Time `json:"time"`
	InstanceID string    `json:"instanceId"`
}

// handleAPI decides, counts, and replies, in this order: a client that has the
// reply finds the request counted.
func (h *Handler) handleAPI(w http.ResponseWriter, r *http.Request) {
	start := h.Now()
	outcome, answer := h.decide(r, start)
	h.Observe(outcome, h.Now().Sub(start))
	answer.Write(w)
}

// decide turns every way in which a request can end into one outcome and one
// reply. A panic is one of them; let through, it would leave the request
// uncounted.
func (h *Handler) decide(r *http.Request, now time.Time) (outcome ratelimiter.Outcome, answer reply.Reply) {
	defer func() {
		if v := recover(); v != nil {
			h.Logger.Error("panic while deciding", "panic", fmt.Sprint(v))
			outcome, answer = ratelimiter.Failed, reply.Failure(http.StatusInternalServerError, "internal error")
		}
	}()
	client, err := h.TrustedProxies.Client(r)
	if err != nil {
		return ratelimiter.Failed, reply.Failure(http.StatusBadRequest, err.Error())
	}
	// A client that goes away ends no decision: its token may be taken already,
	// and to the breaker it would look as if the store had failed.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), decideTimeout)
	defer cancel()
	decision, err := h.Limiter.Take(ctx, client)
	if err != nil {
		return h.undecided(err, now)
	}
	return h.decided(decision, now)
}

func (h *Handler) decided(d ratelimiter.Decision, now time.Time) (ratelimiter.Outcome, reply.Reply) {
	headers := h.policy.headers(d)
	if !d.Allowed {
		denied := reply.Failure(http.StatusTooManyRequests, "rate limit exceeded")
		denied.Headers = append(headers, denied.Headers...)
		return ratelimiter.Denied, denied
	}
	return ratelimiter.Granted, reply.Reply{Status: http.StatusOK, Headers: headers, Body: h.hit(now)}
}

func (h *Handler) hit(now time.Time) hit {
	return hit{Msg: "Successfully Hit", Time: now.UTC().Truncate(time.Second), InstanceID: h.About.InstanceID}
}

// undecided refuses or grants by the failure policy; a contended bucket is refused
// either way. It never denies, which would be a statement about the bucket.
func (h *Handler) undecided(err error, now time.Time) (ratelimiter.Outcome, reply.Reply) {
	if errors.Is(err, ratelimiter.ErrContended) {
		return ratelimiter.Failed, reply.Failure(http.StatusServiceUnavailable, "rate limiter contended: try again")
	}
	if !errors.Is(err, ratelimiter.ErrNotAsked) {
		h.Logger.Warn("cannot decide", "error", err)
	}
	if h.About.OnStoreFailure == ratelimiter.Open {
		return ratelimiter.Unchecked, reply.Reply{Status: http.StatusOK, Headers: h.policy.unchecked(), Body: h.hit(now)}
	}
	refused := reply.Failure(http.StatusServiceUnavailable, "rate limiter unavailable: its store does not answer")
	refused.Headers = []reply.Header{{Name: "Retry-After", Value: strconv.FormatInt(wholeSeconds(h.StorePause), 10)}}
	return ratelimiter.Failed, refused
}

// policy is the contract in the words of HTTP headers: those in wide use
// (X-RateLimit-*) and those of the IETF draft (RateLimit, RateLimit-Policy).
type policy struct {
	limit  string
	policy string
}

func newPolicy(c ratelimiter.Contract) policy {
	return policy{
		limit:  strconv.FormatInt(c.Capacity, 10),
		policy: fmt.Sprintf(`"bucket";q=%d;w=%d`, c.Capacity, wholeSeconds(c.FillTime())),
	}
}

func (p policy) headers(d ratelimiter.Decision) []reply.Header {
	remaining := strconv.FormatInt(d.Remaining, 10)
	headers := []reply.Header{
		{Name: "X-RateLimit-Limit", Value: p.limit},
		{Name: "X-RateLimit-Remaining", Value: remaining},
		{Name: "RateLimit-Policy", Value: p.policy},
	}
	if d.Allowed {
		return append(headers, reply.Header{Name: "RateLimit", Value: `"bucket";r=` + remaining})
	}
	wait := strconv.FormatInt(wholeSeconds(d.RetryAfter), 10)
	return append(headers,
		reply.Header{Name: "RateLimit", Value: `"bucket";r=` + remaining + `;t=` + wait},
		reply.Header{Name: "Retry-After", Value: wait})
}

// unchecked states the limit, and that the remaining tokens are unknown.
func (p policy) unchecked() []reply.Header {
	return []reply.Header{
		{Name: "X-RateLimit-Limit", Value: p.limit},
		{Name: "X-RateLimit-Unchecked", Value: "store unavailable"},
		{Name: "RateLimit-Policy", Value: p.policy},
	}
}

// wholeSeconds rounds up, and never to 0, which clients read as "at once".
func wholeSeconds(d time.Duration) int64 { return max(1, int64(math.Ceil(d.Seconds()))) }
