package http

import (
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/reply"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
)

// noStore keeps browsers and proxies from answering the next visit by
// themselves: it would not be counted, and could outlive the link.
var noStore = []string{"no-store"}

// redirect leads to where a code does. It takes the short way if all is well:
// no body, and headers whose values are there already.
func (h *Handler) redirect(w http.ResponseWriter, r *http.Request, code string, start time.Time) {
	link, refused, no := h.visit(r, code)
	if no {
		h.Observe(shortener.RouteRedirect, refused.status, h.Now().Sub(start))
		refused.write(w)
		return
	}
	h.Observe(shortener.RouteRedirect, h.redirectStatus, h.Now().Sub(start))
	header := w.Header()
	header["Location"] = []string{link.URL}
	header["Cache-Control"] = noStore
	w.WriteHeader(h.redirectStatus)
}

// visit returns the link of a code, or a refusal. Who only asks for the
// headers has not visited it.
func (h *Handler) visit(r *http.Request, code string) (link shortener.Link, refused result, no bool) {
	defer func() {
		if v := recover(); v != nil {
			refused, no = h.guarded(func() result { panic(v) }), true
		}
	}()
	find := h.Service.Visit
	switch r.Method {
	case http.MethodGet:
	case http.MethodHead:
		find = h.Service.Find
	default:
		return link, notAllowed(read(nil)), true
	}
	if refused, no := h.limit(r); no {
		return link, refused, true
	}
	link, err := find(r.Context(), code)
	if err != nil {
		return link, h.failure(err), true
	}
	if r.Method == http.MethodGet {
		h.Count(shortener.Redirected, 1)
	}
	return link, refused, false
}

// limit refuses a client that asks too often.
func (h *Handler) limit(r *http.Request) (refused result, no bool) {
	if h.Throttle == nil {
		return result{}, false
	}
	client, err := h.TrustedProxies.Client(r)
	if err != nil {
		return problem(http.StatusBadRequest, err.Error()), true
	}
	ok, wait := h.Throttle.Allow(client)
	if ok {
		return result{}, false
	}
	h.Count(shortener.RateLimited, 1)
	// Rounded up, and never to 0, which clients read as "at once".
	seconds := max(1, int64(math.Ceil(wait.Seconds())))
	denied := reply.Failure(http.StatusTooManyRequests, "Rate limit exceeded. Please try again later")
	denied.Headers = []reply.Header{{Name: "Retry-After", Value: strconv.FormatInt(seconds, 10)}}
	return answer(denied), true
}
