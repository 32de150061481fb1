package ui

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"
)

// secretBytes is the length of the secret: 192 bits, too many to guess.
const secretBytes = 24

// Server is an address that pages are served at.
type Server struct {
	// URL is that of the list, with the secret.
	URL      string
	listener net.Listener
	http     *http.Server
}

// Listen takes a port of the loopback address; 0: one that is free.
func Listen(port int, c Config) (*Server, error) {
	listener, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("--port %d: %w", port, err)
	}
	random := make([]byte, secretBytes)
	_, _ = rand.Read(random) // it does not fail
	secret := base64.RawURLEncoding.EncodeToString(random)
	bound := listener.Addr().String()
	_, taken, _ := net.SplitHostPort(bound)
	const header, headers = 10 * time.Second, 64 << 10
	return &Server{
		URL: "http://" + bound + "/" + secret + "/", listener: listener,
		http: &http.Server{
			Handler: New(c, secret, bound, "localhost:"+taken), ReadHeaderTimeout: header, IdleTimeout: time.Minute, MaxHeaderBytes: headers,
		},
	}, nil
}

// Path is the URL of a page below that of the list.
func (s *Server) Path(segments string) string { return s.URL + segments }

// Serve serves until ctx ends.
func (s *Server) Serve(ctx context.Context) error {
	s.http.BaseContext = func(net.Listener) context.Context { return ctx }
	stop := context.AfterFunc(ctx, func() { _ = s.http.Close() }) // open pages would keep it from a graceful end
	defer stop()
	if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", s.listener.Addr(), err)
	}
	return nil
}
