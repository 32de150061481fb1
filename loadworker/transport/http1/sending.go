package http1

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// sending is the rest of a large request. A goroutine writes it while the response is awaited: a server
// may answer without having read all of it, and stop reading (RFC 9112, 9.5).
type sending struct {
	conn     net.Conn
	deadline time.Time // of the request; that of the socket may be before it
	ended    chan error

	mu      sync.Mutex
	stopped bool
}

func (c *Conn) send(rest []byte, deadline time.Time) {
	secured := c.raw == nil // a write of TLS that a deadline stopped cannot go on
	s := &sending{conn: c.net, deadline: deadline, ended: make(chan error, 1), stopped: secured}
	go func() { s.ended <- s.write(rest) }()
	c.sending = s
}

func (s *sending) write(rest []byte) error {
	for {
		n, err := s.conn.Write(rest)
		if rest = rest[n:]; err == nil || !s.goesOn(err) {
			return err
		}
	}
}

// goesOn says whether an error was only that of a deadline set earlier, and sets the request's own.
func (s *sending) goesOn(err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Is(err, os.ErrDeadlineExceeded) && !s.stopped && time.Now().Before(s.deadline) && s.conn.SetWriteDeadline(s.deadline) == nil
}

// end ends the writing. It returns nil if all was written.
func (s *sending) end() error {
	s.mu.Lock()
	s.stopped = true
	_ = s.conn.SetWriteDeadline(time.Unix(1, 0))
	s.mu.Unlock()
	if err := <-s.ended; err != nil {
		return err
	}
	return s.conn.SetWriteDeadline(s.deadline) // the connection may carry another request
}
