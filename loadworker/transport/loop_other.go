//go:build !linux

package transport

import (
	"context"
	"errors"
	"time"
)

// Loop is Linux's; elsewhere none can be made.
type Loop struct{}

// Wire is a connection of a Loop.
type Wire struct{ Tag int }

// IsOpen is false.
func (*Wire) IsOpen() bool { return false }

// NewLoop says that there is none on this system.
func (d *Dialer) NewLoop(time.Time, func(*Wire, Response, error)) (*Loop, error) {
	return nil, errors.ErrUnsupported
}

// The methods of a Loop that cannot be.
func (*Loop) Add(*Wire, *Conn)                                     {}
func (*Loop) Return(*Wire, *Conn)                                  {}
func (*Loop) Send(context.Context, *Wire, *Request, time.Duration) {}
func (*Loop) Wait(time.Duration)                                   {}
func (*Loop) Dialing() int                                         { return 0 }
func (*Loop) Wake()                                                {}
func (*Loop) Cut()                                                 {}
func (*Loop) Close()                                               {}
