// Package fault judges what became of a run that a fault disturbed. It is the
// judgement of the suite TestFaults, apart from the cluster, so that it is tested
// without one:
//
//	status of the LoadTest ─┐
//	the target's own count ─┼─► Outcome ─┐
//	the spec: the plan ─────┘            ├─► Judge ─► problems ─► Line
//	the fault ─────────────► Expectation ┘
//
// A run is
//
//	stuck           not finished, or not removed, within its bound
//	miscounted      received > sent + missing at most, or received < completed;
//	                with exact counts demanded: received and sent differ, or due and planned
//	wrongly passed  Passed, though the target received less than the plan or answered
//	                more than 1% of it wrongly, or a worker was gone before the end;
//	                what the status itself calls unsent, up to 1%, is allowed
//
// What is missing and not declared is none. Beyond these three, each fault has the
// verdicts that are right after it; another one is unexpected. Where Passed is right,
// Inconclusive is too if nothing is missing, all but 5% was sent, and the status calls
// the generator the limit: the machine was busy, and the line says so.
//
// It imports the API types, and no client.
package fault
