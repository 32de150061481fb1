package login_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/loadtest-dev/loadtest-operator/address"
	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/login"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/http1"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

// canary is in what servers answer, and must be in no error.
const canary = "canary-7f3a"

// client is one of a server in memory.
func client(t *testing.T, server *workertest.Target) login.Client {
	t.Helper()
	d, err := dial.NewDialer(dial.Config{
		URL: server.URL, Dial: server.Dial,
		Policy: address.Policy{AllowSpecial: true, Allowed: []address.Destination{{Range: netip.MustParsePrefix("0.0.0.0/0")}}},
	})
	must.Succeed(t, err)
	return login.Client{Credentials: given("shop", "s3cr+t&", ""), Server: server.URL, Path: "/token", Connect: http1.NewClient(d, "test")}
}

// given are credentials that do not change.
func given(id, secret, refreshToken string) func() (login.Credentials, error) {
	return func() (login.Credentials, error) {
		return login.Credentials{ID: id, Secret: secret, RefreshToken: refreshToken}, nil
	}
}

// answer sends a token that is good for so many seconds.
func answer(w http.ResponseWriter, token string, seconds int) {
	_ = json.NewEncoder(w).Encode(map[string]any{"access_token": token, "token_type": "bearer", "expires_in": seconds})
}

func header(token *login.Token) string { return string(token.Append(nil)) }

// The server gets what RFC 6749 says, and the token is renewed when three quarters of its time are
// over: at no instant is there a token that has ended.
func TestTokenIsRenewedBeforeItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var issued atomic.Int64
		server := workertest.InMemory(t, func(w http.ResponseWriter, r *http.Request) {
			id, secret, _ := r.BasicAuth() // which are encoded as in a form
			if id != "shop" || secret != "s3cr%2Bt%26" || r.FormValue("grant_type") != "client_credentials" ||
				r.FormValue("scope") != "read write" || r.FormValue("audience") != "https://shop" {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			<-time.After(2 * time.Second) // in virtual time
			answer(w, fmt.Sprint("token-", issued.Add(1)), 100)
		})
		c := client(t, server)
		c.Scopes, c.Audience = []string{"read", "write"}, "https://shop"
		token := &login.Token{Name: "shop", Issue: c.Issuer()}
		must.Succeed(t, token.Obtain(t.Context()))
		ctx, cancel := context.WithCancel(t.Context())
		// Of each 77 s, the last 2 are those in which the next one is on its way.
		for i := range 308 {
			if i == 30 { // whenever that begins, the time of the token has begun before
				go token.Renew(ctx)
			}
			if want := fmt.Sprintf("Bearer token-%d", 1+i/77); header(token) != want || token.Problem() != "" {
				t.Errorf("after %d s: %q, want %q; %s", i, header(token), want, token.Problem())
			}
			<-time.After(time.Second)
			synctest.Wait()
		}
		cancel()
		synctest.Wait()
		server.Close()
	})
}

// A server that fails leaves the token that there is. Once that has ended, it says so, until there
// is another.
func TestTokenIsKeptUntilItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fails atomic.Bool
		server := workertest.InMemory(t, func(w http.ResponseWriter, _ *http.Request) {
			if fails.Load() {
				w.WriteHeader(http.StatusInternalServerError)
				_, _ = fmt.Fprint(w, canary)
				return
			}
			answer(w, "good", 100)
		})
		token := &login.Token{Name: "shop", Issue: client(t, server).Issuer()}
		must.Succeed(t, token.Obtain(t.Context()))
		fails.Store(true)
		ctx, cancel := context.WithCancel(t.Context())
		go token.Renew(ctx)
		<-time.After(99 * time.Second)
		if header(token) != "Bearer good" || token.Problem() != "" {
			t.Errorf("before its end: %q, %q", header(token), token.Problem())
		}
		tries := server.Served()
		if tries < 3 || tries > 20 {
			t.Errorf("%d tries to renew it, want some, and not one after another", tries)
		}
		<-time.After(11 * time.Second)
		want := `login "shop": the token has ended and could not be renewed: it answered status 500`
		if got := token.Problem(); got != want {
			t.Errorf("after its end: %q, want %q", got, want)
		}
		if more := server.Served() - tries; more > 13 {
			t.Errorf("%d tries in 11 s after it, want one each second", more)
		}
		fails.Store(false)
		<-time.After(2 * time.Second)
		if token.Problem() != "" {
			t.Errorf("with another token: %q", token.Problem())
		}
		cancel()
		synctest.Wait()
		server.Close()
	})
}

