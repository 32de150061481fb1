// Package report turns a LoadTest into the page that a person reads, running or
// finished:
//
//	text.go       the page: what ran, the verdict, thresholds, what needs attention
//	target.go     whether the target is known to be the one that was meant
//	step.go       a step: its head line, requests, rates, the limiter's audit
//	generator.go  how the generator fared
//	outcomes.go   what became of the requests, in words
//	latency.go    the two distributions of time, side by side
//	spread.go     how far the repetitions of a step differ
//
// It reads the object and nothing else: no client, clock or terminal. It may
// import the API, and of the operator only the pure packages plan (what a step
// does) and results (how figures are written).
package report
