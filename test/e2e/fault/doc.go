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
//	                more than 1% of it wrongly or was silent, or a worker was gone before
//	                the end or did not send what was due when it was;
//	                what the status itself calls unsent, up to 1%, is allowed
//	wrongly failed  Failed, though the fault was not the target's: it has all that was
//	                sent, answered it well, and by its own clock neither took long nor
//	                stood still, or not for as long as the status calls it down
//
// What is missing and not declared is none. Beyond these four, each fault has the
// verdicts that are right after it; another one is unexpected. Where only Passed is right,
// a run is excused that is Inconclusive by a load that the generator displaced, or by
// whose time it was, or Failed by a target that stood still and says so: if nothing is
// missing, all but 5% was sent, and the machine itself says that it was busy (package
// pressure). A displaced load on such a machine also excuses that a run has not Failed. The
// line says so, and a suite of which too much is excused fails.
//
// Cases are the runs of each kind of load over each protocol of which a worker, or the
// target, does not run for a while.
//
// It imports the API types, and no client.
package fault
