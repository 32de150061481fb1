package ratelimiter

import "fmt"

// FailurePolicy says what becomes of a request when the store of the buckets
// fails. A contended bucket is no such failure: it has been read, and more than
// once.
type FailurePolicy string

const (
	// Closed refuses the request: nobody is served more than the contract, and
	// the store's outage is the service's.
	Closed FailurePolicy = "closed"
	// Open grants it: everybody is served, and nobody limited, until the store is
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
