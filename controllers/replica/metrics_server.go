package replica

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator"
)

const (
	// maxScrapers is how many connections for metrics are open, of some 50 KB each:
	// anyone may connect, and be told then to show a token.
	maxScrapers = 64
	// maxScrapesAtOnce is how many pages are made at the same time, of up to 45 MB each on
	// the way: two Prometheus, and two people. Others are answered 503.
	maxScrapesAtOnce = 4
	// maxScrapeHeader bounds the header; a service-account token has 1 to 2 KB.
	maxScrapeHeader = 16 << 10
	// scrapeTimeout bounds the handshake, a request and its answer, and the silence
	// between two; Prometheus waits as long by default.
	scrapeTimeout = 10 * time.Second
)

// MetricsServer serves /metrics on each replica: over TLS 1.3 with the coordinator's
// certificate, whose CA a scraper finds in the Secret, and to those alone whom the API
// server lets get that path. The manager's own server bounds neither connections nor
// headers.
type MetricsServer struct {
	bind    string
	config  *tls.Config // nil: plain HTTP
	handler http.Handler
}

var _ manager.LeaderElectionRunnable = &MetricsServer{}

// NewMetricsServer returns a server on an address; "0" is none. One that is secure asks the API server
// by a client.
func NewMetricsServer(bind string, secure bool, c client.Client, certificates *Certificates) *MetricsServer {
	page := promhttp.HandlerFor(metrics.Registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.HTTPErrorOnError, MaxRequestsInFlight: maxScrapesAtOnce,
	})
	if !secure {
		return &MetricsServer{bind: bind, handler: page}
	}
	return &MetricsServer{
		bind: bind, handler: NewScrapers(c).Only(page),
		// HTTP/2 would let one connection ask many times at once.
		config: &tls.Config{GetCertificate: certificates.Get, MinVersion: tls.VersionTLS13, NextProtos: []string{"http/1.1"}},
	}
}

// Start serves until ctx ends.
func (s *MetricsServer) Start(ctx context.Context) error {
	if s.bind == "0" {
		return nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.bind)
	if err != nil {
		return fmt.Errorf("listen for scrapers: %w", err)
	}
	return s.serve(ctx, listener)
}

func (s *MetricsServer) serve(ctx context.Context, listener net.Listener) error {
	listener = coordinator.Bounded(listener, maxScrapers)
	if s.config != nil {
		listener = tls.NewListener(listener, s.config)
	}
	pages := http.NewServeMux()
	pages.Handle("GET /metrics", s.handler)
	server := &http.Server{
		Handler: pages, MaxHeaderBytes: maxScrapeHeader,
		ReadTimeout: scrapeTimeout, WriteTimeout: scrapeTimeout, IdleTimeout: scrapeTimeout,
	}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve metrics: %w", err)
	}
	return nil
}

// NeedLeaderElection is false.
func (*MetricsServer) NeedLeaderElection() bool { return false }
