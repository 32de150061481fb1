package metricspush

import (
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	collector "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// receiver is an OTLP receiver over HTTP.
type receiver struct {
	*httptest.Server
	mu sync.Mutex
	// requests are what was pushed, and headers and paths of the same.
	requests []*collector.ExportMetricsServiceRequest
	headers  []http.Header
	paths    []string
	// answer is what it answers instead; nil: it takes everything.
	answer http.HandlerFunc
}

func newReceiver(t *testing.T, start func(*httptest.Server)) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewUnstartedServer(r)
	start(r.Server)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.headers, r.paths = append(r.headers, request.Header), append(r.paths, request.URL.Path)
	if r.answer != nil {
		r.answer(w, request)
		return
	}
	unpacked, err := gzip.NewReader(request.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	data, err := io.ReadAll(unpacked)
	pushed := &collector.ExportMetricsServiceRequest{}
	if err = errors.Join(err, proto.Unmarshal(data, pushed)); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.requests = append(r.requests, pushed)
	encoded, _ := proto.Marshal(&collector.ExportMetricsServiceResponse{})
	w.Header().Set("Content-Type", "application/x-protobuf")
	_, _ = w.Write(encoded)
}

// metric is the one of a name in the most recent push.
func (r *receiver) metric(t *testing.T, name string) *metrics.Metric {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.requests) == 0 {
		t.Fatal("nothing was pushed")
	}
	for _, resource := range r.requests[len(r.requests)-1].ResourceMetrics {
		for _, scope := range resource.ScopeMetrics {
			for _, m := range scope.Metrics {
				if m.Name == name {
					return m
				}
			}
		}
	}
	t.Fatalf("metric %s was not pushed", name)
	return nil
}

func attributes(list []*common.KeyValue) string {
	var all []string
	for _, kv := range list {
		all = append(all, kv.Key+"="+kv.Value.GetStringValue())
	}
	return strings.Join(all, " ")
}

// registry has a counter, a gauge and a histogram.
func registry(t *testing.T) *prometheus.Registry {
	t.Helper()
	r := prometheus.NewRegistry()
	sent := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "loadtest_requests_sent_total", Help: "Requests sent."}, []string{"namespace", "name"})
	users := prometheus.NewGauge(prometheus.GaugeOpts{Name: "loadtest_users", Help: "Users."})
	times := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "loadtest_response_time_seconds", Help: "Times.", Buckets: []float64{0.1, 1}})
	r.MustRegister(sent, users, times)
	sent.WithLabelValues("shop", "checkout").Add(1234)
	users.Set(10)
	for _, seconds := range []float64{0.05, 0.5, 0.5, 5} {
		times.Observe(seconds)
	}
	return r
}

// folder has the files of a Secret.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		must.Succeed(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	return dir
}

func authority(s *httptest.Server) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
}

func newPusher(t *testing.T, c Config, from prometheus.Gatherer, log logr.Logger) *Pusher {
	t.Helper()
	if c.Interval == 0 {
		c.Interval = LeastInterval
	}
	p, err := New(c, from, prometheus.NewRegistry(), log)
	must.Succeed(t, err)
	return p
}

// A collector gets what /metrics has, and says over TLS who sends it.
func TestMetricsArePushed(t *testing.T) {
	r := newReceiver(t, (*httptest.Server).StartTLS)
	p := newPusher(t, Config{
		Endpoint: r.URL, Namespace: "loadtest-system", Pod: "loadtest-operator-0",
		Folder: folder(t, map[string]string{"ca.crt": authority(r.Server), "headers": "Authorization: Bearer s3cret\n\nx-scope-orgid:  team-a \n"}),
	}, registry(t), logr.Discard())
	must.Succeed(t, p.push(t.Context()))
	if sum := r.metric(t, "loadtest_requests_sent_total").GetSum(); !sum.GetIsMonotonic() || sum.GetAggregationTemporality() != metrics.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE ||
		len(sum.DataPoints) != 1 || sum.DataPoints[0].GetAsDouble() != 1234 || attributes(sum.DataPoints[0].Attributes) != "name=checkout namespace=shop" {
		t.Errorf("the counter is %v", sum)
	}
	if gauge := r.metric(t, "loadtest_users").GetGauge(); len(gauge.GetDataPoints()) != 1 || gauge.DataPoints[0].GetAsDouble() != 10 {
		t.Errorf("the gauge is %v", gauge)
	}
	h := r.metric(t, "loadtest_response_time_seconds").GetHistogram()
	if len(h.GetDataPoints()) != 1 || h.DataPoints[0].Count != 4 || h.DataPoints[0].GetSum() != 6.05 || len(h.DataPoints[0].BucketCounts) != 3 || h.DataPoints[0].BucketCounts[1] != 2 {
		t.Errorf("the histogram is %v", h)
	}
	if got := attributes(r.requests[0].ResourceMetrics[0].Resource.Attributes); got != "k8s.namespace.name=loadtest-system k8s.pod.name=loadtest-operator-0 service.instance.id=loadtest-operator-0 service.name=loadtest-operator" {
		t.Errorf("it is of %s", got)
	}
	if h := r.headers[0]; r.paths[0] != "/v1/metrics" || h.Get("Authorization") != "Bearer s3cret" || h.Get("X-Scope-Orgid") != "team-a" {
		t.Errorf("path %s with headers %v", r.paths[0], h)
	}
}

