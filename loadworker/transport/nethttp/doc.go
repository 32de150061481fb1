// Package nethttp is the client for what packages http1 and http2 do not speak to: proxies.
// Vegeta sends by it, too.
//
//	Client ── dialer: a dial.Dialer, or a proxy in front of the target
//	  └─ conn ── an http.ClientConn, and the errors of its socket (causeOf)
//
// Each conn is one http.ClientConn, without a pool: a pool decides by itself when to
// open a connection and which to use, and replays a request that met a closed
// connection without reporting it. That holds for HTTP/2 too, so that a user is a
// connection in every protocol: 20 KB of memory, 30 over TLS.
//
// The proxies of the environment are not used: what is between the generator and
// the target is part of what is measured, so that only the test decides it.
package nethttp
