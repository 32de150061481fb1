// Package transport puts a request on a connection and reads the response, one
// request at a time, nothing hidden. A Client makes lines, of which each is one
// connection. There are two, and the target decides which is used:
//
//	Dialer  HTTP/1.1, plain or over TLS: a client of our own
//	  ├─ Policy (which addresses), resolver (cached), counts of what was opened
//	  ├─ Conn ── a line for a goroutine: write, read the whole response
//	  ├─ Loop ── the same for thousands of Wires, from one thread (Linux, plain)
//	  └─ parser ── of both: takes bytes as they come, holds none
//	NetHTTP HTTP/2, by ALPN or by prior knowledge: net/http without its pool,
//	        over connections of the Dialer
//	  └─ Proxy ── or through a proxy, by absolute form or CONNECT; never one of
//	              the environment's
//	OneShot either of them, with a connection for each request
//
//	*Error ── phase and cause; Classify makes an outcome of it, the same for all
//
// The first exists because a load generator must know what net/http keeps to
// itself: when a connection was opened, in which phase a request failed, and that
// it was sent exactly once. net/http's pool replays a request whose idle
// connection was closed meanwhile; here an idle connection is looked at before it
// is used, and what fails after that is an outcome.
//
// It imports package measure for the outcomes, and nothing else of ours.
package transport