// Headers, authorities and certificates are read for each push: a Secret that is renewed needs no
// restart.
func TestRenewedSecret(t *testing.T) {
	r := newReceiver(t, (*httptest.Server).StartTLS)
	dir := folder(t, nil)
	p := newPusher(t, Config{Endpoint: r.URL + "/otlp/custom", Folder: dir}, registry(t), logr.Discard())
	if err := p.push(t.Context()); err == nil || !strings.Contains(err.Error(), "certificate signed by unknown authority") {
		t.Errorf("without its authority: %v", err)
	}
	must.Succeed(t, os.WriteFile(filepath.Join(dir, "ca.crt"), []byte(authority(r.Server)), 0o600))
	must.Succeed(t, p.push(t.Context()))
	must.Succeed(t, os.WriteFile(filepath.Join(dir, "headers"), []byte("Api-Key: new"), 0o600))
	must.Succeed(t, p.push(t.Context()))
	if len(r.headers) != 2 || r.headers[0].Get("Api-Key") != "" || r.headers[1].Get("Api-Key") != "new" || r.paths[0] != "/otlp/custom" {
		t.Errorf("paths %v with headers %v", r.paths, r.headers)
	}
}

func TestCertificateOfTheOperator(t *testing.T) {
	r := newReceiver(t, func(s *httptest.Server) {
		s.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, MinVersion: tls.VersionTLS12}
		s.StartTLS()
	})
	pair := r.TLS.Certificates[0]
	key, err := x509Key(pair)
	must.Succeed(t, err)
	files := map[string]string{"ca.crt": authority(r.Server), "tls.crt": authority(r.Server), "tls.key": key}
	must.Succeed(t, newPusher(t, Config{Endpoint: r.URL, Folder: folder(t, files)}, registry(t), logr.Discard()).push(t.Context()))
	delete(files, "tls.crt")
	delete(files, "tls.key")
	if err := newPusher(t, Config{Endpoint: r.URL, Folder: folder(t, files)}, registry(t), logr.Discard()).push(t.Context()); err == nil {
		t.Error("without a certificate it is taken")
	}
}

// What a collector does never goes further than an error, which has none of its answer and no header.
func TestCollectorsThatDoNotTakeIt(t *testing.T) {
	partial, err := proto.Marshal(&collector.ExportMetricsServiceResponse{PartialSuccess: &collector.ExportMetricsPartialSuccess{RejectedDataPoints: 3, ErrorMessage: "s3cret"}})
	must.Succeed(t, err)
	elsewhere := newReceiver(t, (*httptest.Server).StartTLS)
	for name, tc := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"refused": {func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "s3cret is wrong", http.StatusUnauthorized)
		}, "the collector answered 401"},
		"busy": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(http.StatusServiceUnavailable)
		}, "the collector answered 503"},
		"redirected": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+"/v1/metrics", http.StatusTemporaryRedirect)
		}, "the collector answered 307"},
		"endless": {func(w http.ResponseWriter, _ *http.Request) {
			for range 100 {
				if _, err := w.Write(make([]byte, 100_000)); err != nil {
					return
				}
			}
		}, "the collector did not take all of the metrics, or its answer cannot be read"},
		"a part": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-protobuf")
			_, _ = w.Write(partial)
		}, "the collector did not take all of the metrics, or its answer cannot be read"},
		"gone": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReceiver(t, (*httptest.Server).StartTLS)
			r.answer = tc.answer
			p := newPusher(t, Config{Endpoint: r.URL, Folder: folder(t, map[string]string{"ca.crt": authority(r.Server) + authority(elsewhere.Server), "headers": "Authorization: s3cret"})}, registry(t), logr.Discard())
			if err := p.push(t.Context()); err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("error %v, want %s", err, tc.want)
			}
			if len(r.paths) != 1 {
				t.Errorf("it was asked %d times: a push is not tried again", len(r.paths))
			}
		})
	}
	if len(elsewhere.paths) > 0 {
		t.Error("a redirect took the headers elsewhere")
	}
}

