package main

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/loadtest-dev/loadtest-operator/hack/bench/process"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
)

// nginx is the server over TLS and HTTP/2: the ground-truth server speaks TLS
// by crypto/tls, which costs more than the generators that it would measure.
// What it served comes from its own counters, read by a poller.
type nginx struct {
	process *process.Process
	client  http.Client // of the status page
	at      string
	ca      string

	stopPolling context.CancelFunc
	polling     sync.WaitGroup
	seen        progress // the poller's until polling is done
}

// pollEvery is how exactly the first and the last request are dated: to
// half a percent of four seconds.
const pollEvery = 20 * time.Millisecond

// nginxConfig serves 64 bytes for any path. The process serves by itself,
// without a master, so that its processor time is the server's.
const nginxConfig = `daemon off;
master_process off;
pid %[1]s/nginx.pid;
events { worker_connections 8192; }
http {
  access_log off;
  client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fastcgi;
  uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
  keepalive_requests 1000000000;
  ssl_protocols TLSv1.2 TLSv1.3;
  ssl_certificate %[1]s/certificate.pem;
  ssl_certificate_key %[1]s/key.pem;
  server {
    listen %[2]s;
    location / { return 200 "%[3]s"; }
  }
  server {
    listen unix:%[1]s/status;
    location / { stub_status; }
  }
}
`

// serveNginx starts nginx on a free port of this machine.
func (b *bench) serveNginx(ctx context.Context, over protocol) (_ *nginx, err error) {
	program, err := b.peers.Debian(ctx, "nginx", "nginx-light")
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp(b.work, "nginx-")
	if err != nil {
		return nil, err
	}
	if err := writeCertificate(folder); err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	config := filepath.Join(folder, "nginx.conf")
	text := fmt.Sprintf(nginxConfig, folder, address+listen(over), strings.Repeat("x", 64))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	started, err := process.Start(process.Command{
		Path: program, Args: []string{"-e", "stderr", "-p", folder, "-c", config},
		Core: serverCore, Stdin: strings.NewReader(""), Stdout: io.Discard,
	})
	if err != nil {
		return nil, err
	}
	n := &nginx{process: started, at: "https://" + address, ca: filepath.Join(folder, "certificate.pem"), client: statusClient(folder)}
	if err := awaitReady(ctx, "nginx", n.begin); err != nil {
		_, ended := started.Terminate(syscall.SIGTERM)
		return nil, errors.Join(err, ended)
	}
	polling, stop := context.WithCancel(context.Background())
	n.stopPolling = stop
	n.polling.Go(func() { n.poll(polling) })
	return n, nil
}

// listen is what nginx needs besides the address.
func listen(over protocol) string {
	if over == overHTTP2 {
		return " ssl http2"
	}
	return " ssl"
}

func (n *nginx) url() string         { return n.at }
func (n *nginx) certificate() string { return n.ca }

// stop ends it and returns what it served and cost.
func (n *nginx) stop() (groundtruth.Counters, process.Usage, error) {
	n.stopPolling()
	n.polling.Wait()
	final, err := n.status()
	usage, stopped := n.process.Terminate(syscall.SIGTERM)
	n.seen.add(final)
	return n.seen.counters, usage, errors.Join(err, stopped)
}

// begin reads what is counted before the first request, once nginx serves.
func (n *nginx) begin() error {
	served, err := n.status()
	n.seen.start(served)
	return err
}

func (n *nginx) poll(ctx context.Context) {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if s, err := n.status(); err == nil {
				n.seen.add(s)
			}
		}
	}
}

// status reads nginx's counters, in which this request is counted too.
func (n *nginx) status() (s stubStatus, err error) {
	asked := groundtruth.Now()
	resp, err := n.client.Get("http://status/")
	if err != nil {
		return s, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return s, err
	}
	s, err = readStubStatus(text)
	s.asked, s.read = asked, groundtruth.Now()
	return s, err
}

// stubStatus are the counters of nginx's ngx_http_stub_status_module, at some instant
// between those at which they were asked for and read.
type stubStatus struct{ accepts, requests, asked, read int64 }

func readStubStatus(text []byte) (s stubStatus, err error) {
	var active, handled int64
	_, err = fmt.Fscanf(bytes.NewReader(text), "Active connections: %d \nserver accepts handled requests\n %d %d %d", &active, &s.accepts, &handled, &s.requests)
	if err != nil {
		return s, fmt.Errorf("nginx's status %q: %w", text, err)
	}
	return s, nil
}

// progress dates the first and the last request by a series of counters: each
// reading is itself one request, on one connection of its own.
type progress struct {
	counters groundtruth.Counters
	readings int64
	before   stubStatus
	last     int64 // when the reading before was asked for
}

func (p *progress) start(s stubStatus) { p.before, p.last = s, s.asked }

func (p *progress) add(s stubStatus) {
	p.readings++
	served := s.requests - p.before.requests - p.readings
	if served > p.counters.Requests {
		if p.counters.Requests == 0 {
			p.counters.First = p.last
		}
		p.counters.Last = s.read
	}
	p.counters.Requests, p.counters.Connections = served, s.accepts-p.before.accepts
	p.last = s.asked
}

func statusClient(folder string) http.Client {
	return http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(folder, "status"))
		},
	}}
}

// writeCertificate writes the certificate that net/http/httptest has for this
// machine's addresses, and its key.
func writeCertificate(folder string) error {
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	key, err := x509.MarshalPKCS8PrivateKey(s.TLS.Certificates[0].PrivateKey)
	if err != nil {
		return err
	}
	for name, block := range map[string]*pem.Block{
		"certificate.pem": {Type: "CERTIFICATE", Bytes: s.Certificate().Raw},
		"key.pem":         {Type: "PRIVATE KEY", Bytes: key},
	} {
		if err := os.WriteFile(filepath.Join(folder, name), pem.EncodeToMemory(block), 0o600); err != nil {
			return err
		}
	}
	return nil
}
