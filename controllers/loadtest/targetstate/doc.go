// Package targetstate says what of a target was the same throughout a run, and what
// changed.
//
//	pods as they were read ─ Record ─▶ status.environment, status.steps[].environment
//
// What runs under load is read at the beginning and at the end of each step. A restart, or
// pods that are replaced by others of the same kind, is the target's own doing: what failed
// then counts. Other images, other limits, or another number of pods that no autoscaler
// chose make a figure one of no single configuration, which it says nothing of.
//
// It is pure: it may import the API, package text and the standard library; no client,
// clock or logger.
package targetstate
