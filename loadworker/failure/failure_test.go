package failure

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/measure"
)

func TestClassifyByTypeAndPhase(t *testing.T) {
	system := func(errno syscall.Errno) error {
		return &net.OpError{Op: "read", Err: os.NewSyscallError("read", errno)}
	}
	tests := map[string]struct {
		err  error
		want measure.Outcome
	}{
		"interrupted":                     {ErrInterrupted, measure.Unfinished},
		"deadline of a read":              {&Error{Reading, &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}}, measure.Timeout},
		"deadline of a dial":              {&Error{Dialing, context.DeadlineExceeded}, measure.Timeout},
		"the system's own timeout":        {&Error{Dialing, system(syscall.ETIMEDOUT)}, measure.Timeout},
		"timeout of a handshake":          {&Error{Handshaking, os.ErrDeadlineExceeded}, measure.Timeout},
		"no such host":                    {&Error{Resolving, &net.DNSError{Err: "no such host", IsNotFound: true}}, measure.DNS},
		"name servers that do not answer": {&Error{Resolving, &net.DNSError{Err: "timeout", IsTimeout: true, UnwrapErr: context.DeadlineExceeded}}, measure.DNS},
		"any other failure to resolve":    {&Error{Resolving, errors.New("no")}, measure.DNS},
		"refused":                         {&Error{Dialing, system(syscall.ECONNREFUSED)}, measure.Refused},
		"reset while reading":             {&Error{Reading, system(syscall.ECONNRESET)}, measure.Reset},
		"broken pipe":                     {&Error{Writing, system(syscall.EPIPE)}, measure.Reset},
		"the end of the connection":       {&Error{Reading, io.EOF}, measure.Reset},
		"in the middle":                   {&Error{Reading, fmt.Errorf("body: %w", io.ErrUnexpectedEOF)}, measure.Reset},
		"reset in the handshake":          {&Error{Handshaking, system(syscall.ECONNRESET)}, measure.Reset},
		"an unknown authority":            {&Error{Handshaking, &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}}, measure.TLS},
		"no TLS at all":                   {&Error{Handshaking, tls.RecordHeaderError{Msg: "first record"}}, measure.TLS},
		"an alert after the handshake":    {&Error{Reading, &net.OpError{Op: "remote error", Err: errors.New("tls: certificate required")}}, measure.TLS},
		"an alert of our own":             {&Error{Reading, &net.OpError{Op: "local error", Err: errors.New("tls: bad record MAC")}}, measure.TLS},
		"no HTTP":                         {&Error{Reading, errors.New("malformed HTTP response")}, measure.BadResponse},
		"a header without end":            {&Error{Reading, errors.New("response header is larger than 1 MiB")}, measure.BadResponse},
		"out of descriptors":              {&Error{Dialing, system(syscall.EMFILE)}, measure.Other},
		"no descriptor to resolve by":     {&Error{Resolving, system(syscall.EMFILE)}, measure.Other},
		"out of ports":                    {&Error{Dialing, system(syscall.EADDRNOTAVAIL)}, measure.Other},
		"no route":                        {&Error{Dialing, system(syscall.EHOSTUNREACH)}, measure.Other},
		"an I/O error while reading":      {&Error{Reading, system(syscall.EIO)}, measure.Other},
		"anything else":                   {errors.New("?"), measure.Other},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Classify(tt.err); got != tt.want {
				t.Errorf("Classify(%v) = %v, want %v", tt.err, got, tt.want)
			}
		})
	}
}

func ExampleClassify() {
	fmt.Println(Classify(&Error{Phase: Reading, Err: io.ErrUnexpectedEOF}))
	// Output: reset
}
