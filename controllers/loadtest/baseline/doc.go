// Package baseline decides whether a finished run can be the baseline of another, and
// what is copied of it.
//
//	spec, planned steps, finished LoadTest ─ Copy ─▶ BaselineStatus, or a refusal
//
//	spec, LoadTests of a schedule ─ Read, CopyLevel ─▶ BaselineStatus, or a refusal
//
// The level of a schedule is what its runs that passed have measured since the metric changed
// (package changepoint), each metric and rung apart. A run counts once, whatever its repetitions: what
// these have in common differs from run to run, and is part of the noise.
//
// What is copied stands in the status from then on: the LoadTest may be deleted, and an
// operator of another version judges by the same figures. A refusal is permanent, as a
// finished run does not change.
//
// It is pure: it may import the API, packages changepoint, plan, results, metric, rungs and text and the standard
// library; no client, clock or logger.
package baseline
