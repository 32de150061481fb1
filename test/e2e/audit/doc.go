// Package audit says what a target must have stored after a load test, and
// whether it has. It is the arithmetic of the suite TestTargets, apart from the
// cluster, so that it is tested without one:
//
//	values files ──► Preset ──► Spec            what is installed, and sent
//	status ────────► Tally ──┐
//	target's counts ─────────┴► Count, Events,  what is stored, and may be
//	                            Limits
//	                     └────► Line            what is told of it
//
// A request is acknowledged when its response was as expected, ambiguous when
// nobody can say whether it was carried out, and otherwise not carried out. What
// is stored is exactly what was acknowledged, and of the ambiguous any part.
//
// It imports the API types and the standard library, and no client.
package audit
