package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/loadtest-dev/loadtest-operator/hack/bench/process"
	"github.com/loadtest-dev/loadtest-operator/test/await"
)

const (
	// startTimeout is how long a service may take to be ready.
	startTimeout = time.Minute
	// memoryLimit is what the charts tell a service with 512 Mi.
	memoryLimit = "GOMEMLIMIT=460MiB"
)

// service is a server in a process of its own.
type service struct {
	*process.Process
	url string // or host:port, of what does not speak HTTP
}

// replica starts a target's command, and returns when it is ready.
func (x *testEnv) replica(ctx context.Context, program string, args ...string) (*service, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	args = append(args, "--port", strconv.Itoa(port))
	s, err := x.launch(process.Command{Path: x.path(program), Args: args, Env: []string{memoryLimit}, Core: serverCore}, syscall.SIGTERM)
	if err != nil {
		return nil, err
	}
	s.url = fmt.Sprintf("http://127.0.0.1:%d", port)
	return s, awaitReady(ctx, program, func() error {
		_, err := probe(ctx, s.url, question{method: http.MethodGet, example: "/ready", status: http.StatusOK})
		return err
	})
}

// launch starts a process that runs until the testEnv is closed, which ends it by
// the signal.
func (x *testEnv) launch(c process.Command, end syscall.Signal) (*service, error) {
	c.Stdin, c.Stdout = strings.NewReader(""), io.Discard
	p, err := process.Start(c)
	if err != nil {
		return nil, err
	}
	x.closers = append(x.closers, func() error {
		_, err := p.Terminate(end)
		return err
	})
	return &service{Process: p}, nil
}

// bare starts a handler that answers a question as the service does, and does
// nothing for it.
func (x *testEnv) bare(ctx context.Context, s *service, q question) (*service, error) {
	r, err := probe(ctx, s.url, q)
	if err != nil {
		return nil, err
	}
	p, err := process.Start(process.Command{Path: x.path("bare"), Core: serverCore})
	if err != nil {
		return nil, err
	}
	x.closers = append(x.closers, func() error {
		_, err := p.Stop()
		return err
	})
	if err := json.NewEncoder(p.Stdin).Encode(r); err != nil {
		return nil, fmt.Errorf("tell the bare handler what to say: %w", err)
	}
	var at struct{ URL string }
	if err := p.ReadJSON(&at); err != nil {
		return nil, fmt.Errorf("start the bare handler: %w", err)
	}
	return &service{p, at.URL}, nil
}

// reply is what a service said, but for what net/http adds by itself.
type reply struct {
	Status int         `json:"status"`
	Header http.Header `json:"header"`
	Body   []byte      `json:"body"`
}

// probe asks a question once.
func probe(ctx context.Context, url string, q question) (r reply, err error) {
	request, err := http.NewRequestWithContext(ctx, q.method, url+q.example, strings.NewReader(q.body))
	if err != nil {
		return r, err
	}
	resp, err := asker.RoundTrip(request)
	if err != nil {
		return r, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != int(q.status) {
		err = fmt.Errorf("%s %s = %s %s, want %d", q.method, q.example, resp.Status, bytes.TrimSpace(body), q.status)
	}
	resp.Header.Del("Date")
	resp.Header.Del("Content-Length")
	return reply{resp.StatusCode, resp.Header, body}, err
}

// asker asks as the generator does: it follows no redirect, and takes no
// compressed reply.
var asker = &http.Transport{DisableCompression: true}

// awaitReady tries until it succeeds.
func awaitReady(ctx context.Context, what string, try func() error) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := await.Try(ctx, func(context.Context) error { return try() }); err != nil {
		return fmt.Errorf("%s is not ready: %w", what, err)
	}
	return nil
}

// freePort is one that nothing listens on at the moment.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

// closing closes the testEnv; its errors join another.
func closing(err error, x *testEnv) error {
	asker.CloseIdleConnections()
	for i := len(x.closers) - 1; i >= 0; i-- {
		err = errors.Join(err, x.closers[i]())
	}
	return err
}
