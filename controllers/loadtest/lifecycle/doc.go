// Package lifecycle decides what a run does next.
//
// Decide is a pure function of the LoadTest as it was read back, what was
// observed of its workers, and one instant. It may import no client, clock,
// log or source of randomness, and acts on nothing itself: what it returns, the
// reconciler of package loadtest carries out.
//
//	           suspend                         all workers ready
//	Suspended ◀──────▶ Starting ────────────────────────▶ Running ─┐ next step
//	                      │  deadline, lost worker,          │ ▲───┘
//	                      ▼  invalid spec, terminate         ▼
//	                    Ended ◀───────────────────────── Complete
//	                            terminate, deadline,
//	                            no worker left
//
// A worker that is lost does not come back; one that is silent may, and is waited for
// until the limit of its step. What this process cannot have seen, as it directs the
// run only since Observed.Since, is held against no worker.
//
// A choice that must not be made twice (when a step starts, that a run is cut)
// is written to the status in one pass and acted on in a later one, from what
// was read back: the Directive follows from the status that came in, never from
// the one that goes out.
package lifecycle
