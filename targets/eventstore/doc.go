// Package eventstore is the domain of an event store: one log of events per
// tenant, to which clients append and from which they read by position.
//
// It owns the events (Event), the operations and promises of a log (Append,
// Receipt, Move, Store), the errors (errors.go) and what clients are told of them
// (Explain), and which client may use which log (Gate, Tenants). It uses the
// standard library only; how a log is stored, asked for, configured and counted is
// the business of one package per technology, and cmd/eventstore joins them:
//
//	                 cmd/eventstore
//	  ┌───────┬──────────┬───┴────────┬─────────┐
//	http    grpc      sqlite     prometheus   yaml   each imports its driver and the
//	  └───────┴──────────┴───┬────────┴─────────┘    domain, and none of the others
//	                    eventstore
//
// # What a log promises
//
// Positions are 1, 2, 3 and so on, without a gap: the position of the last event is
// the number of events. An append of many events is stored whole and contiguously,
// or not at all. An append that was acknowledged is durable. One that was not
// acknowledged may or may not be stored; a client that has no answer repeats it
// with the same idempotency key, which stores nothing twice. Events never change,
// so that a range always reads the same.
//
// The promise about keys is bounded: a key is remembered while fewer than the
// store's window of further events have been appended (1,000,000 by default).
package eventstore
