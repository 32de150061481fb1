package main

import (
	"net/http"
	"time"
)

// mostDelay leaves time to answer before a client's usual time limit of 30 s, and within
// writeTimeout.
const mostDelay = 10 * time.Second

// delayed lets each request wait before it is handled, as a long way to the client would:
// as many connections as before then carry fewer requests. A connection's handshake, which
// takes that way once, does not wait. Neither do pages that the cluster asks for: a probe
// gives up after 2 s, and a pod whose probes all fail is ended.
func delayed(h http.Handler, delay time.Duration) http.Handler {
	if delay == 0 {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/health", "/ready", "/metrics":
			h.ServeHTTP(w, r)
			return
		}
		select {
		case <-time.After(delay):
			h.ServeHTTP(w, r)
		case <-r.Context().Done(): // the client has left
		}
	})
}
