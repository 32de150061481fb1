// Package setup is what a worker does to the target before it is ready: it checks that
// the target is the intended one, fills it, captures values of the responses, and
// warms it up. None of it is measured.
//
//	Preflight ── one request after another ── each response is the expected one
//	Fill ── one request n times ── values of the responses ──▶ rows of a Table
//	WarmUp ── one request again and again, for a while
//
// It imports the packages source and transport, and nothing else of ours.
package setup
