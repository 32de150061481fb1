package http

import (
	"fmt"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestLinksAreCreatedOrRefused(t *testing.T) {
	long := strings.Repeat("a", shortener.MaxURLLength)
	tests := map[string]struct {
		body    string
		taken   []string
		failure error
		status  int
		want    string
	}{
		"a random code":    {body: `{"url":"https://example.com/a"}`, status: 201, want: `{"shortUrl":"http://sho.rt/abc123","code":"abc123"}`},
		"an alias":         {body: `{"url":"example.com","alias":"mine"}`, status: 201, want: `{"shortUrl":"http://sho.rt/mine","code":"mine"}`},
		"no alias":         {body: `{"url":"example.com","alias":null}`, status: 201, want: `{"shortUrl":"http://sho.rt/abc123","code":"abc123"}`},
		"an unknown field": {body: `{"url":"example.com","x":1}`, status: 201, want: `{"shortUrl":"http://sho.rt/abc123","code":"abc123"}`},
		"no JSON":          {body: `{"url"`, status: 400, want: `{"error":"Malformed JSON"}`},
		"no body":          {body: ``, status: 400, want: `{"error":"Malformed JSON"}`},
		"more than JSON":   {body: `{"url":"example.com"} x`, status: 400, want: `{"error":"Malformed JSON"}`},
		"another type":     {body: `{"url":1}`, status: 400, want: `{"error":"Malformed JSON"}`},
		"no URL":           {body: `{}`, status: 400, want: `{"error":"Invalid URL format"}`},
		"no web page":      {body: `{"url":"ftp://example.com"}`, status: 400, want: `{"error":"Invalid URL format"}`},
		"too long a URL":   {body: `{"url":"https://example.com/` + long + `"}`, status: 400, want: `{"error":"URL exceeds maximum length"}`},
		"an empty alias":   {body: `{"url":"example.com","alias":""}`, status: 400, want: `{"error":"Invalid alias format. Alias must contain only letters, numbers, and be non-empty"}`},
		"a page as alias":  {body: `{"url":"example.com","alias":"version"}`, status: 400, want: `{"error":"Invalid alias format. Alias must contain only letters, numbers, and be non-empty"}`},
		"an alias taken":   {body: `{"url":"example.com","alias":"mine"}`, taken: []string{"mine"}, status: 409, want: `{"error":"Alias is already in use"}`},
		"every code taken": {body: `{"url":"example.com"}`, taken: []string{"abc123"}, status: 500, want: `{"error":"Unable to generate unique short code. Please try again"}`},
		"no store":         {body: `{"url":"example.com"}`, failure: errGone, status: 503, want: `{"error":"Service temporarily unavailable. Please try again later"}`},
		"no answer": {
			body: `{"url":"example.com"}`, failure: fmt.Errorf("insert link: %w", shortener.ErrOutcomeUnknown), status: 504,
			want: `{"error":"Done or not done: the database did not answer. Please check before you try again"}`,
		},
		"the largest body":  {body: `{"url":"example.com"}` + strings.Repeat(" ", 64<<10-21), status: 201, want: `{"shortUrl":"http://sho.rt/abc123","code":"abc123"}`},
		"too large a body":  {body: `{"url":"example.com"}` + strings.Repeat(" ", 64<<10-20), status: 413, want: `{"error":"Request body is too large"}`},
		"a null for a body": {body: `null`, status: 400, want: `{"error":"Invalid URL format"}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newService(t, nil)
			for _, code := range tt.taken {
				s.create(t, code)
			}
			s.store.SetFailure(tt.failure)
			wantStatusAndBody(t, s.ask("POST", "/urls", tt.body), tt.status, tt.want)
			created := 0
			if tt.status == 201 {
				created = 1
			}
			same.As(t, "counted links", created, s.events[shortener.LinkCreated])
			s.store.SetFailure(nil)
			if links, _, err := s.store.Totals(t.Context()); err != nil || int(links) != created+len(tt.taken) {
				t.Errorf("%d links stored, %v; want %d", links, err, created+len(tt.taken))
			}
		})
	}
}

func TestDetailsAndStats(t *testing.T) {
	s := newService(t, nil)
	s.create(t, "mine")
	s.create(t, "other")
	for range 3 {
		s.ask("GET", "/mine", "")
	}
	tests := map[string]struct {
		status int
		body   string
	}{
		"/urls/mine": {200, `{"code":"mine","url":"https://example.com/mine","createdAt":"2026-11-20T12:00:00.123456Z","expiresAt":"2026-11-20T13:00:00.123456Z","clicks":3}`},
		"/urls/none": {404, `{"error":"Short code does not exist"}`},
		"/urls/a-b":  {404, `{"error":"Short code does not exist"}`},
		"/urls/":     {404, `{"error":"Short code does not exist"}`},
		"/urls/a/b":  {404, `{"error":"no such page"}`},
		"/stats":     {200, `{"links":2,"clicks":3}`},
	}
	for path, want := range tests {
		wantStatusAndBody(t, s.ask("GET", path, ""), want.status, want.body)
	}
	s.store.SetFailure(errGone)
	for _, path := range []string{"/urls/mine", "/stats"} {
		wantStatusAndBody(t, s.ask("GET", path, ""), 503, `{"error":"Service temporarily unavailable. Please try again later"}`)
	}
}

func TestPagesOfSeed001(t *testing.T) {
	s := newService(t, func(_ *shortener.Config, c *Config) { c.API = shortener.Seed001 })
	got := s.ask("POST", "/shorten", "long_url=https%3A%2F%2Fexample.com%2Fa")
	if got.Status != 200 || got.Headers["Content-Type"] != "text/html; charset=utf-8" {
		t.Errorf("POST /shorten = %d, %s", got.Status, got.Headers["Content-Type"])
	}
	if want := `<a href="http://sho.rt/abc123">http://sho.rt/abc123</a>`; !strings.Contains(got.Body, want) {
		t.Errorf("page has no %s:\n%s", want, got.Body)
	}
	wantStatusAndBody(t, s.ask("POST", "/shorten", ""), 422, `{"error":"Form field long_url is required"}`)
	wantStatusAndBody(t, s.ask("POST", "/shorten", "long_url=%zz"), 422, `{"error":"Form field long_url is required"}`)
	wantStatusAndBody(t, s.ask("POST", "/shorten", "long_url=ftp://a"), 400, `{"error":"Invalid URL format"}`)
	wantStatusAndBody(t, s.ask("POST", "/shorten", "long_url="+strings.Repeat("a", 64<<10)), 413, `{"error":"Request body is too large"}`)
	want := []string{"create 200", "create 422", "create 422", "create 400", "create 413"}
	same.As(t, "observed", want, s.observed)
	wantStatusAndBody(t, s.ask("POST", "/urls", `{"url":"example.com","alias":"mine"}`), 201, `{"shortUrl":"http://sho.rt/mine","code":"mine"}`)
}

func TestPagesOfSeed002(t *testing.T) {
	s := newService(t, func(_ *shortener.Config, c *Config) { c.API = shortener.Seed002 })
	ask := func(method, path, body string, status int, want string) {
		t.Helper()
		wantStatusAndBody(t, s.ask(method, path, body), status, want)
	}
	ask("POST", "/api/urls", `{"url":"https://example.com/a"}`, 201,
		`{"short_code":"abc123","original_url":"https://example.com/a","created_at":"2026-11-20T12:00:00.123456Z"}`)
	ask("GET", "/api/urls/abc123", "", 200,
		`{"short_code":"abc123","original_url":"https://example.com/a","created_at":"2026-11-20T12:00:00.123456Z","clicks":0}`)
	ask("GET", "/abc123", "", 302, "")
	ask("GET", "/api/urls/abc123", "", 200,
		`{"short_code":"abc123","original_url":"https://example.com/a","created_at":"2026-11-20T12:00:00.123456Z","clicks":1}`)
	ask("GET", "/api/urls/none", "", 404, `{"error":"URL not found"}`)
	ask("POST", "/api/urls", `{}`, 400, `{"error":"URL is a required field"}`)
	ask("POST", "/api/urls", `{`, 400, `{"error":"Malformed JSON"}`)
	ask("POST", "/api/urls", `{"url":"ftp://a"}`, 400, `{"error":"Invalid URL format"}`)
	ask("POST", "/api/urls", `{"url":"example.com"}`, 503, `{"error":"Failed to generate unique short code"}`)
	s.store.SetFailure(errGone)
	ask("GET", "/api/urls/abc123", "", 503, `{"error":"Service temporarily unavailable. Please try again later"}`)
}
