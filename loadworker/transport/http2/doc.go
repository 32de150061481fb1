// Package http2 is a client of HTTP/2, by prior knowledge and over TLS, written for load
// generation: a request is sent exactly once, and each has exactly one outcome.
//
//	Client ── opens connections by a dial.Dialer, counts them
//	  ├─ Conn ── for a goroutine: one request at a time
//	  └─ Loop ── thousands of connections and their streams from one thread (Linux)
//	Mux ── of both: the client side of one connection, a state machine without I/O
//	  ├─ Send    request  → bytes to write
//	  ├─ Feed    bytes that were read → frames → responses that ended
//	  ├─ Cancel  a request that is too late → RST_STREAM
//	  └─ End     the connection was lost: all that is in flight
//	Stream ── a request of a Mux, and its response as it arrives
//
// It is strict, because a response with two meanings is no measurement: what is not in RFC
// 9113 is an error, of the stream where that is possible, else of the connection. A request
// that the server says that it has not processed is refused, and is never sent again.
//
// A server cannot make it keep much: header blocks, what must be answered, and frames that
// mean nothing are bounded for each connection.
package http2
