package assemble

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"runtime"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/attack"
	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/http1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/http2"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/nethttp"
)

// newClient returns the client for a target. Our own speak HTTP/1.1 and HTTP/2, over TLS
// too. net/http speaks to proxies.
func newClient(t *workerv1.Target, c Config) (transport.Client, error) {
	client, err := newKeepAliveClient(t, c)
	if err == nil && c.Dial != nil {
		client = goroutines{client}
	}
	if err == nil && t.GetDisableKeepAlive() {
		client = transport.NewOneShot(client)
	}
	return client, err
}

// goroutines is a client whose connections no event loop takes.
type goroutines struct{ transport.Client }

// newKeepAliveClient is newClient for a target whose connections are kept.
func newKeepAliveClient(t *workerv1.Target, c Config) (transport.Client, error) {
	dialer, err := newDialer(t, c)
	if err != nil {
		return nil, err
	}
	switch {
	case t.GetProxyUrl() != "":
		return nethttp.NewProxyClient(dialer, agent(c), t.GetProxyUrl())
	case t.GetProtocol() == workerv1.Protocol_PROTOCOL_HTTP2:
		return http2.NewClient(dialer, agent(c), c.shared), nil
	default:
		return http1.NewClient(dialer, agent(c)), nil
	}
}

// agent is the value of User-Agent.
func agent(c Config) string { return "loadtest-operator/" + c.Version }

func newDialer(t *workerv1.Target, c Config) (*dial.Dialer, error) {
	secure, err := loadTLS(t.GetTls())
	if err != nil {
		return nil, fmt.Errorf("target.tls: %w", err)
	}
	return dial.NewDialer(dial.Config{
		URL:    t.GetUrl(),
		Name:   t.GetName(),
		Policy: c.policy,
		Lookup: c.Lookup,
		Dial:   c.Dial,
		TLS:    secure,
		Resume: t.GetTls().GetResume(),
		HTTP2:  t.GetProtocol() == workerv1.Protocol_PROTOCOL_HTTP2,
	})
}

// newStepClient returns the client of the steps, which for vegeta is net/http's with its
// own pool.
func newStepClient(a *workerv1.Assignment, c Config) (transport.Client, error) {
	t := a.GetTarget()
	vegeta := a.GetDriver() == workerv1.Driver_DRIVER_VEGETA
	if shares := t.GetHttp2Connections() > 0 || t.GetHttp2Streams() > 0; shares && (vegeta || runtime.GOOS != "linux") {
		return nil, errors.New("target.http2: needs Linux and driver Auto; leave it out, so that each request in flight has a connection")
	}
	if !vegeta {
		c.shared = sharedOf(a)
		return newClient(t, c)
	}
	if t.GetTls().GetResume() {
		return nil, errors.New("target.tls.resume: worker.driver Vegeta has no sessions that a request could resume; use driver Auto, or leave it out")
	}
	if t.GetProxyUrl() != "" {
		return nil, errors.New("worker.driver: Vegeta does not go through target.proxy; use driver Auto")
	}
	dialer, err := newDialer(t, c)
	if err != nil {
		return nil, err
	}
	return nethttp.NewPool(dialer, agent(c), !t.GetDisableKeepAlive()), nil
}

// sharedOf is how a worker's requests that are of no user share connections.
func sharedOf(a *workerv1.Assignment) http2.Shared {
	n, workers := a.GetTarget().GetHttp2Connections(), max(1, a.GetWorkers())
	own := n / workers
	if a.GetWorker() < n%workers {
		own++
	}
	return http2.Shared{Connections: int(max(1, own)), Streams: int(a.GetTarget().GetHttp2Streams())}
}

// checkDriver refuses a step that vegeta does not drive.
func checkDriver(a *workerv1.Assignment, s attack.StepShare) error {
	if _, rate := s.Load.(attack.Arrivals); !rate && a.GetDriver() == workerv1.Driver_DRIVER_VEGETA {
		return fmt.Errorf("worker.driver: Vegeta drives rates, and step %d has none; use driver Auto", s.Index)
	}
	return nil
}

// maxPEM bounds a file of certificates: a Secret's size.
const maxPEM = 1 << 20

// loadTLS reads the files that the kubelet mounted. They are read once: a
// certificate that is renewed in the middle of a run is not taken up.
func loadTLS(t *workerv1.TLS) (*tls.Config, error) {
	if t == nil {
		return nil, nil
	}
	c := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		ServerName:         t.GetServerName(),
		InsecureSkipVerify: t.GetInsecureSkipVerify(),
	}
	if t.GetCaFile() != "" {
		text, err := readFile(t.GetCaFile(), maxPEM)
		if err != nil {
			return nil, fmt.Errorf("ca: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM([]byte(text)) {
			return nil, fmt.Errorf("ca: %s has no certificate in PEM", t.GetCaFile())
		}
	}
	if t.GetCertFile() != "" || t.GetKeyFile() != "" {
		pair, err := tls.LoadX509KeyPair(t.GetCertFile(), t.GetKeyFile())
		if err != nil {
			return nil, fmt.Errorf("clientCertificate: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
