package local_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// basicCanary is what a login of type Basic sends.
var basicCanary = base64.StdEncoding.EncodeToString([]byte("kanari20username:kanari21password"))

// loginCanaries are of the Secret of logins, and of what is made or obtained by them.
var loginCanaries = []string{
	"kanari20username", "kanari21password", basicCanary, "kanari22bearer", "kanari23client", "kanari24secret",
	base64.StdEncoding.EncodeToString([]byte("kanari23client:kanari24secret")), "kanari25refresh", "kanari26access", "kanari27key", "kanari28session",
	"kanari29issued", "kanari30refreshed", "kanari31answer",
}

const loginSecret = `{apiVersion: v1, kind: Secret, metadata: {name: login}, stringData: {
username: kanari20username, password: kanari21password, token: kanari22bearer, client-id: kanari23client, client-secret: kanari24secret,
refresh-token: kanari25refresh, accessKeyID: kanari26access, secretAccessKey: kanari27key, sessionToken: kanari28session}}`

// wrongSecret has what cannot be sent.
const wrongSecret = `{apiVersion: v1, kind: Secret, metadata: {name: wrong}, stringData: {
username: "kanari20username:x", password: kanari21password, token: "kanari22bearer\nkanari22bearer", client-id: "kanari23client\u0000", client-secret: kanari24secret,
accessKeyID: kanari26access, secretAccessKey: ""}}`

// loginTarget issues tokens under /token/ in several wrong ways, and refuses all other requests: it
// sends back how they log in.
func loginTarget(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		form, _ := io.ReadAll(r.Body)
		sent := fmt.Sprint(r.Header["Authorization"], r.Header["X-Amz-Security-Token"], string(form))
		w.Header().Set("Www-Authenticate", sent)
		w.Header().Set("Set-Cookie", "token="+sent)
		w.Header().Set("X-Sent", sent)
		switch r.URL.Path {
		case "/token/good":
			_, _ = io.WriteString(w, `{"access_token": "kanari29issued", "refresh_token": "kanari30refreshed", "expires_in": 3600}`)
			return
		case "/token/moved":
			w.Header().Set("Location", "http://other.example/?token=kanari31answer")
			w.WriteHeader(http.StatusTemporaryRedirect)
		case "/token/page":
			_, _ = io.WriteString(w, "<html>kanari31answer</html>")
		case "/token/short":
			_, _ = io.WriteString(w, `{"access_token": "kanari29issued", "expires_in": 1}`)
			return
		case "/token/down":
			w.WriteHeader(http.StatusInternalServerError)
		default:
			w.WriteHeader(http.StatusUnauthorized)
		}
		_ = json.NewEncoder(w).Encode(map[string]string{"error": "invalid_grant", "error_description": "kanari31answer", "token": sent})
	}))
	t.Cleanup(s.Close)
	return s
}

const loginRequests = `, requests: [{name: r, http: {path: /cart, method: POST}, expect: {status: [401], json: [{path: .token, equals: x}]}}]`

// failingLogin is a login, and what goes wrong with it: by default, the target refuses it and sends it back.
type failingLogin struct {
	login string // its fields but name and secretName
	// secret is "wrong", or absent for the one that is sent.
	secret string
	says   string
	// exposed is the canary that is shown if responses are exposed; "": such a run is refused.
	exposed string
}

var failingLogins = map[string]failingLogin{
	"Basic":                              {login: `type: Basic`, says: `instead of "x"`, exposed: basicCanary},
	"Basic with a colon":                 {login: `type: Basic`, secret: "wrong", says: `username of Secret wrong has a colon, which ends the name`},
	"Bearer":                             {login: `type: Bearer`, says: `instead of "x"`, exposed: "kanari22bearer"},
	"Bearer of two lines":                {login: `type: Bearer`, secret: "wrong", says: `token of Secret wrong holds a line break or a zero byte`},
	"ClientCredentials":                  {login: `type: ClientCredentials, path: /token/good`, says: `instead of "x"`},
	"ClientCredentials that are refused": {login: `type: ClientCredentials, path: /token/bad`, says: `it answered status 401, invalid_grant`},
	"ClientCredentials and a page":       {login: `type: ClientCredentials, path: /token/page`, says: `its answer has no token in JSON`},
	"ClientCredentials and a redirect":   {login: `type: ClientCredentials, path: /token/moved`, says: `it answered status 307, a redirect`},
	"ClientCredentials for a second":     {login: `type: ClientCredentials, path: /token/short`, says: `the token ends within 10s`},
	"ClientCredentials and a failure":    {login: `type: ClientCredentials, path: /token/down`, says: `it answered status 500`},
	"ClientCredentials with a zero": {
		login: `type: ClientCredentials, path: /token/good`, secret: "wrong", says: `client-id of Secret wrong holds a line break or a zero byte`,
	},
	"RefreshToken":                 {login: `type: RefreshToken, path: /token/good`, says: `instead of "x"`},
	"RefreshToken that is refused": {login: `type: RefreshToken, path: /token/bad`, says: `it answered status 401, invalid_grant`},
	"AWSSigV4":                     {login: `type: AWSSigV4, aws: {region: a, service: b, temporary: true}`, says: `instead of "x"`, exposed: "kanari26access"},
	"AWSSigV4 without a key":       {login: `type: AWSSigV4, aws: {region: a, service: b}`, secret: "wrong", says: `the id of the access key, or its secret, is empty`},
}

// Of how requests log in nothing is shown, whatever goes wrong: neither of the Secret, nor of a token
// that was obtained, nor of what a server of tokens answers.
func TestNothingOfLoginsIsShown(t *testing.T) {
	s := loginTarget(t)
	for name, test := range failingLogins {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			secret := "login"
			if test.secret != "" {
				secret = test.secret
			}
			fields := `target: {url: TARGET, login: a}, logins: [{name: a, secretName: ` + secret + `, ` + test.login + `}]` + loginRequests
			texts := textsOfRun(t, s.URL, fields, canaryDeadline)
			for deadline := int64(2 * canaryDeadline); !strings.Contains(texts["status"], test.says) && deadline < 300; deadline *= 2 {
				texts = textsOfRun(t, s.URL, fields, deadline)
			}
			if !strings.Contains(texts["status"], test.says) {
				t.Errorf("the status does not say %q:\n%s", test.says, texts["status"])
			}
			for canary, where := range canariesIn(texts) {
				t.Errorf("%s is in %s", canary, where)
			}
			if test.exposed == "" {
				return
			}
			if in := canariesIn(textsOfRun(t, s.URL, "expose: Responses, "+fields, canaryDeadline)); in[test.exposed] == "" {
				t.Errorf("%s is not exposed: the search does not see it", test.exposed)
			}
		})
	}
}

// Each canary of the Secret is in it, so that the search looks for what is there.
func TestCanariesOfLoginsArePlanted(t *testing.T) {
	issued := loginTarget(t)
	answer, err := http.Post(issued.URL+"/token/good", "", nil)
	must.Succeed(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	must.Succeed(t, err)
	for _, canary := range loginCanaries {
		if strings.HasPrefix(canary, "kanari") && canary != "kanari31answer" && !strings.Contains(loginSecret+string(body), canary) {
			t.Errorf("%s is nowhere", canary)
		}
	}
}
