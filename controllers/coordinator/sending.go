package coordinator

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

// maxSending is how many large assignments are on their way at once, and
// maxSendingOfNamespace how many of one namespace. With its bodies one has up to 1 MB,
// and all workers of a run want theirs in the same second.
const (
	maxSending            = 32
	maxSendingOfNamespace = 16
)

var errUnread = status.Error(codes.DeadlineExceeded, "the assignment was not read")

// sendMessage sends a message. gRPC keeps it until the worker has read it.
func (c *Coordinator) sendMessage(s *session, m *workerv1.SessionResponse) error {
	if m.GetAssignment() != nil && proto.Size(m) > window {
		return c.sendLarge(s, m)
	}
	return s.send(func() *workerv1.SessionResponse { return m })
}

// sendLarge sends a message that may take a while, and returns once the worker has read
// most of it.
func (c *Coordinator) sendLarge(s *session, m *workerv1.SessionResponse) error {
	release, err := c.sending.Acquire(s.stream.Context(), s.identity.Namespace)
	if err != nil {
		return err
	}
	defer release()
	defer c.after(maxHold, func() { s.end(errUnread) })()
	if err := s.send(func() *workerv1.SessionResponse { return m }); err != nil {
		return err
	}
	// gRPC takes a message of any size at once, and the next one when the window has room
	// again. This one acknowledges nothing.
	return s.send(func() *workerv1.SessionResponse { return acknowledge(0) })
}
