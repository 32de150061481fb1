package trace

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
	"math/rand/v2"

	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Header is the name of the header. The specification asks for lower case.
const Header = "traceparent"

// Whole is the share of all requests: a share is in millionths of a percent.
const Whole = 100_000_000

// Sampler draws contexts. It is safe for concurrent use.
type Sampler struct {
	below uint64 // of 2^63: the numbers that are sampled
}

// NewSampler returns one that samples a share.
func NewSampler(share int64) (*Sampler, error) {
	if share < 1 || share > Whole {
		return nil, fmt.Errorf("the sampled share must be from 1 to %d millionths of a percent, is %d", Whole, share)
	}
	high, low := bits.Mul64(uint64(share), 1<<63)
	below, _ := bits.Div64(high, low, Whole)
	return &Sampler{below}, nil
}

// Context is what a request says of its trace.
type Context struct {
	ID      measure.TraceID
	Parent  [8]byte
	Sampled bool
}

// Draw draws the context of a request. Whether it is sampled does not depend on its ids: a
// target's tracer may choose by those.
func (s *Sampler) Draw() Context {
	return s.context(rand.Uint64(), rand.Uint64(), rand.Uint64(), rand.Uint64())
}

// context is that of random numbers. No id is all zeros, which would make the header
// invalid.
func (s *Sampler) context(high, low, parent, choice uint64) Context {
	c := Context{Sampled: choice>>1 < s.below}
	binary.BigEndian.PutUint64(c.ID[:8], high)
	binary.BigEndian.PutUint64(c.ID[8:], max(low, 1))
	binary.BigEndian.PutUint64(c.Parent[:], max(parent, 1))
	return c
}

// Append appends the value of the header.
func (c *Context) Append(b []byte) []byte {
	b = append(b, "00-"...)
	b = hex.AppendEncode(b, c.ID[:])
	b = append(b, '-')
	b = hex.AppendEncode(b, c.Parent[:])
	if c.Sampled {
		return append(b, "-01"...)
	}
	return append(b, "-00"...)
}
