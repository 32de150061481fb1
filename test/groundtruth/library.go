package groundtruth

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// library is a server by net/http, in the place of event loops.
type library struct {
	http  *http.Server
	port  *port
	still sync.RWMutex // held while the server stands still
	ended chan struct{}
}

const (
	// window is how much of a request's body the server takes before it is read.
	window = 64 << 10
	// slowPiece and slowEvery are how bodies are read while the server is slow.
	slowPiece = 4 << 10
	slowEvery = 10 * time.Millisecond
	// maxStreams is so many that no generator of this machine waits for one.
	maxStreams = 1 << 16
)

// runLibrary starts a server by net/http.
func (s *Server) runLibrary(c Config) error {
	if err := s.translate(); err != nil {
		return err
	}
	frame, err := c.frame()
	if err != nil {
		return err
	}
	p, err := s.listen(c.Address)
	if err != nil {
		return err
	}
	protocols := &http.Protocols{}
	protocols.SetHTTP1(c.Protocol == TLS)
	protocols.SetHTTP2(c.Protocol == HTTP2)
	protocols.SetUnencryptedHTTP2(c.Protocol == H2C || frame != nil)
	l := &library{port: p, ended: make(chan struct{}), http: &http.Server{
		Handler: http.HandlerFunc(s.serve), Protocols: protocols, ErrorLog: log.New(io.Discard, "", 0),
		ReadHeaderTimeout: time.Hour,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: maxStreams, MaxReceiveBufferPerConnection: window, MaxReceiveBufferPerStream: window},
		ConnContext:       func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, linkKey{}, c) },
	}}
	var listener net.Listener = p
	if c.Protocol.isSecure() {
		config, err := s.secure(c)
		if err != nil {
			return errors.Join(err, p.Close())
		}
		listener, l.http.TLSConfig = tls.NewListener(p, config), config.Clone()
	}
	if frame != nil {
		listener = framer{listener, *frame}
	}
	s.library = l
	s.loops.Go(func() { _ = l.http.Serve(listener) }) // it ends with the port
	return nil
}

// secure is the configuration of TLS.
func (s *Server) secure(c Config) (*tls.Config, error) {
	if c.Certificate == nil {
		own, err := ownCertificate()
		if err != nil {
			return nil, err
		}
		c.Certificate = &own
	}
	s.certificate = encode(*c.Certificate)
	protocol := "h2"
	if c.Protocol == TLS {
		protocol = "http/1.1"
	}
	return &tls.Config{Certificates: []tls.Certificate{*c.Certificate}, MinVersion: tls.VersionTLS12, NextProtos: []string{protocol}}, nil
}

// close ends it.
func (l *library) close() {
	close(l.ended)
	_ = l.http.Close()
	_ = l.port.Close()
}

// pass waits while the server stands still.
func (s *Server) pass() {
	s.library.still.RLock()
	defer s.library.still.RUnlock()
}

// schedule has the script happen, whose first request came at an instant.
func (l *library) schedule(s *Server, first int64) {
	for _, e := range s.script {
		span := e.during(first)
		at := time.Until(Instant(span.From))
		switch e.Kind {
		case Stall:
			time.AfterFunc(at, func() { l.stall(s, e.For) })
		case Refuse:
			// One after the other: two timers that both come late can end in either order.
			time.AfterFunc(at, func() {
				l.port.refuse()
				time.AfterFunc(time.Until(Instant(span.To)), l.port.reopen)
			})
		}
	}
}

// stall stands still for a time, and notes from when until when that really was.
func (l *library) stall(s *Server, length time.Duration) {
	l.still.Lock()
	defer l.still.Unlock()
	from := Now()
	l.wait(context.Background(), from+int64(length))
	s.stalled(Span{From: from, To: Now()})
}

// wait waits until an instant, if neither the client nor the server ends before.
func (l *library) wait(ctx context.Context, end int64) bool {
	timer := time.NewTimer(time.Until(Instant(end)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
	case <-l.ended:
	}
	return false
}

// linkKey is the key of the connection in the context of its requests.
type linkKey struct{}

// linkOf is the connection of a request.
func linkOf(ctx context.Context) *link {
	conn := ctx.Value(linkKey{})
	for {
		above, ok := conn.(interface{ NetConn() net.Conn })
		if !ok {
			return conn.(*link)
		}
		conn = above.NetConn()
	}
}
