package groundtruth

import (
	"crypto/tls"
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"time"
)

// TLS is a server over TLS with HTTP/1.1 by net/http, which costs several times
// what a Server does. It has one route and no script.
type TLS struct {
	http    *httptest.Server
	counter Server // for its counts
	route   *route
	done    chan struct{}
}

// StartTLS starts a server over TLS, on a free port of 127.0.0.1, under a
// certificate for that address and example.com.
func StartTLS(latency Latency) *TLS {
	t := &TLS{route: newRoute(Route{Latency: latency}), done: make(chan struct{})}
	t.counter.routes, t.counter.other = map[string]*route{"": t.route}, t.route
	t.http = httptest.NewUnstartedServer(t)
	t.http.TLS = &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
	t.http.Config.ConnState = t.count
	t.http.StartTLS()
	return t
}

// URL is its scheme and host.
func (t *TLS) URL() string { return t.http.URL }

// Certificate is the certificate that clients must trust, in PEM.
func (t *TLS) Certificate() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: t.http.Certificate().Raw})
}

// Counters are those of Server.
func (t *TLS) Counters() Counters { return t.counter.Counters() }

// Control is that of Server.
func (t *TLS) Control() http.Handler { return t.counter.Control() }

// Close ends the server.
func (t *TLS) Close() {
	close(t.done)
	t.http.CloseClientConnections()
	t.http.Close()
}

func (t *TLS) count(_ net.Conn, state http.ConnState) {
	c := &t.counter.counts
	switch state {
	case http.StateNew:
		c.connections.Add(1)
		up(&c.open, &c.peak)
	case http.StateClosed, http.StateHijacked:
		c.open.Add(-1)
	}
}

// hold waits for the middle of the latency.
func (t *TLS) hold() {
	l := t.route.latency.Load()
	if l == nil {
		return
	}
	timer := time.NewTimer((*l).At(0.5))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.done:
	}
}

var tlsBody, tlsLength = body(defaultBody), strconv.Itoa(defaultBody)

// ServeHTTP answers.
func (t *TLS) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	c, now := &t.counter.counts, Now()
	c.requests.Add(1)
	c.first.CompareAndSwap(0, now)
	c.last.Store(now)
	t.route.served.Add(1)
	up(&c.inFlight, &c.peakInFlight)
	defer c.inFlight.Add(-1)
	t.hold()
	w.Header()["Content-Length"] = []string{tlsLength}
	w.Header()["Date"] = nil
	if _, err := w.Write(tlsBody); err == nil {
		c.answered.Add(1)
	}
}
