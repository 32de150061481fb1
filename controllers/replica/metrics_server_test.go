package replica

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/certs"
	"github.com/loadtest-dev/loadtest-operator/test/must"
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
		if took := time.Since(begun); answer.Code != http.StatusServiceUnavailable || took >= scrapeTimeout {
			t.Errorf("answered %d after %v, want %d before the connection is closed", answer.Code, took, http.StatusServiceUnavailable)
		}
	})
}

// pipes is a listener of connections in memory.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if conn, open := <-p; open {
		return conn, nil
	}
	return nil, net.ErrClosed
}

func (pipes) Close() error   { return nil }
func (pipes) Addr() net.Addr { return &net.TCPAddr{} }

// dial connects to the listener, which has accepted the connection then.
func (p pipes) dial(t *testing.T) net.Conn {
	t.Helper()
	ours, theirs := net.Pipe()
	t.Cleanup(func() { _ = ours.Close() })
	p <- theirs
	synctest.Wait()
	return ours
}

// serveMetrics serves connections in memory until the test ends.
func serveMetrics(t *testing.T, s *MetricsServer) pipes {
	t.Helper()
	listener := make(pipes)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		synctest.Wait() // the server has noted that it is closed
		close(listener)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return listener
}

// scrape asks for the page on a connection, and returns the code of the answer.
func scrape(t *testing.T, conn net.Conn) int {
	t.Helper()
	request := httptest.NewRequest(http.MethodGet, "http://replica/metrics", nil)
	must.Succeed(t, request.Write(conn))
	answer, err := http.ReadResponse(bufio.NewReader(conn), request)
	must.Succeed(t, err)
	return answer.StatusCode
}

// Connections that say nothing neither keep scrapers away nor add up.
func TestSilentConnectionsGiveWayToScrapers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := serveMetrics(t, NewMetricsServer("", false, nil, nil))
		var silent []net.Conn
		for range 4 * maxScrapers {
			silent = append(silent, listener.dial(t))
		}
		if got := scrape(t, listener.dial(t)); got != http.StatusOK {
			t.Errorf("answered %d, want %d", got, http.StatusOK)
		}
		gone := len(silent) - maxScrapers + 1
		for i, conn := range silent {
			err := conn.SetReadDeadline(time.Now().Add(time.Millisecond))
			if err == nil {
				_, err = conn.Read(make([]byte, 1))
			}
			if open := errors.Is(err, os.ErrDeadlineExceeded); open != (i >= gone) {
				t.Fatalf("silent connection %d of %d is open: %t, want that the first %d are closed", i, len(silent), open, gone)
			}
		}
	})
}

func TestMetricsTakeNothingButTLS13(t *testing.T) {
	made, err := certs.Generate(time.Now())
	must.Succeed(t, err)
	pair, err := tls.X509KeyPair(made.Cert, made.Key)
	must.Succeed(t, err)
	synctest.Test(t, func(t *testing.T) {
		server := NewMetricsServer("", true, nil, nil)
		server.config.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &pair, nil }
		listener := serveMetrics(t, server)
		for version, want := range map[uint16]string{tls.VersionTLS12: "protocol version", tls.VersionTLS13: ""} {
			conn := tls.Client(listener.dial(t), &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12, MaxVersion: version})
			err := conn.Handshake()
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", tls.VersionName(version), err, want)
			}
			if err == nil {
				if got := scrape(t, conn); got != http.StatusUnauthorized {
					t.Errorf("answered %d without a token", got)
				}
			}
		}
		if got := scrape(t, listener.dial(t)); got != http.StatusBadRequest {
			t.Errorf("plain HTTP is answered %d", got)
		}
	})
}
