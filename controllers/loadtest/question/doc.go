// Package question says what a run asks of the administrator's Prometheus.
//
//	spec, rules ─ Chosen ─▶ the names that a run asks for, in its status from its beginning
//	step, rules ─ About ──▶ Asked, which package prometheus answers at the end of the step
//
// A LoadTest has names of queries alone. What is asked, and where, is the administrator's, as it is
// when the step ends.
//
// It is pure: it may import the API, packages policy and text and the standard library; no client,
// clock or logger.
package question
