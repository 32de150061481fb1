package metricspush

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	bridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"

	"github.com/loadtest-dev/loadtest-operator/text"
)

const (
	// LeastInterval is the least time between two pushes.
	LeastInterval = 10 * time.Second
	// timeout bounds a push, from the connection to the answer. It is no longer than LeastInterval.
	timeout = 10 * time.Second
	// maxBody bounds a push before it is compressed: /metrics has up to 45 MB.
	maxBody = 64 << 20
	// maxMessage bounds an error in the log.
	maxMessage = 300
	// defaultPath is where a collector takes metrics, unless the endpoint has a path.
	defaultPath = "/v1/metrics"
)

// Config is what is sent where.
type Config struct {
	// Endpoint is the URL of the collector, http or https. Without a path it is /v1/metrics.
	Endpoint string
	// Interval is the time between two pushes, at least LeastInterval.
	Interval time.Duration
	// Folder may have the files headers, ca.crt, tls.crt and tls.key.
	Folder string
	// Namespace and Pod are where the process runs.
	Namespace, Pod string
}

// Check says what is wrong with the endpoint or the interval.
func (c *Config) Check() error {
	_, err := c.url()
	if err == nil && c.Interval < LeastInterval {
		err = fmt.Errorf("the interval must be at least %s, not %s", LeastInterval, c.Interval)
	}
	return err
}

// url is the endpoint with its path.
func (c *Config) url() (*url.URL, error) {
	u, err := url.Parse(c.Endpoint)
	switch {
	case err != nil:
		return nil, errors.New("the endpoint must be a URL such as https://collector.monitoring:4318") // err may quote a password
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, errors.New("the endpoint must be a URL such as https://collector.monitoring:4318: it needs http or https, and a host")
	case u.User != nil:
		return nil, errors.New("the endpoint must have no user: give a header in the file headers")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("the endpoint must have neither a query nor a fragment")
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = defaultPath
	}
	return u, nil
}

// Pusher sends the metrics of a registry.
type Pusher struct {
	interval time.Duration
	log      logr.Logger
	reader   *metric.ManualReader
	exporter metric.Exporter
	sender   *sender
	pushes   *prometheus.CounterVec
	// failing says that the most recent push failed.
	failing bool
}

// New sends what is gathered. It counts the pushes in a registry, loadtest_otlp_pushes_total.
func New(c Config, from prometheus.Gatherer, counted prometheus.Registerer, log logr.Logger) (*Pusher, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	endpoint, err := c.url()
	if err != nil {
		return nil, err
	}
	p := &Pusher{interval: c.Interval, log: log, sender: &sender{folder: c.Folder}, pushes: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "loadtest_otlp_pushes_total", Help: "Pushes of the metrics to the OTLP collector, by outcome.",
	}, []string{"outcome"})}
	p.exporter, err = otlpmetrichttp.New(context.Background(),
		otlpmetrichttp.WithEndpointURL(endpoint.String()), otlpmetrichttp.WithCompression(otlpmetrichttp.GzipCompression),
		otlpmetrichttp.WithHeaders(map[string]string{}), otlpmetrichttp.WithMaxRequestSize(maxBody),
		otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig{Enabled: false}),
		otlpmetrichttp.WithHTTPClient(&http.Client{
			Transport: p.sender, Timeout: timeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}))
	if err != nil {
		return nil, fmt.Errorf("prepare the OTLP exporter: %w", err)
	}
	for _, outcome := range []string{succeeded, failed} {
		p.pushes.WithLabelValues(outcome) // 0 from the beginning
	}
	if err := counted.Register(p.pushes); err != nil {
		return nil, fmt.Errorf("count pushes: %w", err)
	}
	p.reader = metric.NewManualReader(metric.WithProducer(bridge.NewMetricProducer(bridge.WithGatherer(from))))
	metric.NewMeterProvider(metric.WithReader(p.reader), metric.WithResource(resource.NewSchemaless(
		attribute.String("service.name", "loadtest-operator"), attribute.String("service.instance.id", c.Pod),
		attribute.String("k8s.namespace.name", c.Namespace), attribute.String("k8s.pod.name", c.Pod),
	)))
	return p, nil
}

// The outcomes of a push.
const succeeded, failed = "Done", "Failed"

// Start pushes at intervals until ctx ends. It returns no error: the operator goes on
// where no collector answers.
func (p *Pusher) Start(ctx context.Context) error {
	ticker := time.NewTicker(p.interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		err := p.push(ctx)
		if ctx.Err() != nil {
			return nil
		}
		p.note(err)
	}
}

// push sends the metrics as they are now.
func (p *Pusher) push(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var all metricdata.ResourceMetrics
	if err := p.reader.Collect(ctx, &all); err != nil {
		return fmt.Errorf("collect the metrics: %w", err)
	}
	p.sender.status = 0
	err := p.exporter.Export(ctx, &all)
	if err != nil && p.sender.status != 0 {
		return answered(p.sender.status)
	}
	return err
}

// answered is the error of an answer. It has nothing else of it: what a server writes is not ours to
// log.
func answered(status int) error {
	if status/100 == http.StatusOK/100 {
		return errors.New("the collector did not take all of the metrics, or its answer cannot be read")
	}
	return fmt.Errorf("the collector answered %d", status)
}

// note counts a push, and says when pushes begin to fail and when they succeed again.
func (p *Pusher) note(err error) {
	switch {
	case err != nil:
		p.pushes.WithLabelValues(failed).Inc()
		if !p.failing {
			p.log.Info("Metrics cannot be pushed by OTLP; trying on, and saying so when they can", "reason", text.Truncate(err.Error(), maxMessage))
		}
	default:
		p.pushes.WithLabelValues(succeeded).Inc()
		if p.failing {
			p.log.Info("Metrics are pushed by OTLP again")
		}
	}
	p.failing = err != nil
}

// NeedLeaderElection is false: each replica pushes what its /metrics has.
func (*Pusher) NeedLeaderElection() bool { return false }
