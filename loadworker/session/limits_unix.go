//go:build unix

package session

import "syscall"

// SystemLimits asks the system. Go's runtime has already raised the soft limit
// on descriptors to the hard one.
func SystemLimits() Limits {
	l := Limits{Descriptors: unlimited, Ports: ports()}
	var r syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r) == nil {
		l.Descriptors = int64(min(r.Cur, unlimited))
	}
	return l
}
