// Package throttle limits the request rate of each client at one replica: a token
// bucket per client, in memory, for a bounded number of clients.
//
// A full table evicts the least recently used client, so that it refuses no new
// client and keeps the active ones. To forget a client whose bucket has filled
// again changes nothing, so that the promise (burst + rate·t requests in t seconds)
// is broken only if more clients than the table holds ask within the time that a
// bucket takes to fill.
//
// It imports golang.org/x/time/rate, which keeps one bucket, golang-lru, which
// keeps the table, and the standard library; how a client is named is the business of package clientip.
package throttle
