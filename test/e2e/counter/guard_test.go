package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func TestWhatIsGuardedNeedsAToken(t *testing.T) {
	x, address := start(t, t.TempDir())
	do := func(method, path, form string, login func(*http.Request)) (status int, body map[string]any) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, address+path, strings.NewReader(form))
		must.Succeed(t, err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		login(r)
		response, err := http.DefaultClient.Do(r)
		must.Succeed(t, err)
		defer response.Body.Close()
		_ = json.NewDecoder(response.Body).Decode(&body) // a refusal has none
		return response.StatusCode, body
	}
	client := func(r *http.Request) { r.SetBasicAuth("shop", "secret") }
	grant := url.Values{"grant_type": {"client_credentials"}}.Encode()
	if status, _ := do("POST", "/run/token?life=60", grant, func(*http.Request) {}); status != 401 {
		t.Errorf("a token without a client: %d", status)
	}
	_, got := do("POST", "/run/token?life=60", grant, client)
	token, _ := got["access_token"].(string)
	if token == "" || got["expires_in"] != 60.0 {
		t.Errorf("the token is %v", got)
	}
	for text, want := range map[string]int{token: 200, token + "0": 401, newToken(time.Now().Add(-time.Second)): 401, "": 401} {
		if status, _ := do("GET", "/run/guarded", "", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+text) }); status != want {
			t.Errorf("with %q: %d, want %d", text, status, want)
		}
	}
	mustCount(t, x, "run-token", count{Received: 2, Wrong: 1})
	mustCount(t, x, "run-guarded", count{Received: 4, Wrong: 3})
}
