// Package measure is what a measurement is: outcome classes, histograms of
// fixed bounds, the counts of a step, and how two of them merge.
//
// It is a leaf: it imports the standard library and the HdrHistogram library,
// nothing else. The worker records with it, the operator merges with it, so
// both mean the same.
//
//	Measurement ── Due, Unsent, Lateness, ReadLateness
//	 ├─ Requests[i] ── Sent, Completed, Expected, Outcomes, StatusCodes
//	 │                 Response, Service (histograms)
//	 └─ Clients ── by name a Ledger of grants and denials in slices of time
//
// All of it is cumulative and merges by addition, so that merging is
// associative and commutative and adds no error.
package measure
