package local_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/local"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// The canaries are words that no program of ours has, each in another place.
var (
	secretCanaries = []string{"kanari0header", "kanari1body", "kanari2key", "kanari3target"}
	// specCanaries are in the spec, which a report in HTML shows, or in a ConfigMap.
	specCanaries     = []string{"kanari4header", "kanari5body", "kanari6row"}
	responseCanaries = []string{"kanari7value", "kanari8body", "kanari9line", "kanari10cookie", "kanari11header", "kanari12location", "kanari13reason"}
)

// canaryTarget answers with canaries, as the first segment of the path says.
func canaryTarget(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		first, _, _ := strings.Cut(r.URL.Path[1:], "/")
		if raw := rawResponses[first]; raw != "" {
			if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
				_, _ = io.WriteString(conn, raw)
				_ = conn.Close()
			}
			return
		}
		w.Header().Set("X-Canary", "kanari11header")
		w.Header().Set("Set-Cookie", "session=kanari10cookie; Path=/")
		switch first {
		case "html":
			_, _ = io.WriteString(w, "<html>kanari8body</html>")
		case "moved":
			w.Header().Set("Location", "http://other.example/kanari12location")
			w.WriteHeader(http.StatusFound)
		default:
			_, _ = io.WriteString(w, `{"id": "kanari7value", "token": "kanari7value kanari7value"}`)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// rawResponses are no HTTP.
var rawResponses = map[string]string{
	"header": "HTTP/1.1 200 OK\r\nkanari9line kanari9line\r\n\r\n",
	"status": "HTTP/1.1 2x0 kanari13reason\r\n\r\n",
	"length": "HTTP/1.1 200 OK\r\nContent-Length: kanari9line\r\n\r\n",
	"chunk":  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nkanari8body\r\n",
}

// canaryObjects are Secrets with canaries.
func canaryObjects(t *testing.T) *local.Objects {
	t.Helper()
	files := &local.Objects{}
	for _, text := range []string{
		`{apiVersion: v1, kind: Secret, metadata: {name: api}, stringData: {header: kanari0header, control: "kanari0header\u0001", body: "${kanari1body", targets: "GET /ok\nkanari3target kanari3target", tls.crt: kanari2key, tls.key: kanari2key}}`,
		`{apiVersion: v1, kind: Secret, metadata: {name: rows}, stringData: {names: "kanari6row kanari6row\nb\n", lines: "{\"a\": kanari6row}", path: "a\nkanari6row kanari6row\n"}}`,
		loginSecret, wrongSecret,
	} {
		must.Succeed(t, files.Add(object(t, text)))
	}
	return files
}
