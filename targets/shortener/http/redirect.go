package http

import (
	"net/http"

	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
)

// noStore keeps browsers and proxies from answering the next visit by
// themselves: it would not be counted, and could outlive the link.
var noStore = []string{"no-store"}

// redirect leads to where a code does. It takes the short way if all is well:
// no body, and headers whose values are there already.
func (h *Handler) redirect(w http.ResponseWriter, r *http.Request, code string) {
	start := h.Now()
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

// visit returns the link of a code, or a refusal. A HEAD request is no visit.
func (h *Handler) visit(r *http.Request, code string) (link shortener.Link, refused result, no bool) {
	defer func() {
		if v := recover(); v != nil {
			refused, no = h.broken(v), true
		}
	}()
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return link, notAllowed(read(nil)), true
	}
	if refused, no := h.limit(r); no {
		return link, refused, true
	}
	var err error
	if r.Method == http.MethodHead {
		link, err = h.Service.Find(r.Context(), code)
	} else if link, err = h.Service.Visit(r.Context(), code); err == nil {
		h.Count(shortener.Redirected, 1)
	}
	if err != nil {
		return link, h.failure(err), true
	}
	return link, refused, false
}
