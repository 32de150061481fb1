package servetest

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Environment returns the values of environment variables.
func Environment(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

// Ask sends a request, and returns the reply without the space around it. Headers are name, value,
// and so on.
func Ask(t *testing.T, method, url, body string, headers ...string) (status int, reply string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, strings.TrimSpace(string(text))
}

// Counted is the value of a series on a page of metrics.
func Counted(t *testing.T, page, series string) (n int) {
	t.Helper()
	_, rest, found := strings.Cut(page, "\n"+series+" ")
	if !found {
		t.Fatalf("no series %s in:\n%s", series, page)
	}
	if _, err := fmt.Sscan(rest, &n); err != nil {
		t.Fatal(err)
	}
	return n
}
