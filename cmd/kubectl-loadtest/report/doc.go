// Package report reads a LoadTest, running or finished, for people. It writes the
// text report itself; the packages below it write the other forms from the same
// readings:
//
//	text.go        the report: what ran, the verdict, thresholds
//	facts.go       what a run was about
//	attention.go   conditions that stand as they should not
//	indicators.go  what the figures of the steps show
//	ladder.go      the steps, a row for each
//	step.go        a step: its head line, requests, rates, the limiter's audit
//	generator.go   the state of the generator
//	outcomes.go    what became of the requests
//	latency.go     the distributions of time, side by side
//	bracket.go     times with and without the generator's own delay
//	usage.go       what the target's pods used, and what Prometheus answered
//	course.go      what piled up, for how long the target was down, what is said once
//	traces.go      the slowest and some failed requests, by the ids of their traces
//	spread.go      how far the repetitions of a step differ
//
// It reads the object and nothing else: no client, clock or terminal, and neither
// plans nor judges. It may import the API, how figures are written
// (text) and, below it, what a histogram is (measure).
package report
