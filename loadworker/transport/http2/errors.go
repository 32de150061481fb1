package http2

import (
	"fmt"
	"io"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
)

// code is an error code of RFC 9113, 7.
type code uint32

const (
	noError          code = 0x0
	protocolError    code = 0x1
	flowControlError code = 0x3
	streamClosed     code = 0x5
	frameSizeError   code = 0x6
	refusedStream    code = 0x7
	cancel           code = 0x8
	compressionError code = 0x9
	enhanceYourCalm  code = 0xb
)

var codeNames = [...]string{
	"NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED", "FRAME_SIZE_ERROR",
	"REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
}

func (c code) String() string {
	if int(c) < len(codeNames) {
		return codeNames[c]
	}
	return fmt.Sprintf("code 0x%x", uint32(c))
}

// violation is what the server sent that is not in RFC 9113: of a stream or of the
// connection.
type violation struct {
	code code
	text string
}

func (v *violation) Error() string { return "malformed HTTP/2: " + v.text }

func violated(c code, format string, args ...any) *violation {
	return &violation{c, fmt.Sprintf(format, args...)}
}

// errNotHTTP2 is the error of a server that answers in HTTP/1.
var errNotHTTP2 = &violation{protocolError, "the server answers in HTTP/1"}

// resetBy is the error of a stream that the server ended with a code.
func resetBy(c code) error {
	switch c {
	case refusedStream:
		return fmt.Errorf("%w: %v", failure.ErrNotProcessed, c)
	case cancel:
		return fmt.Errorf("%w: %v", failure.ErrCancelled, c)
	}
	return fmt.Errorf("%w: the server reset the stream: %v", io.ErrUnexpectedEOF, c)
}

// closedBy is the error of a stream whose connection the server closed, after a GOAWAY
// with a code if there was one.
func closedBy(goAway bool, c code) error {
	if !goAway {
		return io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%w: the server closed the connection by GOAWAY: %v", io.ErrUnexpectedEOF, c)
}
