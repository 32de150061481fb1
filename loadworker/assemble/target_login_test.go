package assemble

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/oauth2"
	"google.golang.org/protobuf/proto"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/login"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/test/same"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

// canary is a token, which must be in nothing that a worker says.
const canary = "canary-91d2"

// loggedIn has the requests of an assignment, and a question of a preflight, log in.
func loggedIn(a *workerv1.Assignment, l *workerv1.Login) *workerv1.Assignment {
	l.Name = "shop"
	a.Logins = []*workerv1.Login{l}
	a.Requests[0].Headers = []*workerv1.Header{{Name: "Authorization", ValueFile: "/nowhere", Login: 1}}
	a.Preflight = []*workerv1.Request{proto.CloneOf(a.Requests[0])}
	return a
}

func byToken(t *testing.T, target int32) *workerv1.Login {
	return &workerv1.Login{Oauth2: &workerv1.OAuth2{
		Target: target, Path: "/token", ClientIdFile: file(t, "shop\n"), ClientSecretFile: file(t, "secret-of-client\n"),
	}}
}

// authorizations counts the requests of a target by their header, and denies them unless it is allowed.
type authorizations struct {
	mu    sync.Mutex
	count map[string]int
	allow string
}

func (a *authorizations) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.count == nil {
		a.count = map[string]int{}
	}
	got := r.Header.Get("Authorization")
	a.count[got]++
	if got != a.allow {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprint(w, got)
	}
}

func TestRequestsLogIn(t *testing.T) {
	issued := 0
	identity := workertest.NewTarget(t, func(w http.ResponseWriter, _ *http.Request) {
		issued++
		_ = json.NewEncoder(w).Encode(map[string]any{"access_token": canary, "expires_in": 3600})
	})
	tests := map[string]struct {
		login func(*testing.T) *workerv1.Login
		want  string
	}{
		"basic": {func(t *testing.T) *workerv1.Login {
			return &workerv1.Login{UsernameFile: file(t, "Aladdin\n"), PasswordFile: file(t, "open sesame\n")}
		}, "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="}, // the example of RFC 7617
		"bearer":            {func(t *testing.T) *workerv1.Login { return &workerv1.Login{TokenFile: file(t, "${user}$\n")} }, "Bearer ${user}$"},
		"client credential": {func(t *testing.T) *workerv1.Login { return byToken(t, 1) }, "Bearer " + canary},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := &authorizations{allow: tt.want}
			shop := workertest.NewTarget(t, got.ServeHTTP)
			a := loggedIn(workertest.Assignment(shop.URL, workertest.Burst(0, 3, 4)), tt.login(t))
			a.OtherTargets = []*workerv1.Target{{Url: identity.URL, TimeoutNanos: 1e10, AllowSpecialAddresses: true}}
			a.ExposeResponses = true
			var said []string
			m := run(t, prepared(t, a, testConfig(), func(err error) { said = append(said, err.Error()) }))
			if q := &m.Requests[0]; q.Sent != 12 || q.Expected != 12 {
				t.Errorf("%d of %d were expected: %v", q.Expected, q.Sent, errorsOf(m))
			}
			same.As(t, "headers", map[string]int{tt.want: 13}, got.count)
			if text := fmt.Sprint(said, m); strings.Contains(text, canary) || strings.Contains(text, "secret-of-client") {
				t.Errorf("a token is in %s", text)
			}
		})
	}
	if issued != 1 {
		t.Errorf("%d tokens were issued for one worker", issued)
	}
}

// A target that refuses the token, and sends it back, puts it nowhere.
func TestTokenThatIsSentBackIsInNoError(t *testing.T) {
	identity := workertest.NewTarget(t, func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"access_token": canary, "expires_in": 3600})
	})
	shop := workertest.NewTarget(t, (&authorizations{}).ServeHTTP)
	a := loggedIn(workertest.Assignment(shop.URL, workertest.Burst(0, 1, 2)), byToken(t, 1))
	a.OtherTargets, a.Preflight = []*workerv1.Target{{Url: identity.URL, TimeoutNanos: 1e10, AllowSpecialAddresses: true}}, nil
	m := run(t, prepared(t, a, testConfig(), ignore))
	if n := m.Requests[0].StatusCodes[http.StatusUnauthorized]; n != 2 || strings.Contains(fmt.Sprint(m.Requests[0].Errors), canary) {
		t.Errorf("%d were refused: %v", n, m.Requests[0].Errors)
	}
}

