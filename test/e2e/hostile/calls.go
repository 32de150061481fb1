package main

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"time"
)

// markup is what a target may say of the status of a call, percent-encoded: what a terminal
// obeys, and what a browser does.
const markup = "%1B[31m%0A%E2%80%AEred <script>alert(1)</script>"

// calls are answers to a call of gRPC, by a part of its message.
var calls = map[string]http.HandlerFunc{
	"silent": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	"markup": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Grpc-Status", "7")
		w.Header().Set("Grpc-Message", markup)
	},
	"endless": func(w http.ResponseWriter, _ *http.Request) {
		_, err := w.Write([]byte{0, 0xff, 0xff, 0xff, 0xff}) // the prefix of 4 GiB
		for err == nil {
			_, err = io.WriteString(w, repeated("\x08\x01"))
			time.Sleep(breath)
		}
	},
}

// serveCalls answers calls over HTTP/2 without TLS until the listener is closed.
func serveCalls(listener net.Listener) error {
	server := &http.Server{Handler: http.HandlerFunc(answerCall), Protocols: new(http.Protocols), ReadHeaderTimeout: time.Minute}
	server.Protocols.SetUnencryptedHTTP2(true)
	return server.Serve(listener)
}

func answerCall(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/grpc")
	message, err := io.ReadAll(io.LimitReader(r.Body, 1<<10))
	if err != nil {
		return
	}
	for name, answer := range calls {
		if bytes.Contains(message, []byte(name)) {
			answer(w, r)
			return
		}
	}
	w.Header().Set("Grpc-Status", "12")
}
