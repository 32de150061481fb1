// Package transport is the contract of the clients that send requests to a target:
// what a Client, a Conn, a Request and a Response are.
//
//	transport.Client
//	  ├─ http1    HTTP/1.1, plain or over TLS: a client of our own
//	  ├─ http2    HTTP/2, by prior knowledge or over TLS: the same
//	  │   └─ grpc calls: their messages' frames, and what a response must have
//	  ├─ websocket  connections of WebSocket, each of which is a request
//	  ├─ nethttp  targets behind a proxy: net/http without its pool
//	  ├─ oneShot  each of them, with a connection for each request
//	  └─ routed   several of them, each for one of several targets
//	event         of all of them: the events of responses that are streams
//	dial          opens their connections, to addresses that the policy permits
//	failure       the phase and the cause of a failure, and its outcome class
//
// There is a client of our own because a load generator must know what net/http
// does not say: when a connection was opened, in which phase a request failed, and
// that the request was sent exactly once. The pool of net/http replays a request
// whose idle connection was closed meanwhile. Here an idle connection is checked
// before it is used, and a failure after that is an outcome.
//
// It imports package measure, and nothing else of ours.
package transport
