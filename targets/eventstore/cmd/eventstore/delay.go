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
// takes that way once, does not wait.
func delayed(h http.Handler, delay time.Duration) http.Handler {
	if delay == 0 {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(delay):
			h.ServeHTTP(w, r)
		case <-r.Context().Done(): // the client has left
		}
	})
}
