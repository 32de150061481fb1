// Package retry tries again what cannot be given up: whoever needs a service that is
// away waits until it is back.
package retry
