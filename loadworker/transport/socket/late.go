package socket

import (
	"errors"
	"net"
	"os"
	"time"
)

// lateFor is how long a read may take that begins after the deadline: as a rule it does not
// wait, but the rest of a record of TLS may not have come.
const lateFor = 10 * time.Millisecond

// LateReader reads the response to one request. After the deadline of the connection it reads
// what had come by then, and no more: if the process stood still, the response may have come long
// ago. The zero value is ready for use.
type LateReader struct {
	late bool
	left int // bytes, if it is late
}

// Read reads from a connection. extend sets another deadline, unless it returns false.
func (r *LateReader) Read(conn net.Conn, b []byte, extend func(time.Time) bool) (int, error) {
	n, err := conn.Read(b)
	if errors.Is(err, os.ErrDeadlineExceeded) && n == 0 {
		if !r.late {
			r.late, r.left = true, pending(underTLS(conn))
		}
		if r.left <= 0 || !extend(time.Now().Add(lateFor)) {
			return 0, err
		}
		n, err = conn.Read(b)
	}
	if r.late {
		r.left -= n
	}
	return n, err
}
