package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
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
)

// target counts and answers.
type target struct {
	counts counts
	listen func() (net.Listener, error)
	// exit ends the process.
	exit func()

	mu       sync.Mutex
	mode     mode
	changed  chan struct{} // closed when the mode changes
	listener net.Listener
	server   *http.Server // nil while connections are refused
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
		// The listener first, as the server may not have it yet.
		_ = t.listener.Close()
		_ = t.server.Close()
		t.server = nil
	case m != refuse && t.server == nil:
		return t.serve()
	}
	return nil
}

// serve begins to accept connections. A server runs until it is closed.
func (t *target) serve() error {
	listener, err := t.listen()
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	server := &http.Server{Handler: t, ReadHeaderTimeout: time.Minute}
	t.listener, t.server = listener, server
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			t.exit()
		}
	}()
	return nil
}

func (t *target) now() (mode, <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.mode, t.changed
}

// ServeHTTP counts a request, and then answers it as the mode says.
func (t *target) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	if name, ok := strings.CutSuffix(name, "/stored"); ok {
		t.tellStored(w, name)
		return
	}
	if strings.HasSuffix(name, "/echo") {
		echo(w, r)
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
	times, _ := strconv.Atoi(r.URL.Query().Get("stores"))
	for range min(times, 10) {
		if err := t.counts.add(name, stored); err != nil {
			panic(http.ErrAbortHandler) // nothing is acknowledged that is not stored
		}
	}
	m, changed := t.now()
	if delay, err := time.ParseDuration(cmp.Or(r.URL.Query().Get("delay"), r.Header.Get("Delay"))); err == nil {
		wait(r.Context(), nil, delay)
	}
	if m == hang {
		wait(r.Context(), changed, time.Hour)
	}
	if m != wrongly {
		return
	}
	if err := t.counts.add(name, wrong); err != nil {
		panic(http.ErrAbortHandler) // an answer that is not counted is not given
	}
	w.WriteHeader(http.StatusInternalServerError)
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
		w.Header().Set("Content-Type", "application/json")
		// What fails here is the connection; the reader sees that itself.
		_ = json.NewEncoder(w).Encode(all)
	})
	mux.HandleFunc("PUT /mode", func(w http.ResponseWriter, r *http.Request) {
		m := mode(r.FormValue("is"))
		switch m {
		case ok, wrongly, hang, refuse:
		default:
			http.Error(w, "mode must be ok, wrong, hang or refuse", http.StatusBadRequest)
			return
		}
		if err := t.set(m); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	mux.HandleFunc("PUT /exit", func(http.ResponseWriter, *http.Request) { t.exit() })
	return mux
}
