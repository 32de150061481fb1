package transport

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

// ErrCut is a request that Interrupt ended.
var ErrCut = errors.New("cut at the end of the step")

// errHeaderTooLarge is a response header that has no end.
var errHeaderTooLarge = errors.New("response header is larger than 1 MiB")

// errStatus is a status code that no response may have.
var errStatus = fmt.Errorf("response status is not within %d to %d", measure.MinStatus, measure.MaxStatus)

// Phase is how far a request came.
type Phase string

// The phases of a request, in order.
const (
	Resolving   Phase = "resolve"
	Dialing     Phase = "dial"
	Handshaking Phase = "TLS handshake"
	Writing     Phase = "write"
	Reading     Phase = "read"
)

// Error is a failed request: where it failed, and why.
type Error struct {
	Phase Phase
	Err   error
}

func (e *Error) Error() string { return string(e.Phase) + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Classify is the outcome class of an error of Line.Do. It looks at types and
// phases, never at texts.
func Classify(err error) measure.Outcome {
	var policy *PolicyError
	var dns *net.DNSError
	switch {
	case errors.Is(err, ErrCut):
		return measure.Unfinished
	case errors.As(err, &policy):
		return measure.Other
	case isTimeout(err):
		return measure.Timeout
	case errors.As(err, &dns):
		return measure.DNS
	case errors.Is(err, syscall.ECONNREFUSED):
		return measure.Refused
	case isReset(err):
		return measure.Reset
	case isAlert(err):
		return measure.TLS
	}
	return classifyPhase(err)
}

// isTimeout leaves out a resolver's own timeout, which says that the name
// servers, not the target, did not answer.
func isTimeout(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		return true
	}
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return false
	}
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

func isReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// isAlert finds the alerts of crypto/tls, which may come as late as the first
// read: a server that wants a client certificate says so there. Their type is
// not exported, but the operation of the error that carries them is fixed.
func isAlert(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && (op.Op == "remote error" || op.Op == "local error")
}

// classifyPhase is for what is neither a timeout nor a failure of the network.
// While reading, that leaves the parser: the bytes were no response.
func classifyPhase(err error) measure.Outcome {
	var e *Error
	if !errors.As(err, &e) {
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
