package metricstest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Lines are the lines of a page that begin with a prefix.
func Lines(t *testing.T, page http.Handler, prefix string) (lines []string) {
	t.Helper()
	w := httptest.NewRecorder()
	page.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	for line := range strings.Lines(w.Body.String()) {
		if strings.HasPrefix(line, prefix) {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return lines
}

// Counted are those that have counted something.
func Counted(t *testing.T, page http.Handler, prefix string) (lines []string) {
	t.Helper()
	for _, line := range Lines(t, page, prefix) {
		if !strings.HasSuffix(line, " 0") {
			lines = append(lines, line)
		}
	}
	return lines
}
