package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// mode is how the target behaves.
type mode string

const (
	// ok answers 200.
	ok mode = "ok"
	// wrongly answers 500.
	wrongly mode = "wrong"
	// hang answers when the mode has changed.
	hang mode = "hang"
	// refuse has no listener, and closes the connections that there are.
	refuse mode = "refuse"
	// drain answers, and then ends each connection on which a request came: by GOAWAY over
	// HTTP/2, by Connection: close over HTTP/1.1. It reads late, so that requests come that
	// were sent before the GOAWAY, and are not processed.
	drain mode = "drain"
)

var modes = []mode{ok, wrongly, hang, refuse, drain}

// target counts and answers.
type target struct {
	counts counts
	times  times
	bursts bursts
	// plain and secure are the addresses that it listens on, without and with TLS.
	plain, secure string
	// exit ends the process.
	exit func()

	mu        sync.Mutex
	mode      mode
	changed   chan struct{} // closed when the mode changes
	listeners []net.Listener
	server    *http.Server // nil while connections are refused
}

// set changes the mode.
func (t *target) set(m mode) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.changed != nil {
		close(t.changed)
	}
	t.mode, t.changed = m, make(chan struct{})
	switch {
	case m == refuse && t.server != nil:
		// The listeners first, as the server may not have them yet.
		t.close()
		_ = t.server.Close()
		t.server = nil
	case m != refuse && t.server == nil:
		return t.serve()
	}
	return nil
}

// close closes the ports.
func (t *target) close() {
	for _, l := range t.listeners {
		_ = l.Close()
	}
	t.listeners = nil
}

// serve begins to accept connections, on both ports of both versions of HTTP. A server runs
// until it is closed.
func (t *target) serve() error {
	t.server = &http.Server{Handler: t, ReadHeaderTimeout: time.Minute, Protocols: &http.Protocols{}, TLSConfig: identity()}
	t.server.Protocols.SetHTTP1(true)
	t.server.Protocols.SetHTTP2(true)
	t.server.Protocols.SetUnencryptedHTTP2(true)
	for _, at := range []struct {
		address *string
		serve   func(*http.Server, net.Listener) error
	}{
		{&t.plain, (*http.Server).Serve},
		{&t.secure, func(s *http.Server, l net.Listener) error { return s.ServeTLS(l, "", "") }},
	} {
		listener, err := net.Listen("tcp", *at.address)
		if err != nil {
			t.close()
			t.server = nil
			return fmt.Errorf("listen: %w", err)
		}
		t.listeners = append(t.listeners, listener)
		*at.address = listener.Addr().String() // it stays the same
		server := t.server
		go func() {
			if err := at.serve(server, port{listener, t}); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
				t.exit()
			}
		}()
	}
	return nil
}

// port has connections that are read late while the target drains.
type port struct {
	net.Listener
	target *target
}

func (p port) Accept() (net.Conn, error) {
	conn, err := p.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return late{conn, p.target}, nil
}

type late struct {
	net.Conn
	target *target
}

// lateFor is so long that several requests are sent meanwhile.
const lateFor = 50 * time.Millisecond

func (c late) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if m, changed := c.target.now(); m == drain && err == nil {
		wait(context.Background(), changed, lateFor)
	}
	return n, err
}

// identity has a certificate for example.com, whose key is that of net/http's tests: who
// trusts it need not be given it.
func identity() *tls.Config {
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	return &tls.Config{Certificates: s.TLS.Certificates, MinVersion: tls.VersionTLS12}
}

func (t *target) now() (mode, <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.mode, t.changed
}

