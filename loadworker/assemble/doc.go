// Package assemble makes a runner of an assignment. It is the only place that does so:
// workers in a cluster, benchmarks and tests all call it.
//
//	Assignment ──▶ source      requests, bodies, headers, rows of data, calls by descriptors
//	  + Config ──▶ client      HTTP/1.1, HTTP/2 or a proxy; TLS; allowed addresses
//	           ──▶ limits      descriptors, ports, memory: does the share fit?
//	           ──▶ setup       preflight, fill, warm-up
//	           ──▶ attack.Runner and its steps
//
// With a control there is all of it twice, a side for each target (side.go).
//
// New checks all that can be checked without the target; Prepare sends all that comes
// before the first step.
//
// It reads the files that an assignment names. It uses no coordinator, and reads no
// environment: its callers pass a Config.
package assemble
