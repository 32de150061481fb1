//go:build unix

package session

import (
	"syscall"

	"github.com/loadtest-dev/loadtest-operator/loadworker/health"
)

// SystemLimits asks the system. Go's runtime has already raised the soft limit
// on descriptors to the hard one.
func SystemLimits() Limits {
	l := Limits{Descriptors: unlimited, Ports: ports(), Memory: health.MemoryLimit()}
	var r syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r) == nil {
		l.Descriptors = int64(min(r.Cur, unlimited))
	}
	return l
}