// A token that is not known to end is obtained once.
func TestTokenWithoutAnEndIsNotRenewed(t *testing.T) {
	for _, text := range []string{`{"access_token": "x"}`, `{"access_token": "x", "expires_in": 0}`, `{"access_token": "x", "expires_in": null}`} {
		synctest.Test(t, func(t *testing.T) {
			server := workertest.InMemory(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, text) })
			token := &login.Token{Issue: client(t, server).Issuer()}
			must.Succeed(t, token.Obtain(t.Context()))
			token.Renew(t.Context()) // returns
			if header(token) != "Bearer x" || token.Problem() != "" || server.Served() != 1 {
				t.Errorf("%s: %q, %q, %d requests", text, header(token), token.Problem(), server.Served())
			}
			server.Close()
		})
	}
}

// A refresh token that the server replaces is used once. One that the Secret has instead goes before it.
func TestRefreshTokenIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := workertest.InMemory(t, func(w http.ResponseWriter, r *http.Request) {
			if r.FormValue("grant_type") != "refresh_token" {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			_, _ = fmt.Fprintf(w, `{"access_token": "of-%s", "expires_in": "60", "refresh_token": "%[1]s+"}`, r.FormValue("refresh_token"))
		})
		c := client(t, server)
		secret := login.Credentials{ID: "shop", RefreshToken: "r"}
		c.Refreshes, c.Credentials = true, func() (login.Credentials, error) { return secret, nil }
		token := &login.Token{Issue: c.Issuer()}
		for i, want := range []string{"Bearer of-r", "Bearer of-r+", "Bearer of-r++", "Bearer of-other", "Bearer of-other+"} {
			if i == 3 { // the Secret is replaced
				secret.RefreshToken = "other"
			}
			must.Succeed(t, token.Obtain(t.Context()))
			if got := header(token); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
		server.Close()
	})
}

// A client's secret that is replaced during a run is that of the next token; until there is one, an
// error names the file alone.
func TestSecretIsReplacedDuringARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := workertest.InMemory(t, func(w http.ResponseWriter, r *http.Request) {
			_, secret, _ := r.BasicAuth()
			answer(w, "of-"+secret, 100)
		})
		var secret atomic.Value // "": the file is not there
		secret.Store("old")
		c := client(t, server)
		c.Credentials = func() (login.Credentials, error) {
			if secret.Load() == "" {
				return login.Credentials{}, errors.New("open client-secret: no such file")
			}
			return given("shop", secret.Load().(string), "")()
		}
		token := &login.Token{Issue: c.Issuer()}
		must.Succeed(t, token.Obtain(t.Context()))
		ctx, cancel := context.WithCancel(t.Context())
		go token.Renew(ctx)
		secret.Store("")
		<-time.After(101 * time.Second)
		if want := `login "": the token has ended and could not be renewed: open client-secret: no such file`; header(token) != "Bearer of-old" || token.Problem() != want {
			t.Errorf("%q, %q; want %q", header(token), token.Problem(), want)
		}
		secret.Store("new")
		<-time.After(2 * time.Second)
		if header(token) != "Bearer of-new" || token.Problem() != "" {
			t.Errorf("%q, %q", header(token), token.Problem())
		}
		cancel()
		synctest.Wait()
		server.Close()
	})
}

// A server that takes credentials in the body alone gets them there; how it takes them is tried once.
func TestClientThatMayNotUseAHeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := workertest.InMemory(t, func(w http.ResponseWriter, r *http.Request) {
			if r.FormValue("client_secret") != "s3cr+t&" || r.FormValue("client_id") != "shop" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			answer(w, "x", 100)
		})
		token := &login.Token{Issue: client(t, server).Issuer()}
		for _, want := range []int64{2, 3} {
			must.Succeed(t, token.Obtain(t.Context()))
			if server.Served() != want {
				t.Errorf("%d requests, want %d", server.Served(), want)
			}
		}
		server.Close()
	})
}

