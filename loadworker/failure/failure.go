package failure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"

	"github.com/loadtest-dev/loadtest-operator/measure"
)

// ErrInterrupted is the error of a request that was under way when its step ended.
var ErrInterrupted = errors.New("interrupted at the end of the step")

// ErrNotProcessed is the error of a request that the server says that it has not
// processed: of HTTP/2, by GOAWAY or by REFUSED_STREAM.
var ErrNotProcessed = errors.New("the server refused the request: it has not processed it")

// ErrCancelled is the error of a request that the server gave up: of HTTP/2, by CANCEL.
var ErrCancelled = fmt.Errorf("%w: the server cancelled the request", io.ErrUnexpectedEOF)

// ErrStalled is the error of a stream of which no event came for longer than it may.
var ErrStalled = errors.New("the stream stalled: no event came for longer than its stall")

// Phase is the phase in which a request failed.
type Phase string

// The phases of a request, in order.
const (
	Resolving   Phase = "resolve"
	Dialing     Phase = "dial"
	Tunnelling  Phase = "CONNECT" // through a proxy
	Handshaking Phase = "TLS handshake"
	Writing     Phase = "write"
	Reading     Phase = "read"
)

// ErrEncoded is the error of a stream whose events cannot be told apart.
var ErrEncoded = errors.New("the stream is compressed (Content-Encoding), so that its events cannot be told apart: " +
	"the worker asks for no compression, unless headers has Accept-Encoding; switch it off at the target")

// Error is the failure of a request: its phase and its cause.
type Error struct {
	Phase Phase
	Err   error
}

func (e *Error) Error() string { return string(e.Phase) + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Classify returns the outcome class of a request's error. It looks at types and
// phases only.
func Classify(err error) measure.Outcome {
	var dns *net.DNSError
	switch {
	case errors.Is(err, ErrInterrupted):
		return measure.Unfinished
	case errors.Is(err, ErrStalled):
		return measure.Stalled
	case isTimeout(err):
		return measure.Timeout
	case errors.As(err, &dns):
		return measure.DNS
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, ErrNotProcessed):
		return measure.Refused
	case isReset(err):
		return measure.Reset
	case IsTLSAlert(err):
		return measure.TLS
	}
	return classifyPhase(err)
}

// isTimeout excludes a resolver's own timeout: the name servers, not the target, did
// not answer.
func isTimeout(err error) bool {
	var dns *net.DNSError
	if errors.As(err, &dns) { // which may be that of its own context
		return false
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		return true
	}
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

func isReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// IsDescriptors reports whether an attempt to connect failed because this process had no
// descriptor left.
func IsDescriptors(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// IsPorts reports whether it failed because this address had no port left.
func IsPorts(err error) bool { return errors.Is(err, syscall.EADDRNOTAVAIL) }

// IsTLSAlert reports whether an error carries an alert of crypto/tls. An alert may
// come as late as the first read: a server that requires a client certificate
// sends it then. The type of an alert is not exported, but the operation of the
// error that carries it is fixed.
func IsTLSAlert(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && (op.Op == "remote error" || op.Op == "local error")
}

// classifyPhase classifies an error that is neither a timeout nor a failure of the
// network. While reading, it is the parser's: the bytes were no response.
func classifyPhase(err error) measure.Outcome {
	var e *Error
	if !errors.As(err, &e) || IsDescriptors(err) { // whatever they were needed for
		return measure.Other
	}
	switch e.Phase {
	case Resolving:
		return measure.DNS
	case Handshaking:
		return measure.TLS
	case Reading:
		var system syscall.Errno
		if errors.As(err, &system) {
			return measure.Other
		}
		return measure.BadResponse
	default:
		return measure.Other
	}
}
