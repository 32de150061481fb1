// Package workerv1 is the protocol between the operator's coordinator and a
// worker: one gRPC stream, the session, for the whole life of a worker.
//
//	worker                         coordinator
//	  Hello            ─────────▶
//	  ClockProbe       ◀────────▶  ClockReply        (several, the best counts)
//	                   ◀─────────  Assignment        the worker's share of the run
//	  Readiness        ─────────▶
//	                   ◀─────────  ReadAudits        of one worker, before the first
//	  AuditReadings …  ─────────▶                    step and after the last
//	                   ◀─────────  StartStep         one instant for all workers
//	  Snapshot …       ─────────▶                    cumulative, each second
//	  Snapshot (final) ─────────▶
//	                   ◀─────────  Acknowledge       the step stands in the status
//	                   ◀─────────  Finish
//
// Every message may come twice, after a reconnect: what it says is the state,
// never a change, so that repeating it changes nothing. The code is generated
// from session.proto.
package workerv1
