// Package preview says what a LoadTest will do before anything is sent: its steps, the
// requests that are due, its workers, how long it takes, and whether it is accepted.
//
//	LoadTest ── lifecycle.Decide, the first pass ──▶ status ──▶ Preview ──▶ text, JSON
//
// The steps are those that the operator would write: the package expands no plan itself,
// and reads what the first decision about a run says. It is pure, and calls no API
// server.
package preview
