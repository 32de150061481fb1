// Command counter is a target whose truth is known: an HTTP server that counts the
// requests that it received, whatever a load generator says that it sent.
//
//	:8080  GET /NAME[?delay=3s]     counts under NAME, and then answers 200; the delay may
//	                                be a header; a traceparent is counted, too, and the id
//	                                kept of one that is sampled and delayed
//	       GET /NAME?stores=N       stores N times, too: 0 loses, 2 doubles
//	       GET /NAME?grants=N       answers N of a burst, and refuses the others by 429; half
//	                                a second without a request ends a burst
//	       GET /NAME/stored         {"stored": 240}
//	       POST /NAME/echo          sends back the body, and the header X-Echo
//	       GET /NAME/page          counts under NAME-page; a form with a token, a cookie, a header
//	       POST /NAME/login        counts under NAME-login; takes them, and redirects to NAME/home
//	       GET /NAME/home          counts under NAME-home; refuses who has not logged in
//	       POST /NAME/token?life=N counts under NAME-token; issues a token of OAuth 2.0 for N seconds
//	       GET /NAME/guarded       counts under NAME-guarded; refuses who has no such token
//	       GET /NAME/stream?events=N&first=200ms&every=20ms counts under NAME, NAME-events and
//	                                NAME-whole; may pause, abort or have no end: see streams.go
//	       GET /NAME/talk[?close=N&code=C] counts a connection of WebSocket under NAME, and its
//	                                messages under NAME-came and NAME-sent; may close, abort or be
//	                                silent after so many: see talk.go
//	       any call of gRPC         counts under the NAME in its metadata, name, and then
//	                                replies with an empty message
//	:8443  the same over TLS, with a certificate for example.com
//	:8081  GET /counts              {"NAME": {"received": 240, "wrong": 0, "longest": 812000, "stood": 0}}
//	       PUT /mode?is=MODE        ok, wrong, hang, refuse or drain
//	       PUT /exit                ends the process, as a crash does
//
// Both ports speak HTTP/1.1 and HTTP/2, the first by prior knowledge.
//
// A count is the length of a file, to which each request appends a byte before it is
// answered. So a count outlives the process, as far as the volume does, and no
// request is answered that is not counted.
//
// Beside the counts are the target's own times, in nanoseconds and as far as this process
// saw them: the longest that a request took from when it was read to when it was answered,
// and for how long the process stood still meanwhile.
//
// It uses the standard library, and golang.org/x/net for WebSocket.
package main
