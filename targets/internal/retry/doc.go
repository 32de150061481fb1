// Package retry repeats a call that must succeed until the service it needs is
// back.
package retry
