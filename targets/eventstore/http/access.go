package http

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/reply"
)

// Access decides which client may use which log.
type Access struct {
	// Tenants own the logs by their keys. Without any, all clients may use the one
	// log.
	Tenants eventstore.Tenants
	// Multi says that there may be several, which can list their names.
	Multi bool
}

// tenant finds the tenant of the request's key.
func (a Access) tenant(r *http.Request) (string, *reply.Reply) {
	if a.Tenants.Len() == 0 {
		return eventstore.SingleLog, nil
	}
	key := presented(r.Header)
	if name, ok := a.Tenants.Owner(key); ok {
		return name, nil
	}
	sentence := "Unauthorized"
	if a.Multi {
		sentence = "Invalid API key"
		if key == "" {
			sentence = "API key required"
		}
	}
	refused := reply.Failure(http.StatusUnauthorized, sentence)
	refused.Headers = []reply.Header{{Name: "WWW-Authenticate", Value: "Bearer"}}
	return "", &refused
}

// presented is the key of X-API-Key, else of Authorization with or without
// Bearer before it.
func presented(h http.Header) string {
	if key := h.Get("X-API-Key"); key != "" {
		return key
	}
	authorization := h.Get("Authorization")
	const scheme = "Bearer "
	if len(authorization) >= len(scheme) && strings.EqualFold(authorization[:len(scheme)], scheme) {
		return authorization[len(scheme):]
	}
	return authorization
}

// limited is the reply to a client that asks too often; nil if it may ask.
func (h *Handler) limited(r *http.Request) *reply.Reply {
	if h.Limit == nil {
		return nil
	}
	client, err := h.TrustedProxies.Client(r)
	if err != nil {
		refused := reply.Failure(http.StatusBadRequest, err.Error())
		return &refused
	}
	ok, wait := h.Limit(client)
	if ok {
		return nil
	}
	refused := reply.Failure(http.StatusTooManyRequests, "Rate limit exceeded")
	refused.Headers = []reply.Header{{Name: "Retry-After", Value: wholeSeconds(wait)}}
	return &refused
}

// wholeSeconds rounds up, and never to 0, which clients read as "at once".
func wholeSeconds(d time.Duration) string {
	return strconv.FormatInt(max(1, int64(math.Ceil(d.Seconds()))), 10)
}

// tenants are the names that a caller may know: its own.
type tenants struct {
	Tenants []string `json:"tenants"`
	Count   int      `json:"count"`
}

func ownTenant(_ context.Context, _ *http.Request, c caller) answer {
	return replied(reply.Reply{Status: http.StatusOK, Body: tenants{[]string{c.tenant}, 1}})
}
