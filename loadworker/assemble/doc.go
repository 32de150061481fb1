// Package assemble makes of an assignment what carries it out: the one place that
// does, for workers in a cluster, benchmarks and tests alike.
//
//	Assignment ──▶ source      requests, bodies, headers, rows of data
//	  + Config ──▶ client      HTTP/1.1, HTTP/2 or a proxy; TLS; allowed addresses
//	           ──▶ limits      descriptors, ports, memory: does the share fit?
//	           ──▶ setup       preflight, fill, warm-up
//	           ──▶ attack.Runner and its steps
//
// New checks all that can be checked without the target; Prepare does what must
// be done with the target before the first step begins.
//
// It reads the files that an assignment names, and knows neither a coordinator
// nor the environment of its process: what a caller knows is in a Config.
package assemble