// A redirect that is followed to another origin has no login, of whatever type; one that is followed
// to the target itself has it.
func TestNoLoginGoesToAnotherOrigin(t *testing.T) {
	var mu sync.Mutex
	elsewhere := map[string]int{}
	note := func(r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		for _, name := range []string{"Authorization", "X-Amz-Security-Token", "X-Amz-Date"} {
			elsewhere[name] += len(r.Header.Values(name))
		}
		elsewhere["requests"]++
	}
	other := workertest.NewTarget(t, func(_ http.ResponseWriter, r *http.Request) { note(r) })
	identity := workertest.NewTarget(t, func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"access_token": canary, "expires_in": 3600})
	})
	for name, l := range map[string]*workerv1.Login{
		"basic":  {UsernameFile: file(t, "a"), PasswordFile: file(t, canary)},
		"bearer": {TokenFile: file(t, canary)},
		"token":  byToken(t, 2),
		"signed": bySignature(t, "s3"),
	} {
		t.Run(name, func(t *testing.T) {
			clear(elsewhere)
			var without atomic.Int64
			shop := workertest.NewTarget(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") == "" {
					without.Add(1)
				}
				to := map[string]string{"/": "/second", "/second": other.URL + "/third"}[r.URL.Path]
				http.Redirect(w, r, to, http.StatusTemporaryRedirect)
			})
			for _, journey := range []bool{false, true} {
				a := loggedIn(workertest.Assignment(shop.URL, workertest.Burst(0, 2, 3)), l)
				a.Preflight, a.Requests[0].Path, a.Requests[0].FollowRedirects = nil, "/", 2
				a.OtherTargets = []*workerv1.Target{{Url: other.URL, TimeoutNanos: 1e10, AllowSpecialAddresses: true}, {Url: identity.URL, TimeoutNanos: 1e10, AllowSpecialAddresses: true}}
				if journey {
					a.Journeys = []*workerv1.Journey{{Name: "j", Weight: 1, Steps: []*workerv1.JourneyStep{{Request: 0, Times: 1}}}}
				}
				if q := &run(t, prepared(t, a, testConfig(), ignore)).Requests[0]; q.Expected != 6 || q.Redirects != 12 {
					t.Errorf("%d of %d were expected, and %d redirects followed", q.Expected, q.Sent, q.Redirects)
				}
			}
			same.As(t, "what came elsewhere", map[string]int{"requests": 12, "Authorization": 0, "X-Amz-Security-Token": 0, "X-Amz-Date": 0}, elsewhere)
			if n := without.Load(); n > 0 {
				t.Errorf("the target got %d requests without a login", n)
			}
		})
	}
}

