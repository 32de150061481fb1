package ratelimiter

import "fmt"

// FailurePolicy says what becomes of a request when the store of the buckets
// fails. A contended bucket is no such failure: it has been read, and more than
// once.
type FailurePolicy string

const (
	// Closed refuses the request: no client exceeds the contract, and an outage of
	// the store is one of the service.
	Closed FailurePolicy = "closed"
	// Open grants it: all clients are served without a limit until the store is
	// back.
	Open FailurePolicy = "open"
)

// ParseFailurePolicy returns the policy of that name.
func ParseFailurePolicy(name string) (FailurePolicy, error) {
	switch p := FailurePolicy(name); p {
	case Closed, Open:
		return p, nil
	}
	return "", fmt.Errorf("unknown policy %q: use %s or %s", name, Closed, Open)
}
