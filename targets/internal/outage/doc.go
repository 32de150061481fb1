// Package outage bounds how long callers wait for a service that usually
// answers at once.
//
// While the service is up, a caller waits for its answer. The first caller
// whose wait exceeds the bound marks the service as down, and no caller waits
// again before the service is marked as up. So an outage costs the callers that
// are in flight when it begins the bound at most, and later callers nothing.
//
// It imports the standard library only.
package outage
