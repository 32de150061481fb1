// Package breaker keeps requests from waiting for a store that does not answer.
//
// It owns when to give up on a store and when to try it again. What one question
// is, a round trip of many requests or one request's, is up to the caller:
//
//	closed ──5 failures in a row──► open ──1 s──► half open ──1 success──► closed
//	                                 ▲                │
//	                                 └───1 failure────┘
//
// Without it each request would wait for the store's timeout, and as many as
// come in that time would wait at once. It imports the domain and gobreaker.
package breaker
