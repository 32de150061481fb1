//go:build !unix

package session

// SystemLimits knows of no limits on this system.
func SystemLimits() Limits { return Limits{Descriptors: unlimited, Ports: ports()} }
