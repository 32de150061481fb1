// Package baseline decides whether a finished run can be the baseline of another, and
// what is copied of it.
//
//	spec, planned steps, finished LoadTest ─ Copy ─▶ BaselineStatus, or a refusal
//
// What is copied stands in the status from then on: the LoadTest may be deleted, and an
// operator of another version judges by the same figures. A refusal is permanent, as a
// finished run does not change.
//
// It is pure: it may import the API, packages plan, results, metric and rungs and the standard
// library; no client, clock or logger.
package baseline
