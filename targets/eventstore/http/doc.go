// Package http serves the event store: events, subscriptions and the position,
// each of the caller's own log, and the pages that say how the service is
// (/health, /ready), what it is (/version) and what it has done (/metrics).
//
// A request is, in this order, limited by its client's rate, authenticated,
// counted against the memory that bodies may take, and answered. Errors are
// JSON, {"error": "sentence"}, where the system that this one is modelled on
// wrote plain text; the sentences are the same where that had any. A reply that
// cannot be completed is cut off, so that it cannot be taken for a whole one.
//
// Every request but those for the pages is observed once, when its outcome is
// known and before the client has all of the reply, so that counts can be
// compared with a load test's.
//
// It imports the domain, what the targets share and net/http; stores, a limiter
// and an observer are handed in.
package http
