package http

import (
	"errors"
	"html/template"
	"net/http"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/reply"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
)

// shortened is the page that answers a form. The original's lists every link
// of every shard as well, which is a load of its own.
var shortened = template.Must(template.New("").Parse(`<!doctype html>
<title>URL shortener</title>
<form method="post" action="/shorten"><input type="url" name="long_url" required><button>Shorten</button></form>
<p>Short URL: <a href="{{.}}">{{.}}</a></p>
`))

// createFromForm is POST /shorten of seed 001.
func (h *Handler) createFromForm(r *http.Request, _ string) result {
	r.Body = http.MaxBytesReader(nil, r.Body, maxBody)
	err := r.ParseForm()
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return problem(http.StatusRequestEntityTooLarge, "Request body is too large")
	}
	if err != nil || !r.PostForm.Has("long_url") {
		return problem(http.StatusUnprocessableEntity, "Form field long_url is required")
	}
	link, err := h.Service.Shorten(r.Context(), r.PostForm.Get("long_url"), nil)
	if err != nil {
		return h.failure(err)
	}
	return result{http.StatusOK, func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		// The only error left is a client that disconnected.
		_ = shortened.Execute(w, h.shortURL(link))
	}}
}

// seed002Link is a link in the words of seed 002.
type seed002Link struct {
	ShortCode   string    `json:"short_code"`
	OriginalURL string    `json:"original_url"`
	CreatedAt   time.Time `json:"created_at"`
	Clicks      *int64    `json:"clicks,omitempty"`
}

func (h *Handler) createSeed002(r *http.Request, _ string) result {
	var body newLink
	if refused, no := readJSON(r, &body); no {
		return refused
	}
	if body.URL == "" {
		return problem(http.StatusBadRequest, "URL is a required field")
	}
	link, err := h.Service.Shorten(r.Context(), body.URL, nil)
	if err != nil {
		return h.failureSeed002(err)
	}
	return answer(reply.Reply{Status: http.StatusCreated, Body: seed002Link{
		ShortCode: link.Code, OriginalURL: link.URL, CreatedAt: link.CreatedAt,
	}})
}

func (h *Handler) detailsSeed002(r *http.Request, code string) result {
	link, clicks, err := h.Service.Details(r.Context(), code)
	if err != nil {
		return h.failureSeed002(err)
	}
	return answer(reply.Reply{Status: http.StatusOK, Body: seed002Link{
		ShortCode: link.Code, OriginalURL: link.URL, CreatedAt: link.CreatedAt, Clicks: &clicks,
	}})
}

// failureSeed002 is failure where seed 002 has other answers. Where no code was
// free, every one that was tried was taken, so that nothing is stored.
func (h *Handler) failureSeed002(err error) result {
	switch {
	case errors.Is(err, shortener.ErrNotFound):
		return problem(http.StatusNotFound, "URL not found")
	case errors.Is(err, shortener.ErrNoFreeCode):
		return problem(http.StatusServiceUnavailable, "Failed to generate unique short code")
	}
	return h.failure(err)
}
