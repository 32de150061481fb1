package replica

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// served is what a real API server serves of our kinds.
func served(t *testing.T) []byte {
	t.Helper()
	c, err := discovery.NewDiscoveryClientForConfig(apiserver.Config(t))
	must.Succeed(t, err)
	var raw []byte
	// A server publishes kinds some time after it has begun to serve them.
	await.True(t, "the kinds are published", func() bool {
		raw, err = c.RESTClient().Get().AbsPath(servedPath).SetHeader("Accept", "application/json").Do(t.Context()).Raw()
		return err == nil && strings.Contains(string(raw), "v1beta1.LoadTestSchedule\"")
	})
	return raw
}

// TestReplicaWaitsForItsDefinitions: it is not ready while the API server serves older ones,
// and says what to do.
func TestReplicaWaitsForItsDefinitions(t *testing.T) {
	now := served(t)
	before := []byte(strings.ReplaceAll(string(now), `"observedGeneration"`, `"generation"`))
	var upgraded atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if upgraded.Load() {
			_, _ = w.Write(now)
			return
		}
		_, _ = w.Write(before)
	}))
	t.Cleanup(server.Close)
	r, ended := &Replica{}, make(chan error, 1)
	go func() { ended <- r.AwaitSchemas(t.Context(), &rest.Config{Host: server.URL}) }()
	for _, want := range []string{"older than this operator: they lack LoadTest.status.observedGeneration and ", "kubectl apply --server-side"} {
		await.True(t, "it is not ready, and says "+want, func() bool {
			reason := r.ready(nil)
			return reason != nil && strings.Contains(reason.Error(), want)
		})
	}
	upgraded.Store(true)
	if err := await.Receive(t, "it sees the definitions that are there", ended); err != nil {
		t.Error(err)
	}
}

// TestReplicaBeginsWhereDefinitionsAreHidden: a cluster may keep what it serves from those
// without rights.
func TestReplicaBeginsWhereDefinitionsAreHidden(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	t.Cleanup(server.Close)
	if err := (&Replica{}).AwaitSchemas(t.Context(), &rest.Config{Host: server.URL}); err != nil {
		t.Error(err)
	}
}

func TestWaitForDefinitionsEndsWithTheProcess(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		cancel()
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(server.Close)
	if err := (&Replica{}).AwaitSchemas(ctx, &rest.Config{Host: server.URL}); err == nil {
		t.Error("it begins without definitions")
	}
}
