// Package ratelimiterv1 is the rate limiter's API over gRPC. The code is
// generated from ratelimiter.proto.
package ratelimiterv1
