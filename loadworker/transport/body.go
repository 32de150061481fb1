package transport

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// Budget bounds the memory that bodies of responses take at one time, of all requests that
// have it. nil is no bound.
type Budget struct {
	bytes int64
	taken atomic.Int64
}

// NewBudget returns a budget of so many bytes.
func NewBudget(bytes int64) *Budget { return &Budget{bytes: bytes} }

// Taken is how much of it is in use.
func (b *Budget) Taken() int64 { return b.taken.Load() }

func (b *Budget) take(n int64) bool {
	if b == nil {
		return true
	}
	if b.taken.Add(n) > b.bytes {
		b.taken.Add(-n)
		return false
	}
	return true
}

func (b *Budget) give(n int64) {
	if b != nil {
		b.taken.Add(-n)
	}
}

// Memory for bodies: a connection keeps what it needs for small ones, which no budget
// counts. Larger ones are in pieces of a power of two, which connections share.
const (
	smallBody              = 4 << 10
	leastPower, mostPowers = 13, 20 // 8 KiB to 1 MiB
)

var bodies [mostPowers - leastPower + 1]sync.Pool

// Body keeps the beginning of the body of a response. The zero value keeps nothing.
type Body struct {
	// Budget is what the memory is taken from.
	Budget *Budget

	keep   int
	bytes  []byte
	small  []byte  // the memory of the connection
	piece  *[]byte // the memory of bytes, if it is taken from the budget
	noRoom bool
}

// Begin prepares for the response to a request, of which so many bytes are kept.
func (b *Body) Begin(keep int) {
	b.Free()
	b.keep, b.noRoom = keep, false
}

// Append keeps of p what there is to keep. Nothing of a body is kept for which there is no
// room in the budget.
func (b *Body) Append(p []byte) {
	p = p[:max(0, min(len(p), b.keep-len(b.bytes)))]
	if len(p) == 0 || b.noRoom {
		return
	}
	if need := len(b.bytes) + len(p); need > max(cap(b.bytes), smallBody) && !b.grow(need) {
		b.Free()
		b.noRoom = true
		return
	}
	b.bytes = append(b.bytes, p...)
}

// grow moves the body to a piece that has room for so many bytes.
func (b *Body) grow(need int) bool {
	power := max(bits.Len(uint(need-1)), leastPower)
	if !b.Budget.take(1 << power) {
		return false
	}
	piece := newPiece(power)
	*piece = append((*piece)[:0], b.bytes...)
	bytes := *piece
	b.Free() // the piece that it was in
	b.bytes, b.piece = bytes, piece
	return true
}

func newPiece(power int) *[]byte {
	if power <= mostPowers {
		if piece, ok := bodies[power-leastPower].Get().(*[]byte); ok {
			return piece
		}
	}
	piece := make([]byte, 0, 1<<power)
	return &piece
}

// Free gives the memory back. What was kept must not be used any more.
func (b *Body) Free() {
	if b.piece == nil {
		b.small = b.bytes[:0]
		b.bytes = b.small
		return
	}
	size := cap(*b.piece)
	if power := bits.Len(uint(size - 1)); power <= mostPowers {
		bodies[power-leastPower].Put(b.piece)
	}
	b.Budget.give(int64(size))
	b.bytes, b.piece = b.small, nil
}

// In is the response with what was kept of its body.
func (b *Body) In(r Response) Response {
	r.Body, r.NoRoom, r.Kept = b.bytes, b.noRoom, b
	return r
}
