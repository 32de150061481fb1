// Package usagereader reads what the pods behind the Service of a target use, from the resource metrics
// API (metrics.k8s.io/v1beta1), while a step runs.
//
//	reader.go    the readings of a step: one list at most every 5 s, beside the passes
//	metrics.go   what is asked of the API server, and read of its answer
//
// That API averages over the time between two scrapes, 15 s by default, and keeps no history: what is
// not read in time is gone. Nothing waits for it but the end of a step, for 2 s at most. It tells the
// use of processors and of memory, and not how often a container was throttled.
package usagereader
