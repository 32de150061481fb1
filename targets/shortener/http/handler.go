package http

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/clientip"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/reply"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
)

// Throttle decides whether a client may be served now, and when not, how long
// it has to wait.
type Throttle interface {
	Allow(client string) (ok bool, retryAfter time.Duration)
}

// Config is what the server is made of.
type Config struct {
	PagesConfig
	Service *shortener.Service
	API     shortener.API
	// BaseURL is what short URLs begin with, without a slash at its end.
	BaseURL string
	// Throttle limits clients; nil limits none.
	Throttle Throttle
	// TrustedProxies are the peers whose X-Forwarded-For is believed.
	TrustedProxies clientip.Trusted
	// Count counts redirects and requests that were limited.
	Count shortener.Count
}

func (c Config) validate() error {
	if c.Service == nil || c.Count == nil {
		return errors.New("http server is incomplete: set Service and Count")
	}
	_, err := shortener.ParseAPI(string(c.API))
	return err
}

// Handler answers every page of the service.
type Handler struct {
	*Pages
	Config
	redirectStatus int
}

var _ http.Handler = (*Handler)(nil)

// NewHandler returns the handler of a complete configuration.
func NewHandler(c Config) (*Handler, error) {
	pages, err := NewPages(c.PagesConfig)
	if err := errors.Join(err, c.validate()); err != nil {
		return nil, err
	}
	h := &Handler{Pages: pages, Config: c, redirectStatus: http.StatusFound}
	h.exact["/urls"] = page{shortener.RouteCreate, write(h.limited(h.create))}
	h.prefix["/urls/"] = page{shortener.RouteDetails, read(h.limited(h.details))}
	h.exact["/stats"] = page{shortener.RouteStats, read(h.limited(h.stats))}
	switch c.API {
	case shortener.Seed001:
		h.redirectStatus = http.StatusMovedPermanently
		h.exact["/shorten"] = page{shortener.RouteCreate, write(h.limited(h.createFromForm))}
	case shortener.Seed002:
		h.exact["/api/urls"] = page{shortener.RouteCreate, write(h.limited(h.createSeed002))}
		h.prefix["/api/urls/"] = page{shortener.RouteDetails, read(h.limited(h.detailsSeed002))}
	}
	return h, nil
}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if path := r.URL.Path; len(path) > 1 && shortener.IsCode(path[1:]) {
		h.redirect(w, r, path[1:])
		return
	}
	h.Pages.ServeHTTP(w, r)
}

// limited asks the throttle first.
func (h *Handler) limited(do action) action {
	return func(r *http.Request, rest string) result {
		if refused, no := h.limit(r); no {
			return refused
		}
		return do(r, rest)
	}
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
