package local_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// A login with a token, a form with a file and a redirect, from the manifest to the counts of the target.
func TestALoginIsCarriedOutHere(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]int{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		said := r.Method + " " + r.URL.Path
		switch r.URL.Path {
		case "/page":
			w.Header().Set("X-Nonce", "a&b")
			_, _ = io.WriteString(w, `<input name="csrf" value="t 1">`)
		case "/login":
			file, head, err := r.FormFile("photo")
			if err != nil {
				t.Error(err)
				return
			}
			content, err := io.ReadAll(file)
			if err != nil {
				t.Error(err)
			}
			said += fmt.Sprintf(" %s %s %s %s", r.FormValue("csrf"), r.FormValue("nonce"), head.Filename, content)
			http.SetCookie(w, &http.Cookie{Name: "sid", Value: "1", Path: "/"})
			http.Redirect(w, r, "/home", http.StatusSeeOther)
		case "/home":
			said += " " + strings.Join(r.Header["Cookie"], "")
		}
		mu.Lock()
		defer mu.Unlock()
		seen[said]++
	}))
	t.Cleanup(s.Close)
	c := config(t)
	must.Succeed(t, c.Files.Add(object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: files}, data: {photo: "$ {}"}}`)))
	lt := loadTest(t, s.URL, `{target: {url: TARGET},
  requests: [{name: page, http: {path: /page}}, {name: login, http: {method: POST, path: /login, followRedirects: 1, bodyFrom: {configMap: {name: files, key: photo}},
    form: [{name: csrf, value: "${csrf}"}, {name: nonce, value: "${nonce}"}, {name: photo, filename: a.png}]}}],
  journeys: [{name: sign in, steps: [{request: page, captureFrom: [{name: csrf, match: 'value="([^"]+)"'}, {name: nonce, header: x-nonce}]}, {request: login}]}],
  steps: [{name: burst, users: 2, requestsPerUser: 6}]}`)
	got := carryOut(t, lt, c)
	isCarriedOut(t, got)
	same.As(t, "requests", map[string]int{"GET /page": 6, "POST /login t 1 a&b a.png $ {}": 6, "GET /home sid=1": 6}, seen)
	if r := got.Status.Steps[0].Result; r.Sent != 12 || r.Redirects != 6 || r.Requests[1].Redirects != 6 || r.Journeys[0].Completed != 6 {
		t.Errorf("%+v", r)
	}
}
