// Package transport puts a request on a connection and reads the response:
// plain HTTP/1.1 over TCP or TLS, one request at a time, nothing hidden.
//
// It is a client of its own because a load generator must know what net/http's
// keeps to itself: when a connection was opened, in which phase a request
// failed, and that it was sent exactly once. net/http replays a request whose
// idle connection was closed meanwhile; here an idle connection is looked at
// before it is used, and what fails after that is an outcome. The parsing of
// responses is net/http's.
//
//	Dialer ── policy (which addresses), Resolver (cached), count of opened
//	  └─ Conn ── Do: dial if needed, write, read the whole response
//	      └─ *Error ── phase and cause; Classify makes an outcome of it
//
// It imports package measure for the outcomes, and nothing else of ours.
package transport
