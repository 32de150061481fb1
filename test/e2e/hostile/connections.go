package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/flood"
)

const (
	// reachWithin bounds the time to connect, and endWithin that in which the coordinator is
	// to end a connection that is of no use.
	reachWithin = 10 * time.Second
	endWithin   = 90 * time.Second
	// most is how much a flood may send: beyond what the sockets of both sides hold.
	most = 16 << 20
)

// dial connects without TLS.
func (a *attacked) dial(ctx context.Context) (net.Conn, error) {
	conn, err := (&net.Dialer{Timeout: reachWithin}).DialContext(ctx, "tcp", a.to)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnreached, err)
	}
	return conn, conn.SetDeadline(time.Now().Add(endWithin))
}

// awaitEnd reads until the other side closes the connection.
func awaitEnd(conn net.Conn) error {
	_, err := io.Copy(io.Discard, conn)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errKept
	case err == nil:
		return io.EOF
	}
	return err
}

func (a *attacked) sayNothing(ctx context.Context) (int64, error) {
	conn, err := a.dial(ctx)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	return 0, awaitEnd(conn)
}

// stopInHandshake sends the begin of a TLS record, and not the rest.
func (a *attacked) stopInHandshake(ctx context.Context) (int64, error) {
	conn, err := a.dial(ctx)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	hello := []byte{22, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3} // a ClientHello of 512 bytes
	if _, err := conn.Write(hello); err != nil {
		return 0, err
	}
	return int64(len(hello)), awaitEnd(conn)
}

func (a *attacked) stopAfterHandshake(ctx context.Context) (int64, error) {
	plain, err := a.dial(ctx)
	if err != nil {
		return 0, err
	}
	defer plain.Close()
	trust := a.trust.Clone()
	trust.NextProtos = []string{"h2"}
	conn := tls.Client(plain, trust)
	if err := conn.HandshakeContext(ctx); err != nil {
		return 0, err
	}
	return 0, awaitEnd(conn)
}

// floods are those of HTTP/2, each over a connection without a session.
func (a *attacked) floods() map[string]attack {
	all := map[string]attack{}
	for name, send := range flood.All() {
		all["flood of "+name] = attack{1, 300 * time.Millisecond, func(ctx context.Context) (int64, error) {
			conn, err := flood.Dial(ctx, a.to, a.trust, endWithin)
			if err != nil {
				return 0, fmt.Errorf("%w: %w", errUnreached, err)
			}
			defer conn.Close()
			for err == nil && conn.Sent() < most {
				err = send(conn)
			}
			if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
				err = errKept
			}
			return conn.Sent(), err
		}}
	}
	return all
}
