package ui

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/ui/page"
)

// guard lets through who knows the secret.
type guard struct {
	// secret is the first segment of each path.
	secret string
	// hosts are what a browser may call the server: its loopback address and port. A site
	// whose name was directed to this machine (DNS rebinding) calls it otherwise.
	hosts []string
	next  http.Handler
}

// policy permits what the pages need, from this server alone, and no script but theirs.
var policy = "default-src 'none'; script-src 'sha256-" + digest(page.Script()) + "'; style-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range map[string]string{
		"Content-Security-Policy": policy, "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
		"Cache-Control": "no-store", "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
	} {
		w.Header().Set(name, value)
	}
	if !slices.Contains(g.hosts, r.Host) {
		http.Error(w, "this server is "+g.hosts[0], http.StatusMisdirectedRequest)
		return
	}
	given, rest, found := strings.Cut(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
	if !g.knows(given) {
		http.NotFound(w, r)
		return
	}
	if !found { // links of the page are below the secret
		http.Redirect(w, r, "/"+g.secret+"/", http.StatusSeeOther)
		return
	}
	if !slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodPost}, r.Method) {
		w.Header().Set("Allow", "GET, HEAD, POST")
		http.Error(w, "only GET, HEAD and POST are answered", http.StatusMethodNotAllowed)
		return
	}
	if r.Method == http.MethodPost && !isOwn(r) {
		http.Error(w, "a form of another site was refused", http.StatusForbidden)
		return
	}
	r.URL.RawPath = "/" + rest
	g.next.ServeHTTP(w, r)
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// knows compares in a time that does not depend on how much of the secret is right.
func (g *guard) knows(given string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(g.secret))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// isOwn says whether a page of this server sent a form. A browser says so in Sec-Fetch-Site.
// Origin is null where the page sends no referrer, as those here, but it is never that of
// another site; without Sec-Fetch-Site it must be this one.
func isOwn(r *http.Request) bool {
	own := "http://" + r.Host
	site, origin := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Origin")
	if origin != "" && origin != "null" && origin != own {
		return false
	}
	if site != "" {
		return site == "same-origin"
	}
	return origin == own
}