// ServeHTTP counts a request, and then answers it as the mode says.
func (t *target) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	came := time.Now()
	name, call := named(r)
	if t.servePart(w, r, name) {
		return
	}
	if !nameFormat.MatchString(name) {
		http.Error(w, "the path is no name", http.StatusNotFound)
		return
	}
	if err := t.counts.add(name, received); err != nil {
		http.Error(w, err.Error(), http.StatusInsufficientStorage)
		return
	}
	t.store(name, number(r.URL.Query().Get("stores")))
	m, changed := t.now()
	delay, _ := time.ParseDuration(cmp.Or(r.URL.Query().Get("delay"), r.Header.Get("Delay")))
	defer func() { t.times.answered(name, came, time.Now(), delay) }()
	if err := t.counts.addTrace(name, r, delay > 0); err != nil {
		panic(http.ErrAbortHandler) // nothing is answered that is not counted
	}
	if delay > 0 {
		wait(r.Context(), nil, delay)
	}
	if m == hang {
		wait(r.Context(), changed, time.Hour)
	}
	if m == drain {
		w.Header().Set("Connection", "close")
	}
	if m == wrongly && t.counts.add(name, wrong) != nil {
		panic(http.ErrAbortHandler) // an answer that is not counted is not given
	}
	grants, limits := r.URL.Query().Get("grants"), r.URL.Query().Has("grants")
	switch {
	case call:
		reply(w, m == wrongly)
	case limits && t.bursts.place(name, came) > number(grants):
		w.WriteHeader(http.StatusTooManyRequests)
	case m == wrongly:
		w.WriteHeader(http.StatusInternalServerError)
	case r.URL.Query().Has("after"): // for journeys that ask until a number is reached
		_, _ = fmt.Fprintf(w, `{"n": %d}`, number(r.URL.Query().Get("after"))+1) // what fails is the connection
	}
}

// servePart answers what is below a name; false: the path is a name, or none.
func (t *target) servePart(w http.ResponseWriter, r *http.Request, path string) bool {
	name, part, _ := strings.Cut(path, "/")
	switch part {
	case "stored":
		t.tellStored(w, name)
	case "echo":
		echo(w, r)
	case "stream":
		t.stream(w, r, name)
	case "talk":
		t.talk(w, r, name)
	case "page", "login", "home":
		site{&t.counts}.serve(w, r, name, part)
	case "token", "guarded":
		guard{&t.counts}.serve(w, r, name, part)
	default:
		return false
	}
	return true
}

// store stores a request so many times, at most 10. Nothing is acknowledged that is not stored.
func (t *target) store(name string, times int) {
	for range min(times, 10) {
		if err := t.counts.add(name, stored); err != nil {
			panic(http.ErrAbortHandler)
		}
	}
}

// number is 0 of what is none.
func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

// named is the name that a request is counted under: that of a call is in its metadata.
func named(r *http.Request) (name string, call bool) {
	if r.Header.Get("Content-Type") == callType {
		return r.Header.Get("Name"), true
	}
	return strings.TrimPrefix(r.URL.Path, "/"), false
}

// callType is the content type of calls of gRPC.
const callType = "application/grpc"

// reply answers a call: by an empty message, or by INTERNAL.
func reply(w http.ResponseWriter, wrong bool) {
	w.Header().Set("Content-Type", callType)
	status := "0"
	if wrong {
		status = "13"
	} else {
		_, _ = w.Write(make([]byte, 5)) // what fails is the connection
	}
	w.Header().Set(http.TrailerPrefix+"Grpc-Status", status)
}

// tellStored says how often was stored under a name.
func (t *target) tellStored(w http.ResponseWriter, name string) {
	all, err := t.counts.all()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, "{\"stored\": %d}\n", all[name].Stored)
}

// echo sends back the body, and the header X-Echo.
func echo(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Echo", r.Header.Get("X-Echo"))
	_, _ = io.Copy(w, io.LimitReader(r.Body, 1<<16)) // what fails is the connection
}

// wait returns after that time, when the client has gone, or at the signal.
func wait(ctx context.Context, signal <-chan struct{}, limit time.Duration) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-signal:
	case <-timer.C:
	}
}

// control is the handler of the other port.
func (t *target) control() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /counts", func(w http.ResponseWriter, _ *http.Request) {
		all, err := t.counts.all()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		for name, n := range all {
			n.Longest, n.Stood = t.times.of(name)
			all[name] = n
		}
		w.Header().Set("Content-Type", "application/json")
		// What fails here is the connection; the reader notices that itself.
		_ = json.NewEncoder(w).Encode(all)
	})
	mux.HandleFunc("PUT /mode", func(w http.ResponseWriter, r *http.Request) {
		m := mode(r.FormValue("is"))
		if !slices.Contains(modes, m) {
			http.Error(w, "mode must be ok, wrong, hang, refuse or drain", http.StatusBadRequest)
			return
		}
		if err := t.set(m); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	mux.HandleFunc("PUT /exit", func(http.ResponseWriter, *http.Request) { t.exit() })
	return mux
}
