//go:build !race

package local

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// Of a mix of four endpoints, two of which refuse everything, each form of the report names
// these two, with the counts of the server, and the sentence of the verdict does.
func TestReportsNameTheEndpointsThatFail(t *testing.T) {
	var mu sync.Mutex
	served := map[string]int64{}
	target := func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		served[strings.TrimPrefix(r.URL.Path, "/")]++
		mu.Unlock()
		switch r.URL.Path {
		case "/search":
			w.WriteHeader(http.StatusNotFound)
		case "/me":
			w.WriteHeader(http.StatusUnauthorized)
		}
	}
	const spec = `{target: {url: %q}, parallelism: 2,
  requests: [{name: home, http: {path: /home}, weight: 4}, {name: search, http: {path: /search}}, {name: me, http: {path: /me}, weight: 2}, {name: cart, http: {path: /cart}, weight: 3}],
  steps: [{name: burst, users: 5, requestsPerUser: 20}]}`
	simulate(t, spec, target, func(t *testing.T, s *simulation) {
		got := s.finished()
		r := got.Status.Steps[0].Result
		if got.Status.Verdict != v1beta1.VerdictFailed || r.Sent != 100 || len(r.Requests) != 4 {
			t.Fatalf("verdict %s, %d sent, results of %d requests; want Failed, 100, 4; %v", got.Status.Verdict, r.Sent, len(r.Requests), got.Status.Conditions)
		}
		for i, failed := range []bool{false, true, true, false} {
			of := &r.Requests[i]
			want := int64(0)
			if failed {
				want = served[of.Name]
			}
			if of.Sent != served[of.Name] || of.Failed != want || of.ResponseTime.Samples != of.Sent {
				t.Errorf("%s: %d sent, %d failed, %d times; the server had %d, and refused %d", of.Name, of.Sent, of.Failed, of.ResponseTime.Samples, served[of.Name], want)
			}
		}
		named := fmt.Sprintf("me %[1]d of %[1]d, search %[2]d of %[2]d", served["me"], served["search"])
		if want := strings.NewReplacer(", ", " (401), ").Replace(named) + " (404)"; !strings.Contains(got.Status.Thresholds[0].Message, want) {
			t.Errorf("the verdict says %q, want %q", got.Status.Thresholds[0].Message, want)
		}
		for form, text := range Reports(t, got) {
			first, _, _ := strings.Cut(text, "\n")
			if (form == "text" || form == "Markdown") && !strings.Contains(first, named) {
				t.Errorf("the first line of the %s is %q, want %q in it", form, first, named)
			}
			for _, want := range []string{"search", "me", "401", "404"} {
				if !strings.Contains(text, want) {
					t.Errorf("the %s does not have %q", form, want)
				}
			}
		}
	})
}
