package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/control"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator"
	"github.com/loadtest-dev/loadtest-operator/controllers/exposition"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest"
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

// metricsServer serves /metrics on each replica: over TLS 1.3 with the coordinator's
// certificate, whose CA a scraper finds in the Secret, and to those alone whom the API
// server lets get that path. The manager's own server bounds neither connections nor
// headers.
type metricsServer struct {
	bind    string
	config  *tls.Config // nil: plain HTTP
	handler http.Handler
}

var _ manager.LeaderElectionRunnable = &metricsServer{}

func newMetricsServer(c client.Client, certificates *loadtest.Certificates, o options) *metricsServer {
	page := promhttp.HandlerFor(metrics.Registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.HTTPErrorOnError, MaxRequestsInFlight: maxScrapesAtOnce,
	})
	if !o.metricsSecure {
		return &metricsServer{bind: o.metricsBind, handler: page}
	}
	return &metricsServer{
		bind: o.metricsBind, handler: loadtest.NewScrapers(c).Only(page),
		// HTTP/2 would let one connection ask many times at once.
		config: &tls.Config{GetCertificate: certificates.Get, MinVersion: tls.VersionTLS13, NextProtos: []string{"http/1.1"}},
	}
}

// shown is the collector of the metrics of LoadTests, which only the leader has.
func (o *options) shown(ctx context.Context, mgr manager.Manager, workers *coordinator.Coordinator) *exposition.Collector {
	return &exposition.Collector{
		Log: ctrl.Log.WithName("metrics"), Leads: mgr.Elected(), Most: o.metricsMost,
		List: func() ([]v1alpha1.LoadTest, error) {
			limited, cancel := context.WithTimeout(ctx, requestTimeout)
			defer cancel()
			var list v1alpha1.LoadTestList
			err := mgr.GetCache().List(limited, &list, client.UnsafeDisableDeepCopy)
			return list.Items, err
		},
		Observe: func(uid types.UID) *control.Report { return workers.Observe(coordinator.RunID(uid)).Step },
	}
}

// Start serves until ctx ends.
func (s *metricsServer) Start(ctx context.Context) error {
	if s.bind == "0" {
		return nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.bind)
	if err != nil {
		return fmt.Errorf("listen for scrapers: %w", err)
	}
	return s.serve(ctx, listener)
}

func (s *metricsServer) serve(ctx context.Context, listener net.Listener) error {
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
func (*metricsServer) NeedLeaderElection() bool { return false }
