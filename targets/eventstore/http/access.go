package http

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/reply"
)

// admit lets a request in.
func (h *Handler) admit(ctx context.Context, r *http.Request) (eventstore.Caller, error) {
	key := eventstore.Presented(r.Header.Get("X-API-Key"), r.Header.Get("Authorization"))
	return h.Admit(ctx, func() (string, error) { return h.TrustedProxies.Client(r) }, key)
}

// wholeSeconds rounds up, and never to 0, which clients read as "at once".
func wholeSeconds(d time.Duration) string {
	return strconv.FormatInt(max(1, int64(math.Ceil(d.Seconds()))), 10)
}

// tenants are the names that a caller is told: its own.
type tenants struct {
	Tenants []string `json:"tenants"`
	Count   int      `json:"count"`
}

func ownTenant(_ context.Context, _ *http.Request, c eventstore.Caller) answer {
	return replied(reply.Reply{Status: http.StatusOK, Body: tenants{[]string{c.Tenant}, 1}})
}
