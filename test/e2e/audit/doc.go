// Package audit says what a target must have stored after a load test, and
// whether it has. It is the arithmetic of the suite TestTargets, apart from the
// cluster, so that it is tested without one:
//
//	values files ──► Preset ──► Spec            what is installed, and sent
//	status ────────► Tally ──┐
//	target's counts ─────────┴► Count, Events,  what is stored, and may be
//	                            Limits, Taken
//	                     └────► Line            the report of it
//
// A request is acknowledged when its response was as expected, unknown when it may
// or may not have been carried out, and otherwise not carried out. What is stored
// is exactly what was acknowledged, and of the unknown any part:
//
//	acknowledged <= stored <= acknowledged + unknown
//
//	unknown =   timed out + unfinished      in a run without disturbance
//	          + broken off + answered 5xx   when a pod of what stores is killed
//
// A rate limiter stores tokens taken: each replica counts its own, and when one is
// killed with its count, Redis still knows how many it gave out.
//
// It imports the API types and the standard library, and no client.
package audit
