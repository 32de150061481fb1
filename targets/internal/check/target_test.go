package check

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// fake is a target of fixed answers by "METHOD /path", and the different answers of
// a broken one.
func fake(t *testing.T, pages map[string]http.HandlerFunc, broken map[string]http.HandlerFunc) string {
	t.Helper()
	all := map[string]http.HandlerFunc{
		"GET /ready":   text(http.StatusOK, `{"status":"ready"}`),
		"GET /version": text(http.StatusOK, `{"version":"dev","capacity":50}`+"\n"),
	}
	maps.Copy(all, pages)
	maps.Copy(all, broken)
	mux := http.NewServeMux()
	for pattern, handler := range all {
		mux.HandleFunc(pattern, handler)
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

func text(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

// links is a shortener that has one link, under the code 0001.
func links() map[string]http.HandlerFunc {
	var stored string
	return map[string]http.HandlerFunc{
		"POST /urls": func(w http.ResponseWriter, r *http.Request) {
			var asked struct{ URL string }
			if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || r.Header.Get("Content-Type") != "application/json" {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			stored = asked.URL
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, `{"shortUrl":"http://localhost/0001","code":"0001"}`)
		},
		"GET /0001": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, stored, http.StatusFound) },
		"GET /urls/0001": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"code":"0001","url":%q,"clicks":1}`, stored)
		},
	}
}

// events is a store that has one event at position 7, for clients with a key.
func events(key string) map[string]http.HandlerFunc {
	var stored map[string]any
	guarded := func(h http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("X-API-Key") != key {
				http.Error(w, "Unauthorized", http.StatusUnauthorized)
				return
			}
			h(w, r)
		}
	}
	return map[string]http.HandlerFunc{
		"POST /events": guarded(func(w http.ResponseWriter, r *http.Request) {
			if err := json.NewDecoder(r.Body).Decode(&stored); err != nil || r.Header.Get("Idempotency-Key") == "" {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			stored["position"] = 7
			_ = json.NewEncoder(w).Encode(stored)
		}),
		"GET /events": guarded(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.RawQuery != "from=7&to=7" {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			_ = json.NewEncoder(w).Encode([]any{stored})
		}),
	}
}

// bucket is a limiter with the same answer for each new client.
func bucket(status int, limit, remaining string) map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{"GET /api": func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.Header.Get("X-Forwarded-For"), "2001:db8:") {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.Header().Set("X-RateLimit-Limit", limit)
		w.Header().Set("X-RateLimit-Remaining", remaining)
		w.WriteHeader(status)
	}}
}

// stream is a server of a language model that answers requests for three tokens.
func stream(status int, body string) map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{"POST /v1/completions": func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			MaxTokens int `json:"max_tokens"`
			Stream    bool
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || asked.MaxTokens != 3 || !asked.Stream {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		text(status, body)(w, r)
	}}
}
