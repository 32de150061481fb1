// Package session is the worker's side of the session with the coordinator: it
// says what is measured and does what it is told.
//
// One goroutine, the loop of a Worker, holds all state and never waits for the
// network. The link keeps a stream open, reconnects when it is lost, and hands
// over what it hears; what is to be said goes to the outbox of the stream, in
// which a newer message replaces an older one of its kind.
//
//	           ┌──────── heard, connected, lost ────────┐
//	coordinator ══ link ══ outbox ◀── Worker.loop ◀─────┘
//	                                   │    ▲
//	                         start, cut│    │done, snapshots
//	                                   ▼    │
//	                                attack.Execution
//
// Steps run on while the coordinator is away. Snapshots are cumulative and final
// ones are kept until they are acknowledged, so everything may be said twice.
package session
