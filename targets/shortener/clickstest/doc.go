// Package clickstest is the conformance suite of click queues, which each of them
// runs against its real broker.
//
// It imports the domain and the standard library. It owns a store in memory that
// counts a click once, as the real ones do, and that can fail at the worst moments.
package clickstest
