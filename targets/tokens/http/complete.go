package http

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/reply"
	"github.com/loadtest-dev/loadtest-operator/targets/tokens"
)

// writeTimeout is how long a client may take no byte of a stream.
const writeTimeout = 30 * time.Second

// complete answers requests of a kind.
func (h *Handler) complete(k kind) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		a, p := h.read(w, r, k)
		if p != nil {
			p.write(w)
			return
		}
		g, err := h.Service.Submit(a.prompt, a.tokens)
		if err != nil {
			h.full().write(w)
			return
		}
		defer g.Close()
		head := answer{ID: kinds[k].id + strconv.FormatUint(h.answers.Add(1), 10), Created: h.Now().Unix(), Model: a.model}
		if a.stream {
			h.stream(w, r, &a, g, head)
		} else {
			h.whole(w, r, &a, g, head)
		}
	}
}

// full is the answer to a request for which there is no place.
func (h *Handler) full() *problem {
	p := h.Service.Parameters()
	full := &problem{
		Type:    "rate_limit_error",
		Message: fmt.Sprintf("The server is full: %d requests have a slot and %d wait for one. Try again later.", p.Slots, p.Queue),
		headers: []reply.Header{{Name: "Retry-After", Value: "1"}},
	}
	return full.as(http.StatusTooManyRequests, "rate_limit_exceeded")
}

// busy is the answer to a request for whose body there is no memory.
func busy() *problem {
	p := &problem{
		Type:    "server_error",
		Message: fmt.Sprintf("The server is overloaded: requests of more than %d bytes are being read at once. Try again later.", bodiesInFlight),
		headers: []reply.Header{{Name: "Retry-After", Value: "1"}},
	}
	return p.as(http.StatusServiceUnavailable, "server_overloaded")
}

// whole answers with one document, once it has all tokens. A client that has gone away is
// not answered.
func (h *Handler) whole(w http.ResponseWriter, r *http.Request, a *asked, g *tokens.Generation, head answer) {
	for n := 0; n < a.tokens; {
		var err error
		if n, err = g.Next(r.Context()); err != nil {
			return
		}
	}
	head.Object, head.Choices, head.Usage = kinds[a.kind].whole, a.whole(), a.used()
	reply.Reply{Status: http.StatusOK, Body: head}.Write(w)
}

// stream answers with an event for each token, when it is there.
func (h *Handler) stream(w http.ResponseWriter, r *http.Request, a *asked, g *tokens.Generation, head answer) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(http.StatusOK)
	control := http.NewResponseController(w)
	head.Object = kinds[a.kind].chunk
	if a.usage {
		head.Usage = (*usage)(nil)
	}
	for sent := 0; sent < a.tokens; {
		_ = control.SetWriteDeadline(time.Now().Add(writeTimeout))
		// The client sees the head before the first token: that it has a place.
		if control.Flush() != nil {
			return
		}
		n, err := g.Next(r.Context())
		if err != nil {
			return
		}
		for ; sent < n; sent++ {
			head.Choices = a.part(sent)
			writeEvent(w, head)
		}
	}
	if a.usage {
		head.Choices, head.Usage = []choice{}, a.used()
		writeEvent(w, head)
	}
	_, _ = w.Write([]byte("data: [DONE]\n\n"))
}

// writeEvent writes an event. What fails is the connection, which the next flush reports.
func writeEvent(w http.ResponseWriter, document answer) {
	text, err := json.Marshal(document)
	if err != nil {
		panic(err) // a document of strings and numbers
	}
	_, _ = fmt.Fprintf(w, "data: %s\n\n", text)
}
