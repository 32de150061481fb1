package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func TestALoginNeedsTheTokenOfItsPage(t *testing.T) {
	x, address := start(t, t.TempDir())
	jar, err := cookiejar.New(nil)
	must.Succeed(t, err)
	browser := &http.Client{Jar: jar}
	do := func(response *http.Response, err error) (int, string, string) {
		t.Helper()
		must.Succeed(t, err)
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		must.Succeed(t, err)
		return response.StatusCode, string(body), response.Header.Get("X-Nonce")
	}
	if code, _, _ := do(browser.Get(address + "/run/home")); code != 403 {
		t.Errorf("home without a login is %d", code)
	}
	_, page, nonce := do(browser.Get(address + "/run/page"))
	token := regexp.MustCompile(`name="csrf" value="([^"]+)"`).FindStringSubmatch(page)
	if len(token) != 2 {
		t.Fatalf("the page is %s", page)
	}
	if code, _, _ := do(browser.PostForm(address+"/run/login", url.Values{"csrf": {"other"}, "nonce": {nonce}})); code != 403 {
		t.Errorf("a login with another token is %d", code)
	}
	if code, _, _ := do(browser.PostForm(address+"/run/login", url.Values{"csrf": {token[1]}, "nonce": {nonce}})); code != 200 {
		t.Errorf("a login is %d", code)
	}
	mustCount(t, x, "run-page", count{Received: 1})
	mustCount(t, x, "run-login", count{Received: 2, Wrong: 1})
	mustCount(t, x, "run-home", count{Received: 2, Wrong: 1})
}
