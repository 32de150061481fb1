// Package failure says where a request failed, and why, and turns that into the
// outcome class that results count.
//
//	dial, transport/… ── *Error{Phase, Err} ── Classify ── measure.Outcome
//
// Every client reports its failures as an *Error, so that the same failure has the
// same class whichever client sent the request. The package imports measure and
// nothing else of ours.
package failure
