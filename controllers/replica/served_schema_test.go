package replica_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/controllers/replica"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
)

const servedPath = "/openapi/v3/apis/loadtest.dev/v1beta1"

// lacking asks an API server.
func lacking(t *testing.T, config *rest.Config) ([]string, error) {
	t.Helper()
	c, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return replica.Lacking(t.Context(), c.RESTClient())
}

// TestCRDsOfThisVersionLackNothing asks a real API server. An account without rights may
// ask it.
func TestCRDsOfThisVersionLackNothing(t *testing.T) {
	t.Parallel()
	config := rest.CopyConfig(apiserver.Config(t))
	config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:default:anyone", Groups: []string{"system:authenticated"}}
	published(t, func() (bool, error) {
		fields, err := lacking(t, config)
		return len(fields) == 0, err
	})
}

// published waits until the API server, which publishes kinds some time after it has begun
// to serve them, has published all.
func published(t *testing.T, all func() (bool, error)) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		return all()
	}); err != nil {
		t.Fatal(err)
	}
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
			document := servedByRealServer(t)
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
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, fields); diff != "" {
				t.Errorf("lacking (-want +got):\n%s", diff)
			}
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

func servedByRealServer(t *testing.T) map[string]any {
	t.Helper()
	c, err := discovery.NewDiscoveryClientForConfig(apiserver.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	var raw []byte
	published(t, func() (bool, error) {
		raw, err = c.RESTClient().Get().AbsPath(servedPath).SetHeader("Accept", "application/json").Do(t.Context()).Raw()
		return bytes.Contains(raw, []byte(`v1beta1.LoadTestSchedule"`)), client.IgnoreNotFound(err)
	})
	var document map[string]any
	if err := json.Unmarshal(raw, &document); err != nil {
		t.Fatal(err)
	}
	return document
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
