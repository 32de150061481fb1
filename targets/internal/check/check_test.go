package check

import (
	"context"
	"errors"
	"flag"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/servetest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

type subcommand func(context.Context, []string, func(string) string, io.Writer) error

func TestWorkingServicesPass(t *testing.T) {
	const asked = "GET /ready: 200\nGET /version: 200\n{\"version\":\"dev\",\"capacity\":50}\n"
	tests := map[string]struct {
		run   subcommand
		pages map[string]http.HandlerFunc
		env   map[string]string
		want  string
	}{
		"shortener": {
			run: Shortener, pages: links(),
			want: asked + "POST /urls: 201\nGET /0001: 302\nGET /urls/0001: 200\ncheck URL: the shortener works\n",
		},
		"event store": {
			run: EventStore, pages: events("secret"), env: map[string]string{"API_KEY": "secret"},
			want: asked + "POST /events: 200\nGET /events?from=7&to=7: 200\ncheck URL: the eventstore works\n",
		},
		"event store without a key": {
			run: EventStore, pages: events(""),
			want: asked + "POST /events: 200\nGET /events?from=7&to=7: 200\ncheck URL: the eventstore works\n",
		},
		"rate limiter that grants": {
			run: RateLimiter, pages: bucket(http.StatusOK, "50", "49"),
			want: asked + "GET /api: 200\ncheck URL: the ratelimiter works\n",
		},
		"rate limiter that refuses": {
			run: RateLimiter, pages: bucket(http.StatusTooManyRequests, "50", "0"),
			want: asked + "GET /api: 429\ncheck URL: the ratelimiter works\n",
		},
		"tokens": {
			run: Tokens, pages: stream(http.StatusOK, "data: {}\n\ndata: {}\n\ndata: {}\n\ndata: [DONE]\n\n"),
			want: asked + "POST /v1/completions: 200\ncheck URL: the tokens works\n",
		},
		"tokens that are full": {
			run: Tokens, pages: stream(http.StatusTooManyRequests, "{}"),
			want: asked + "POST /v1/completions: 429\ncheck URL: the tokens works\n",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			url := fake(t, tc.pages, nil)
			var out strings.Builder
			if err := tc.run(t.Context(), []string{"--url", url + "/"}, servetest.Environment(tc.env), &out); err != nil {
				t.Fatalf("%v\n%s", err, out.String())
			}
			same.As(t, "output", tc.want, strings.ReplaceAll(out.String(), url, "URL"))
		})
	}
}

func TestBrokenServicesAreTold(t *testing.T) {
	elsewhere := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://example.com/other", http.StatusFound)
	}
	tests := map[string]struct {
		run           subcommand
		pages, broken map[string]http.HandlerFunc
		want          string
	}{
		"no version": {
			run: Shortener, pages: links(), broken: map[string]http.HandlerFunc{"GET /version": text(500, "")},
			want: "check URL: GET /version: status 500, want one of [200]: ",
		},
		"a link is not stored": {
			run: Shortener, pages: links(), broken: map[string]http.HandlerFunc{"POST /urls": text(503, `{"error":"no shard answers"}`)},
			want: `check URL: POST /urls: status 503, want one of [201]: {"error":"no shard answers"}`,
		},
		"a link without a code": {
			run: Shortener, pages: links(), broken: map[string]http.HandlerFunc{"POST /urls": text(201, `{}`)},
			want: "check URL: POST /urls: no code in {}",
		},
		"a link that is no JSON": {
			run: Shortener, pages: links(), broken: map[string]http.HandlerFunc{"POST /urls": text(201, `<html>`)},
			want: `check URL: the answer "<html>" is not the JSON that was expected: invalid character '<' looking for beginning of value`,
		},
		"a link is lost": {
			run: Shortener, pages: links(), broken: map[string]http.HandlerFunc{"GET /0001": text(404, "gone")},
			want: "check URL: GET /0001: status 404, want one of [302 301]: gone",
		},
		"a link leads elsewhere": {
			run: Shortener, pages: links(), broken: map[string]http.HandlerFunc{"GET /0001": elsewhere},
			want: `check URL: GET /0001: leads to "https://example.com/other", want "https://example.com/check/`,
		},
		"details of another link": {
			run: Shortener, pages: links(), broken: map[string]http.HandlerFunc{"GET /urls/0001": text(200, `{"code":"2"}`)},
			want: "check URL: GET /urls/0001: link is {Code:2 URL:}, want {Code:0001 URL:https://example.com/check/",
		},
		"no key for the events": {
			run: EventStore, pages: events("secret"),
			want: "check URL: POST /events: status 401, want one of [200 201]: Unauthorized",
		},
		"an event without a position": {
			run: EventStore, pages: events(""), broken: map[string]http.HandlerFunc{"POST /events": text(200, `{}`)},
			want: "check URL: POST /events: position 0, want 1 or more",
		},
		"an event is lost": {
			run: EventStore, pages: events(""), broken: map[string]http.HandlerFunc{"GET /events": text(200, `[]`)},
			want: "check URL: GET /events?from=7&to=7: [], want the event that was appended: ",
		},
		"another event": {
			run: EventStore, pages: events(""), broken: map[string]http.HandlerFunc{"GET /events": text(200, `[{"position":7}]`)},
			want: "check URL: GET /events?from=7&to=7: [{Position:7 ",
		},
		"the limiter's store is down": {
			run: RateLimiter, pages: bucket(http.StatusServiceUnavailable, "50", "49"),
			want: "check URL: GET /api: status 503, want one of [200 429]: ",
		},
		"another contract": {
			run: RateLimiter, pages: bucket(http.StatusOK, "20", "19"),
			want: `check URL: GET /api: X-RateLimit-Limit is "20", want the capacity of /version: 50`,
		},
		"no token is taken": {
			run: RateLimiter, pages: bucket(http.StatusOK, "50", "50"),
			want: `check URL: GET /api: X-RateLimit-Remaining is "50", want 0 to 49, since a token was taken`,
		},
		"a token is lost": {
			run: Tokens, pages: stream(http.StatusOK, "data: {}\n\ndata: {}\n\ndata: [DONE]\n\n"),
			want: `check URL: POST /v1/completions: 2 events in "data: {}\n\ndata: {}\n\ndata: [DONE]\n\n", want 3 and the last, [DONE]`,
		},
		"a stream without an end": {
			run: Tokens, pages: stream(http.StatusOK, "data: {}\n\ndata: {}\n\ndata: {}\n\n"),
			want: "check URL: POST /v1/completions: 3 events in ",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			url := fake(t, tc.pages, tc.broken)
			err := tc.run(t.Context(), []string{"--url=" + url}, servetest.Environment(nil), io.Discard)
			if err == nil {
				t.Fatal("the check says that it works")
			}
			if got := strings.ReplaceAll(err.Error(), url, "URL"); !strings.HasPrefix(got, tc.want) {
				t.Errorf("error = %q, want it to begin with %q", got, tc.want)
			}
		})
	}
}