// Whatever a server answers, the error says what is wrong, has none of the answer, and says
// whether a later try may succeed.
func TestAnswersWithoutAToken(t *testing.T) {
	const noToken = "its answer has no token in JSON, as RFC 6749 (5.1) has it"
	says := func(format string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintf(w, format, canary) }
	}
	tests := map[string]struct {
		handle http.HandlerFunc
		want   string
		later  bool
	}{
		"a client that is refused": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = fmt.Fprintf(w, `{"error": "invalid_client", "error_description": %q}`, canary)
		}, "it answered status 401, invalid_client", false},
		"a code of its own": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = fmt.Fprintf(w, `{"error": %q}`, canary)
		}, "it answered status 400", false},
		"an error with status 200": {says(`{"error": "invalid_scope", "x": %q}`), "it answered status 200, invalid_scope", false},
		"a failure": {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, canary, http.StatusInternalServerError) },
			"it answered status 500", true},
		"too many requests": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) },
			"it answered status 429", true},
		"a redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://169.254.169.254/"+canary, http.StatusTemporaryRedirect)
		},
			"it answered status 307, a redirect, which is not followed", false},
		"no JSON":                  {says("%s"), noToken, false},
		"a page":                   {says("<html><title>%s</title></html>"), noToken, false},
		"a form":                   {says("access_token=%s&token_type=bearer"), noToken, false},
		"an end that is no number": {says(`{"access_token": %q, "expires_in": %[1]q}`), noToken, false},
		"an end beyond all times":  {says(`{"access_token": %q, "expires_in": 1e30}`), noToken, false},
		"an answer without an end": {func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				_, _ = fmt.Fprint(w, canary)
				_ = http.NewResponseController(w).Flush()
				select {
				case <-time.After(time.Second):
				case <-r.Context().Done():
				}
			}
		}, "read: ", true},
		"no token": {says(`{"id_token": %q}`), noToken, false},
		"a large answer": {func(w http.ResponseWriter, _ *http.Request) { answer(w, strings.Repeat(canary, 1<<20), 100) },
			"its answer is larger than 65536 bytes", false},
		"a long token": {func(w http.ResponseWriter, _ *http.Request) { answer(w, strings.Repeat(canary, 2000), 100) },
			"the token is longer than 16384 bytes", false},
		"line breaks": {func(w http.ResponseWriter, _ *http.Request) { answer(w, canary+"\r\nHost: elsewhere", 100) },
			"the token is empty, or has a character that no header may have there", false},
		"characters beyond ASCII": {func(w http.ResponseWriter, _ *http.Request) { answer(w, canary+"é", 100) },
			"the token is empty, or has a character that no header may have there", false},
		"another type": {says(`{"access_token": %q, "token_type": %[1]q}`), "the token is not one of type Bearer", false},
		"a token that has ended": {func(w http.ResponseWriter, _ *http.Request) { answer(w, canary, -60) },
			"the token ends within 10s: have it issued for a longer time", false},
		"a token that ends at once": {func(w http.ResponseWriter, _ *http.Request) { answer(w, canary, 1) },
			"the token ends within 10s: have it issued for a longer time", false},
		"no answer": {func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-time.After(time.Minute):
			case <-r.Context().Done():
			}
		}, "read: ", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := workertest.InMemory(t, tt.handle)
				token := &login.Token{Name: "shop", Issue: client(t, server).Issuer()}
				err := token.Obtain(t.Context())
				if err == nil || !strings.HasPrefix(err.Error(), tt.want) || strings.Contains(err.Error(), canary) {
					t.Errorf("error %v, want %q", err, tt.want)
				}
				if _, later := errors.AsType[*login.Unavailable](err); later != tt.later {
					t.Errorf("a later try may succeed: %t, want %t", later, tt.later)
				}
				<-time.After(2 * time.Minute)
				server.Close()
			})
		})
	}
}
