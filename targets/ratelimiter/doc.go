// Package ratelimiter is the domain of a distributed rate limiter: several
// replicas answer for one token bucket per client, which they share.
//
// It owns the contract that the limiter keeps (Contract), the arithmetic of a
// token bucket (Bucket), what was decided (Decision) and the names of the
// strategies by which the replicas share a bucket (Strategy), what happens when
// the store of the buckets fails (FailurePolicy), and what a client is answered
// (Service). It uses the standard library only; how a bucket is stored, asked for
// and counted is the business of one package per technology, and cmd/ratelimiter
// joins them:
//
//	               cmd/ratelimiter
//	  ┌───────┬─────────┬───┴────┬───────────┐
//	http    grpc    breaker    redis    prometheus   each imports its driver and the
//	  └───────┴─────────┴───┬────┴───────────┘       domain, and none of the others
//	                   ratelimiter
//
// The system exists to be load tested. Three of its strategies are wrong on
// purpose, in ways that a load test must be able to see: see Strategy.
package ratelimiter
