package grpc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Call is the response to a call as it arrives. The zero value is one of a unary call, of
// which nothing has come. What does not follow the format is an error, after which it is not
// used.
type Call struct {
	// May is what the response may have.
	May transport.Replies

	ended   bool // the status has come
	gzip    bool // messages may be compressed, as the response says
	status  int8
	message string

	prefix [PrefixSize]byte
	read   uint8  // bytes of the prefix
	left   uint32 // bytes of the message that are to come
	length uint32 // of that message

	size    int64 // of all messages, without their prefixes
	replies int64
}

// The errors of responses.
var (
	errContentType = errors.New("malformed gRPC: the content type is not application/grpc")
	errEarlyStatus = errors.New("malformed gRPC: grpc-status in a header that is not the end of the response")
	errNoStatus    = errors.New("malformed gRPC: the response ends without grpc-status")
	errStatus      = fmt.Errorf("malformed gRPC: grpc-status is repeated, or not a number from 0 to %d", measure.MaxGRPC)
	errCompressed  = errors.New("malformed gRPC: a compressed message, although the call accepts no compression")
	errEncoding    = errors.New("malformed gRPC: a compressed message, and its grpc-encoding is not gzip")
	errFlag        = errors.New("malformed gRPC: a message whose flag is neither 0 nor 1")
	errMessages    = errors.New("malformed gRPC: a second message in the response to a call that has one reply")
	errNoMessage   = errors.New("malformed gRPC: status OK without a message")
)

// Header takes the first header block, of a response of HTTP with a status; end says that
// it is all of it.
func (c *Call) Header(status int, f Fields, end bool) error {
	switch {
	case status != http.StatusOK:
		return fmt.Errorf("malformed gRPC: status %d of HTTP, where a call is answered by 200", status)
	case f.content != valid:
		return errContentType
	case end:
		return c.Trailer(f)
	case f.status != absent:
		return errEarlyStatus
	}
	c.gzip = c.May.Gzip && f.gzip == valid
	return nil
}

// Trailer takes the last header block.
func (c *Call) Trailer(f Fields) error {
	switch f.status {
	case absent:
		return errNoStatus
	case invalid:
		return errStatus
	}
	c.ended, c.status, c.message = true, f.code, f.message
	return nil
}

// Data takes a piece of the body, and keeps the messages with their prefixes.
func (c *Call) Data(b []byte, kept *transport.Body) error {
	for len(b) > 0 {
		switch {
		case c.read < PrefixSize:
			n := copy(c.prefix[c.read:], b)
			c.read += uint8(n)
			b = b[n:]
			if err := c.begin(kept); err != nil {
				return err
			}
		case c.left > 0:
			n := uint32(min(int64(len(b)), int64(c.left)))
			kept.Append(b[:n])
			c.left -= n
			b = b[n:]
		case !c.May.Stream:
			return errMessages
		default:
			c.read = 0 // of the next message
		}
	}
	return nil
}

// begin begins a message if its prefix has come.
func (c *Call) begin(kept *transport.Body) error {
	switch {
	case c.prefix[0] > 1:
		return errFlag
	case c.prefix[0] == 1 && !c.May.Gzip:
		return errCompressed
	case c.prefix[0] == 1 && !c.gzip:
		return errEncoding
	case c.read < PrefixSize:
		return nil
	}
	kept.Append(c.prefix[:])
	c.length = binary.BigEndian.Uint32(c.prefix[1:])
	c.left = c.length
	c.size += int64(c.length)
	c.replies++
	return nil
}

// End checks that the response is whole, at its end.
func (c *Call) End() error {
	switch {
	case !c.ended:
		return errNoStatus
	case c.left > 0:
		return fmt.Errorf("malformed gRPC: the message ends %d bytes before its length of %d", c.left, c.length)
	case c.read > 0 && c.read < PrefixSize:
		return fmt.Errorf("malformed gRPC: the response ends after %d bytes of a prefix of %d", c.read, PrefixSize)
	case c.status == measure.GRPCOK && c.replies == 0 && !c.May.Stream:
		return errNoMessage
	}
	return nil
}

// Status is the status, once the response is whole.
func (c *Call) Status() int { return int(c.status) }

// Message is the text that goes with the status, if it was kept.
func (c *Call) Message() string { return c.message }

// Size is the length of all messages, as they were transferred, without their prefixes.
func (c *Call) Size() int64 { return c.size }

// Replies is how many messages have begun.
func (c *Call) Replies() int64 { return c.replies }

// parseStatus reads a number without a sign or zeros before it.
func parseStatus(s string) (code int8, ok bool) {
	n, err := strconv.ParseInt(s, 10, 8)
	if err != nil || !measure.IsGRPC(int(n)) || strconv.Itoa(int(n)) != s {
		return 0, false
	}
	return int8(n), true
}