// A check waits for a target that is just starting.
func TestBecomesReady(t *testing.T) {
	var asked atomic.Int64
	url := fake(t, links(), map[string]http.HandlerFunc{"GET /ready": func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}})
	var out strings.Builder
	must.Succeed(t, Shortener(t.Context(), []string{"--url", url}, servetest.Environment(nil), &out))
	if got := strings.Count(out.String(), "GET /ready: 503\n"); got != 2 {
		t.Errorf("two replies were not ready, and %d were reported:\n%s", got, out.String())
	}
}

// At the deadline the error is the reason, not the deadline.
func TestNeverReady(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var asked atomic.Int64
	url := fake(t, nil, map[string]http.HandlerFunc{"GET /ready": func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 2 {
			cancel()
		}
		text(http.StatusServiceUnavailable, "store unreachable")(w, r)
	}})
	err := Shortener(ctx, []string{"--url", url}, servetest.Environment(nil), io.Discard)
	const want = ": not ready in time: GET /ready: status 503, want one of [200]: store unreachable"
	if err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("error = %v, want one that ends with %q", err, want)
	}
}

func TestRefuses(t *testing.T) {
	tests := map[string]struct {
		args []string
		env  map[string]string
		want string
	}{
		"no URL":          {args: []string{"--url=shortener:80"}, want: `invalid value "shortener:80" for flag -url: "shortener:80" is no URL: use the form http://host:port`},
		"by environment":  {env: map[string]string{"CHECK_URL": "ftp://host"}, want: `invalid value "ftp://host" for CHECK_URL: "ftp://host" is no URL: use the form http://host:port`},
		"no time":         {args: []string{"--timeout=0s"}, want: "--timeout (CHECK_TIMEOUT) is 0s: use a time above 0s"},
		"an unknown flag": {args: []string{"--key=secret"}, want: "flag provided but not defined: -key"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := EventStore(t.Context(), tc.args, servetest.Environment(tc.env), io.Discard)
			if err == nil || err.Error() != tc.want {
				t.Errorf("error = %v, want %q", err, tc.want)
			}
		})
	}
}

func TestHelp(t *testing.T) {
	var out strings.Builder
	if err := EventStore(t.Context(), []string{"--help"}, servetest.Environment(nil), &out); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("error = %v, want flag.ErrHelp", err)
	}
	for _, want := range []string{"eventstore check --url", "appends an event and reads it", "CHECK_TIMEOUT", "API_KEY"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the help does not mention %q:\n%s", want, out.String())
		}
	}
}
