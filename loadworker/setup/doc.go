// Package setup is what a worker does to the target outside the steps. Before it is
// ready, it checks that the target is the intended one, fills it, captures values of the
// responses, and warms it up; before the first step and after the last it reads numbers
// that the target tells of itself. None of it is measured.
//
//	Preflight ── one request after another ── each response is the expected one
//	Fill ── one request n times ── values of the responses ──▶ rows of a Table
//	WarmUp ── one request again and again, for a while
//	Audit ── a request for each number, again and again ── for how long it is the same
//
// It imports the packages source, transport, failure and measure, and nothing else of ours.
package setup
