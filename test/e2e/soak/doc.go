// Package soak decides what the test TestSoak does and what it judges, apart from the
// cluster, so that it is tested without one:
//
//	seed, length ─► Plan ─► actions in their order ─► what is done to the cluster
//	                          │ each with a Load ─► the spec of a LoadTest
//	operator, before ┐
//	operator, after  ┴─► Leaks ─► problems ─► Line
//
// A plan has two laps. In the first one faults may replace the process of the operator
// that leads: killed, stopped, without its lease, without the API server. In the second
// one that process stays, so that what it holds after the lap can be compared with what
// it held before. The first lap is its warm-up.
//
// It imports the API types, and no client.
package soak
