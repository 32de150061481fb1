package replica

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

const servedPath = "/openapi/v3/apis/loadtest.dev/v1beta1"

// lacking asks an API server.
func lacking(t *testing.T, config *rest.Config) ([]string, error) {
	t.Helper()
	c, err := discovery.NewDiscoveryClientForConfig(config)
	must.Succeed(t, err)
	return Lacking(t.Context(), c.RESTClient())
}

// TestCRDsOfThisVersionLackNothing asks a real API server. An account without rights may
// ask it.
func TestCRDsOfThisVersionLackNothing(t *testing.T) {
	t.Parallel()
	config := rest.CopyConfig(apiserver.Config(t))
	config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:default:anyone", Groups: []string{"system:authenticated"}}
	await.True(t, "all is published", func() bool {
		fields, err := lacking(t, config)
		return err == nil && len(fields) == 0
	})
}

// TestOlderCRDsLackFields has a server that serves what a real one does, but for some.
func TestOlderCRDsLackFields(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status int
		change func(schemas map[string]any)
		want   []string
	}{
		"all there": {http.StatusOK, func(map[string]any) {}, nil},
		"fields of lists and of objects": {
			http.StatusOK, func(schemas map[string]any) {
				delete(properties(schemas, "LoadTest", "spec", "target"), "timeout")
				delete(properties(schemas, "LoadTest", "status", "steps", "result"), "sent")
			},
			[]string{"LoadTest.spec.target.timeout", "LoadTest.status.steps[].result.sent"},
		},
		"a kind": {
			http.StatusOK, func(schemas map[string]any) { delete(schemas, "dev.loadtest.v1beta1.LoadTestSchedule") },
			[]string{"LoadTestSchedule"},
		},
		"the group": {http.StatusNotFound, func(map[string]any) {}, []string{"LoadTest", "LoadTestSchedule"}},
	} {
		t.Run(name, func(t *testing.T) {
			var document map[string]any
			must.Succeed(t, json.Unmarshal(served(t), &document))
			test.change(document["components"].(map[string]any)["schemas"].(map[string]any))
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != servedPath {
					t.Errorf("asked for %s", r.URL)
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(test.status)
				if test.status == http.StatusOK {
					_ = json.NewEncoder(w).Encode(document)
				}
			}))
			defer server.Close()
			fields, err := lacking(t, &rest.Config{Host: server.URL})
			must.Succeed(t, err)
			same.As(t, "lacking", test.want, fields)
		})
	}
}

// TestWhatIsServedIsNotKnown: an API server that fails serves neither more nor less.
func TestWhatIsServedIsNotKnown(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"a failure": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
		"no JSON":   func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) },
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(answer)
			defer server.Close()
			fields, err := lacking(t, &rest.Config{Host: server.URL})
			if err == nil || !strings.Contains(err.Error(), "which fields the API server serves") {
				t.Errorf("lacking %q, error %v, want an error", fields, err)
			}
		})
	}
}

// properties are those at a path of a kind, through lists.
func properties(schemas map[string]any, kind string, path ...string) map[string]any {
	at := schemas["dev.loadtest.v1beta1."+kind].(map[string]any)
	for _, field := range path {
		at = at["properties"].(map[string]any)[field].(map[string]any)
		if items, ok := at["items"]; ok {
			at = items.(map[string]any)
		}
	}
	return at["properties"].(map[string]any)
}
