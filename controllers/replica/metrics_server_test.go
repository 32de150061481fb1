package replica

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// held is a collector that waits.
type held struct{ entered, leave chan struct{} }

var waits = prometheus.NewDesc("waits", "Waits.", nil, nil)

func (held) Describe(descriptions chan<- *prometheus.Desc) { descriptions <- waits }

func (h held) Collect(chan<- prometheus.Metric) {
	h.entered <- struct{}{}
	<-h.leave
}

// Pages are large while they are made: those who may read them cannot use up the memory by
// asking many times at once.
func TestFewPagesAreMadeAtOnce(t *testing.T) {
	h := held{make(chan struct{}), make(chan struct{})}
	metrics.Registry.MustRegister(h)
	defer metrics.Registry.Unregister(h)
	server := NewMetricsServer("", false, nil, nil)
	ask := func() int {
		answer := httptest.NewRecorder()
		server.handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		return answer.Code
	}
	codes := make(chan int)
	for range maxScrapesAtOnce {
		go func() { codes <- ask() }()
		<-h.entered
	}
	if code := ask(); code != http.StatusServiceUnavailable {
		t.Errorf("one more is answered %d", code)
	}
	close(h.leave)
	for range maxScrapesAtOnce {
		if code := <-codes; code != http.StatusOK {
			t.Errorf("answered %d", code)
		}
	}
}

// A replica that is without the API server for longer starts over: this has no process.
func TestScrapersAreRefusedWhileTheAPIServerIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := interceptor.NewClient(nil, interceptor.Funcs{
			Create: func(ctx context.Context, _ client.WithWatch, _ client.Object, _ ...client.CreateOption) error {
				<-ctx.Done()
				return ctx.Err()
			},
		})
		server := NewMetricsServer("", true, silent, nil)
		ask := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil)
		ask.Header.Set("Authorization", "Bearer token")
		begun, answer := time.Now(), httptest.NewRecorder()
		server.handler.ServeHTTP(answer, ask)
		if took := time.Since(begun); answer.Code != http.StatusServiceUnavailable || took >= ScrapeTimeout {
			t.Errorf("answered %d after %v, want %d before the connection is closed", answer.Code, took, http.StatusServiceUnavailable)
		}
	})
}
