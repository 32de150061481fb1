package http

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/reply"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
)

// maxBody is several times what a URL of MaxURLLength needs with every byte escaped
// (6 in JSON: \u0061), and so little that a thousand clients at once do
// not fill the memory of a replica, which the chart limits to 256 MiB.
const maxBody = 64 << 10

// newLink is the body of POST /urls. Other fields are ignored.
type newLink struct {
	URL   string  `json:"url"`
	Alias *string `json:"alias"`
}

type createdLink struct {
	ShortURL string `json:"shortUrl"`
	Code     string `json:"code"`
}

type linkDetails struct {
	Code      string    `json:"code"`
	URL       string    `json:"url"`
	CreatedAt time.Time `json:"createdAt"`
	ExpiresAt time.Time `json:"expiresAt"`
	Clicks    int64     `json:"clicks"`
}

type totals struct {
	Links  int64 `json:"links"`
	Clicks int64 `json:"clicks"`
}

func (h *Handler) create(r *http.Request, _ string) result {
	var body newLink
	if refused, no := readJSON(r, &body); no {
		return refused
	}
	link, err := h.Service.Shorten(r.Context(), body.URL, body.Alias)
	if err != nil {
		return h.failure(err)
	}
	return answer(reply.Reply{Status: http.StatusCreated, Body: createdLink{ShortURL: h.shortURL(link), Code: link.Code}})
}

func (h *Handler) shortURL(l shortener.Link) string { return h.BaseURL + "/" + l.Code }

func (h *Handler) details(r *http.Request, code string) result {
	link, clicks, err := h.Service.Details(r.Context(), code)
	if err != nil {
		return h.failure(err)
	}
	return answer(reply.Reply{Status: http.StatusOK, Body: linkDetails{
		Code: link.Code, URL: link.URL, CreatedAt: link.CreatedAt, ExpiresAt: link.ExpiresAt, Clicks: clicks,
	}})
}

func (h *Handler) stats(r *http.Request, _ string) result {
	links, clicks, err := h.Service.Totals(r.Context())
	if err != nil {
		return h.failure(err)
	}
	return answer(reply.Reply{Status: http.StatusOK, Body: totals{Links: links, Clicks: clicks}})
}

// readJSON reads the one value that the body has to be.
func readJSON(r *http.Request, into any) (refused result, no bool) {
	// Without a ResponseWriter the reader does not close the connection: a body
	// that is a little too long is read to its end by net/http, a longer one ends
	// it.
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBody))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return problem(http.StatusRequestEntityTooLarge, "Request body is too large"), true
	}
	if err != nil || json.Unmarshal(body, into) != nil {
		return problem(http.StatusBadRequest, "Malformed JSON"), true
	}
	return result{}, false
}

// refusals are the replies to errors of the client, or of chance.
var refusals = []struct {
	err      error
	status   int
	sentence string
}{
	{shortener.ErrNotFound, http.StatusNotFound, "Short code does not exist"},
	{shortener.ErrURLFormat, http.StatusBadRequest, "Invalid URL format"},
	{shortener.ErrURLLength, http.StatusBadRequest, "URL exceeds maximum length"},
	{shortener.ErrAlias, http.StatusBadRequest, "Invalid alias format. Alias must contain only letters, numbers, and be non-empty"},
	{shortener.ErrTaken, http.StatusConflict, "Alias is already in use"},
	{shortener.ErrNoFreeCode, http.StatusInternalServerError, "Unable to generate unique short code. Please try again"},
}

// failure answers an error. Errors outside the table are the store's; the reply
// asks the client to retry or, if the store did not answer, says that the request
// may have been carried out.
func (h *Handler) failure(err error) result {
	for _, refusal := range refusals {
		if errors.Is(err, refusal.err) {
			return problem(refusal.status, refusal.sentence)
		}
	}
	h.Logger.Warn("cannot answer", "error", err)
	if errors.Is(err, shortener.ErrOutcomeUnknown) {
		return problem(http.StatusGatewayTimeout, "Done or not done: the database did not answer. Please check before you try again")
	}
	return problem(http.StatusServiceUnavailable, "Service temporarily unavailable. Please try again later")
}
