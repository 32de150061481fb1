package coordinator

import (
	"fmt"
	"runtime/debug"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

var errPanic = status.Error(codes.Internal, "the operator failed on a message of this session; its log says where")

// guarded runs f and makes of a panic in it an error, and a line of the log: what one
// worker sends must not end the sessions of all. State is changed under the mutex by
// functions that release it whatever happens.
func (c *Coordinator) guarded(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			c.metrics.rejected.WithLabelValues(string(rejectPanic)).Inc()
			c.Log.Error(fmt.Errorf("panic: %v", v), "a session failed", "stack", string(debug.Stack()))
			err = errPanic
		}
	}()
	return f()
}

// locked runs f while it holds the mutex.
func (c *Coordinator) locked(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}
