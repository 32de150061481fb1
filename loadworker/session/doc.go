// Package session is the worker's side of the session with the coordinator: it
// sends what is measured and carries out what the coordinator sends.
//
// One goroutine, the loop of a worker, holds all state and never waits for the
// network. The link keeps a stream open, reconnects when it is lost, and emits what
// it receives as events; outgoing messages go to the outbox of the stream, in which
// a newer message replaces an older one of its kind. Package assemble makes a runner
// of the assignment.
//
//	           ┌──── connected, message, lost ──────┐
//	coordinator ══ link ══ outbox ◀── worker.loop ◀─┘
//	                                   │    ▲
//	                         start, cut│    │done, snapshots
//	                                   ▼    │
//	                        runner of an assemble.Assembly
//
// Steps run on while the coordinator is unreachable. Snapshots are cumulative, and
// final ones are kept until they are acknowledged, so that every message may be sent
// twice.
package session