func TestFilesThatAreWrong(t *testing.T) {
	r := newReceiver(t, (*httptest.Server).StartTLS)
	for want, files := range map[string]map[string]string{
		"file headers: line 2 must be Name: value":                             {"headers": "A: b\nBearer s3cret"},
		"file headers: line 1 must be Name: value":                             {"headers": "A\x00: s3cret"},
		"file headers: line 1 must not set Host, which belongs to the request": {"headers": "host: s3cret"},
		"file headers: has more than 32 headers":                               {"headers": manyHeaders(33)},
		"file headers: has more than 65536 bytes":                              {"headers": strings.Repeat("s3cret", 20_000)},
		"file ca.crt: holds no certificate in PEM":                             {"ca.crt": "s3cret"},
		"files tls.crt and tls.key: are not a certificate and its key in PEM":  {"tls.key": "s3cret"},
	} {
		p := newPusher(t, Config{Endpoint: r.URL, Folder: folder(t, files)}, registry(t), logr.Discard())
		if err := p.push(t.Context()); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	long := newPusher(t, Config{Endpoint: r.URL, Folder: folder(t, map[string]string{"ca.crt": authority(r.Server), "headers": "A: " + strings.Repeat("x", 65_000) + "\r\nB: c\r\n"})}, registry(t), logr.Discard())
	must.Succeed(t, long.push(t.Context()))
	if got := r.headers[len(r.headers)-1]; len(got.Get("A")) != 65_000 || got.Get("B") != "c" {
		t.Errorf("of a long line and another: %d bytes, and %q", len(got.Get("A")), got.Get("B"))
	}
	plain := newReceiver(t, (*httptest.Server).Start)
	must.Succeed(t, newPusher(t, Config{Endpoint: plain.URL}, registry(t), logr.Discard()).push(t.Context()))
	p := newPusher(t, Config{Endpoint: plain.URL, Folder: folder(t, map[string]string{"headers": "A: s3cret"})}, registry(t), logr.Discard())
	if err := p.push(t.Context()); err == nil || !strings.Contains(err.Error(), "headers are sent over TLS alone") || len(plain.paths) != 1 {
		t.Errorf("headers in plain text: %v", err)
	}
}

func manyHeaders(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("H-" + strings.Repeat("x", i) + ": v\n")
	}
	return b.String()
}

func TestConfigurationsThatAreRefused(t *testing.T) {
	for want, c := range map[string]Config{
		"such as https://":                   {Endpoint: "collector:4318"},
		"it needs http or https, and a host": {Endpoint: "https:///v1/metrics"},
		"needs http or https":                {Endpoint: "ftp://collector"},
		"must have no user":                  {Endpoint: "https://me:s3cret@collector"},
		"neither a query nor a fragment":     {Endpoint: "https://collector/?key=s3cret"},
		"must be a URL":                      {Endpoint: "https://me:s3cret@coll ector\x7f"},
		"at least 10s, not 1s":               {Endpoint: "https://collector", Interval: time.Second},
	} {
		if c.Interval == 0 {
			c.Interval = time.Minute
		}
		if _, err := New(c, prometheus.NewRegistry(), prometheus.NewRegistry(), logr.Discard()); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: error %v, want %s", c.Endpoint, err, want)
		}
	}
}

// exporter takes pushes as a test says.
type exporter struct {
	metric.Exporter
	take func(context.Context) error
}

func (e exporter) Export(ctx context.Context, _ *metricdata.ResourceMetrics) error {
	return e.take(ctx)
}

// A collector that is away is said once, and counted each time; and one that hangs holds up no
// more than a push.
func TestFailuresAreSaidOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []string
		log := funcr.New(func(_, args string) { said = append(said, args) }, funcr.Options{})
		p := newPusher(t, Config{Endpoint: "https://collector", Interval: time.Minute}, registry(t), log)
		begun, at := time.Now(), []time.Duration(nil)
		var up atomic.Bool
		p.exporter = exporter{take: func(ctx context.Context) error {
			at = append(at, time.Since(begun))
			if !up.Load() {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		}}
		ctx, cancel := context.WithCancel(t.Context())
		var done sync.WaitGroup
		done.Go(func() { must.Report(t, "the end", p.Start(ctx)) })
		<-time.After(3*time.Minute + 30*time.Second)
		up.Store(true)
		<-time.After(2 * time.Minute)
		cancel()
		done.Wait()
		if len(at) != 5 || at[0] != time.Minute || at[4] != 5*time.Minute {
			t.Errorf("it was pushed at %v", at)
		}
		if len(said) != 2 || !strings.Contains(said[0], "context deadline exceeded") || !strings.Contains(said[1], "again") {
			t.Errorf("it says %q", said)
		}
		for outcome, want := range map[string]float64{failed: 3, succeeded: 2} {
			if got := testutil.ToFloat64(p.pushes.WithLabelValues(outcome)); got != want {
				t.Errorf("%s: %v pushes, want %v", outcome, got, want)
			}
		}
	})
}

// x509Key is the key of a certificate in PEM.
func x509Key(pair tls.Certificate) (string, error) {
	encoded, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})), err
}