// A token that cannot be obtained keeps the worker from being ready, and says why.
func TestLoginsThatFail(t *testing.T) {
	shop := workertest.NewTarget(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	tests := map[string]struct {
		change  func(*testing.T, *workerv1.Assignment)
		reason  string
		message string
	}{
		"a server that refuses": {func(*testing.T, *workerv1.Assignment) {}, "InvalidSpec",
			`login "shop": no token from ` + shop.URL + ": it answered status 403"},
		"a server that is closed": {func(_ *testing.T, a *workerv1.Assignment) {
			a.OtherTargets = []*workerv1.Target{{Url: "http://127.0.0.1:1", AllowSpecialAddresses: true}}
			a.Logins[0].Oauth2.Target = 1
		}, "TargetUnreachable", `login "shop": no token from http://127.0.0.1:1: dial: `},
		"a server that no policy allows": {func(_ *testing.T, a *workerv1.Assignment) {
			a.OtherTargets = []*workerv1.Target{{Url: shop.URL}}
			a.Logins[0].Oauth2.Target = 1
		}, "TargetUnreachable", "address 127.0.0.1 is refused"},
		"a server that is not there": {func(_ *testing.T, a *workerv1.Assignment) { a.Logins[0].Oauth2.Target = 1 },
			"InvalidSpec", `login "shop": there is no target 1 among 0 others`},
		"a Secret without a key": {func(_ *testing.T, a *workerv1.Assignment) { a.Logins[0].Oauth2.ClientIdFile = "/nowhere/client-id" },
			"InvalidSpec", `login "shop": open /nowhere/client-id: `},
		"an empty refresh token": {func(t *testing.T, a *workerv1.Assignment) { a.Logins[0].Oauth2.RefreshTokenFile = file(t, "\n") },
			"InvalidSpec", " is empty"},
		"a login that is not there": {func(_ *testing.T, a *workerv1.Assignment) {
			a.Logins = nil
		}, "InvalidSpec", `header "Authorization": there is no login 1 among 0`},
		"a name with a colon": {func(t *testing.T, a *workerv1.Assignment) {
			a.Logins[0] = &workerv1.Login{Name: "shop", UsernameFile: file(t, "a:b"), PasswordFile: file(t, "")}
		}, "InvalidSpec", " has a colon, which ends the name"},
		"an empty token": {func(t *testing.T, a *workerv1.Assignment) {
			a.Logins[0] = &workerv1.Login{Name: "shop", TokenFile: file(t, "\n")}
		}, "InvalidSpec", " is empty"},
		"a token of two lines": {func(t *testing.T, a *workerv1.Assignment) {
			a.Logins[0] = &workerv1.Login{Name: "shop", TokenFile: file(t, canary+"\r\nHost: elsewhere")}
		}, "InvalidSpec", " holds a line break or a zero byte"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a := loggedIn(workertest.Assignment(shop.URL, workertest.Burst(0, 1, 1)), byToken(t, 0))
			tt.change(t, a)
			got := refusal(t, a, testConfig())
			if got.Reason != tt.reason || !strings.Contains(got.Error(), tt.message) || strings.Contains(got.Error(), canary) {
				t.Errorf("refused for %s: %v, want %s: …%s…", got.Reason, got, tt.reason, tt.message)
			}
		})
	}
}

// A login whose server is away for minutes does not let the token of another end, which preflights would then be sent.
func TestTokensAreRenewedWhileOthersAreAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin, issue := time.Now(), func(context.Context) (*oauth2.Token, error) {
			return &oauth2.Token{AccessToken: canary, Expiry: time.Now().Add(time.Minute)}, nil
		}
		late := func(ctx context.Context) (*oauth2.Token, error) {
			if time.Since(begin) < 10*time.Minute {
				return nil, &login.Unavailable{Err: errors.New("it answered status 503")}
			}
			return issue(ctx)
		}
		list, r := logins{{token: &login.Token{Issue: issue}}, {token: &login.Token{Issue: late}}}, renewing{}
		if err := list.obtain(t.Context(), ignore, &r); err != nil || list[0].token.Problem() != "" {
			t.Errorf("%v; %s", err, list[0].token.Problem())
		}
		r.end()
	})
}

// endedToken is a credential that has ended.
type endedToken struct{}

func (endedToken) Append(dst []byte) []byte { return append(dst, "Bearer old"...) }
func (endedToken) Problem() string          { return "the token has ended" }

var _ source.Credential = endedToken{}

// The error of a request that is refused says that its token has ended.
func TestRefusedRequestSaysThatItsTokenHasEnded(t *testing.T) {
	s, err := source.New(source.Config{Requests: []source.Request{
		{Name: "a", Weight: 1, Method: "GET", Path: "/", Headers: []source.Header{{Name: "Authorization", Credential: endedToken{}}}},
		{Name: "b", Weight: 1, Method: "GET", Path: "/"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	same.As(t, "problems", []string{"the token has ended", ""}, []string{s.Problem(0), s.Problem(1)})
}
