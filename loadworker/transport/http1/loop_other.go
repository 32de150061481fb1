//go:build !linux

package http1

import (
	"context"
	"errors"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/loop"
)

// Loop exists on Linux only.
type Loop struct {
	Openings *dial.Openings
	Clock    loop.Clock
}

// LoopConn is a connection of a Loop.
type LoopConn struct{ Tag int }

// IsOpen is false.
func (*LoopConn) IsOpen() bool { return false }

// NewLoop fails on this system.
func (c *Client) NewLoop(time.Time, func(*LoopConn, transport.Response, error)) (*Loop, error) {
	return nil, errors.ErrUnsupported
}

// The methods of a Loop, which cannot be made on this system.
func (*Loop) Add(*LoopConn, *Conn)                                               {}
func (*Loop) Return(*LoopConn, *Conn)                                            {}
func (*Loop) Send(context.Context, *LoopConn, *transport.Request, time.Duration) {}
func (*Loop) Wait(time.Duration)                                                 {}
func (*Loop) Wake()                                                              {}
func (*Loop) Interrupt()                                                         {}
func (*Loop) Close()                                                             {}
