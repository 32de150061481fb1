package sink

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"syscall"
)

// Problem is a sentence of ours, which may be shown to everyone.
type Problem string

// Error is the sentence.
func (p Problem) Error() string { return string(p) }

// errDiffers is that what was read back is not what was written.
const errDiffers = Problem("the stored content differs from what was sent")

// answered is an answer that is no success.
type answered struct {
	status int
	// code is the store's own word for it, if it is one.
	code string
}

// word is what a code of an error is taken for: nothing that could quote a key.
var word = regexp.MustCompile(`^[A-Z][a-z][A-Za-z]{1,38}$`)

// Error names the status.
func (a answered) Error() string {
	switch {
	case a.status/100 == 3:
		return fmt.Sprintf("the server answered %d, and a redirect is not followed", a.status)
	case word.MatchString(a.code):
		return fmt.Sprintf("the server answered %d %s", a.status, a.code)
	}
	return fmt.Sprintf("the server answered %d", a.status)
}

// Explain says why something failed, in words for everyone who may read the LoadTest: no
// name or address of a machine, no path of a file, nothing of the text of an answer. The
// same failure has the same words.
func Explain(err error) string {
	var (
		ours   Problem
		answer answered
		name   *net.DNSError
		cert   *tls.CertificateVerificationError
		code   syscall.Errno
	)
	switch {
	case errors.As(err, &ours):
		return string(ours)
	case errors.As(err, &answer):
		return answer.Error()
	case isTimeout(err):
		return "the server did not answer in time"
	case errors.As(err, &name):
		return "the host name of the server does not resolve"
	case errors.As(err, &cert):
		return "the certificate of the server is not trusted"
	case errors.As(err, &code):
		return code.Error()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.ErrClosedPipe):
		return "the connection ended early"
	}
	return "the connection failed"
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}
