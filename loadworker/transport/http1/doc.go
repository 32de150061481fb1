// Package http1 is a client of HTTP/1.1, plain or over TLS, written for load
// generation: a request is sent exactly once, and allocates nothing.
//
//	Client ── opens connections by a dial.Dialer, counts them
//	  ├─ Conn ── for a goroutine: send a request, read the whole response
//	  └─ Loop ── the same for thousands of LoopConns from one thread (Linux), in a loop.Loop
//	appendRequest  ── of both: writes a request
//	responseReader ── of both: a parser that is fed bytes as they arrive
//
// A socket passes from a Conn to a LoopConn and back, so that connections outlive
// the step whose loop drove them.
package http1
