// Package setup is what a worker does to the target before it is ready: it makes
// sure that it is the one that was meant, fills it, learns what it is filled with,
// and warms it up. None of it is measured.
//
//	Preflight ── questions in order ── the answers that are expected, or why not
//	Fill ── one request n times ── values of the responses ──▶ rows of a Table
//	WarmUp ── one request, as fast as replies come, for a while
//
// It imports the packages source and transport, and nothing else of ours.
package setup
