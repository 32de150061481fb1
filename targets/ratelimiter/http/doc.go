// Package http serves the rate limiter: /api, which is limited, and the pages
// that say how the service is (/health, /ready), what it is (/version) and what
// it has decided (/metrics).
//
// It imports the domain, what the targets share and net/http; a limiter, a
// readiness check, the page of metrics and a counter are handed in.
//
// Requests to /api are decided and counted in one place, ratelimiter.Service, so
// that the counts can be compared with a load test's, exactly.
package http
