//go:build !linux

package http2

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

// LoopStream is what a request of a Loop goes through.
type LoopStream struct{ Tag int }

// LoopConn is a connection of a Loop.
type LoopConn struct{}

// IsOpen is false.
func (*LoopConn) IsOpen() bool { return false }

// IsOpening is false.
func (*LoopConn) IsOpening() bool { return false }

// IsClosed is true.
func (*LoopConn) IsClosed() bool { return true }

// Room is none.
func (*LoopConn) Room() int { return 0 }

// InFlight is none.
func (*LoopConn) InFlight() int { return 0 }

// NewLoop fails on this system.
func (c *Client) NewLoop(time.Time, func(*LoopStream, transport.Response, error)) (*Loop, error) {
	return nil, errors.ErrUnsupported
}

// The methods of a Loop, which cannot be made on this system.
func (*Loop) Add(*LoopConn, *Conn)                                                            {}
func (*Loop) Return(*LoopConn, *Conn)                                                         {}
func (*Loop) Send(context.Context, *LoopStream, *LoopConn, *transport.Request, time.Duration) {}
func (*Loop) Wait(time.Duration)                                                              {}
func (*Loop) Wake()                                                                           {}
func (*Loop) Interrupt()                                                                      {}
func (*Loop) Close()                                                                          {}
