// Package throttle limits how often each client may ask one replica: a token
// bucket per client, in memory, for a bounded number of clients.
//
// It owns what a full table does: it evicts the least recently used client. A full
// table refuses no new client, and no client that asks is forgotten before those
// that do not. To forget a client whose bucket has filled again changes nothing, so
// that the promise (burst + rate·t requests in t seconds) is broken only if more
// clients than the table holds ask within the time that a bucket takes to fill.
//
// It imports golang.org/x/time/rate, which keeps one bucket, golang-lru, which
// keeps the table, and the standard library; how a client is named is the business of package clientip.
package throttle
