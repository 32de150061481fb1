package http

import (
	"errors"
	"io"
	"sync/atomic"
)

// bodiesInFlight bounds the bodies of all requests that are being read, within the memory that charts/targets gives the
// service: decoded, a body of messages that say nothing ({},{},...) has 40 bytes for each three, and about as many more
// while their list grows. Requests of the usual context have 32 KB: there is room for 128 of them at the same instant.
const bodiesInFlight = 4 << 20

// errNoMemory says that the bodies of other requests take what bodies may take.
var errNoMemory = errors.New("too many bytes are being read")

// body is what of a request's body has come. It is counted as it comes: what a client only
// announces takes no memory, and is not counted.
type body struct {
	io.Reader
	all  *atomic.Int64 // the bytes of all bodies
	held int64
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	b.held += int64(n)
	if b.all.Add(int64(n)) > bodiesInFlight {
		return 0, errNoMemory
	}
	return n, err
}

// release gives the bytes back, when the body has been decoded.
func (b *body) release() { b.all.Add(-b.held) }
