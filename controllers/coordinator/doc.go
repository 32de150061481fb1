// Package coordinator is where workers connect: it owns their sessions, the
// start gate and the live merge of a run.
//
// It decides nothing about a run. What the workers of a run are to do now is
// directed to it; what is known of them is observed from it:
//
//	reconciler                     coordinator                    workers
//	  Direct(run, Directive) ────▶ run ◀── sent and pending ───▶ session ═══ worker 0
//	  Observe(run)           ◀──── merge ◀─ latest snapshots ─── session ═══ worker 1
//	  notify(run)            ◀──── something changed             …
//
// A Directive is a state and so is a Snapshot. Each session's sender compares
// the directive with what it sent to that session and sends the difference; a
// snapshot replaces the worker's earlier one of that step. So a reconnect, a
// repeated call and a restart of the operator change nothing: a new coordinator
// that is directed as the old one was, and receives from the workers what is not
// acknowledged, ends with the same totals.
//
// A session is two goroutines: gRPC's, which runs Session and is the sender, and
// the receiver that it starts. One mutex guards all state; nothing blocks while
// holding it, and neither merging, validating nor notifying happens under it.
//
// Nothing that a worker or a stranger sends is trusted to be little: connections without
// a session (connections.go), what comes on a connection (receive_memory.go), messages
// (message_rate.go, codec.go), what is kept of them (snapshot_memory.go), what a worker does
// not read (sending.go) and notifications (notify.go) are bounded. Who a session belongs to is
// found as it opens (session_opening.go), and checked again (session_recheck.go). A panic ends
// one session (panic_recovery.go).
//
// It is independent of Kubernetes: it may not import a client or any API type but
// the session protocol; of k8s.io only the clock.
package coordinator
