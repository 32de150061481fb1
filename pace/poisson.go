package pace

import (
	"math"
	"math/rand/v2"
	"sort"
	"sync"
	"time"
)

// Poisson is one worker's share of a Poisson process whose mean rate is that of a
// ramp. Each of W workers draws a process of its own with a W-th of the rate. By
// superposition, the processes together are one of the whole rate.
//
// With E(j) the sum of j+1 gaps from an exponential distribution of mean 1, the
// worker's hit j is due when the ramp has W·E(j) hits due. That is the exact process
// while the rate changes, too, and draws no hit that it then rejects.
//
// The gaps are drawn in blocks, each from a generator of its own, so that any
// hit can be computed at any time. Only the starts of the blocks are kept: 8 bytes
// for 128 hits.
type Poisson struct {
	ramp    Ramp
	workers uint64
	seed    uint64

	mu     sync.Mutex
	starts []uint64 // of the blocks, in parts of the worker's own hits
}

var _ Schedule = (*Poisson)(nil)

// block is the number of gaps that are drawn from one generator. A larger block saves
// memory, a smaller one time: Due draws half a block on average.
const block = 128

// NewPoisson returns a worker's process. The same seed, step and worker give the same
// due times.
func NewPoisson(r Ramp, workers int64, seed int64, step, worker int32) *Poisson {
	key := scramble(scramble(uint64(seed)) ^ uint64(uint32(step))<<32 ^ uint64(uint32(worker)))
	return &Poisson{ramp: r, workers: uint64(workers), seed: key, starts: []uint64{0}}
}

// Due returns when the worker's hit j is due.
func (p *Poisson) Due(j int64) time.Duration {
	b, n := int(j/block), int(j%block)
	start, ok := p.start(b)
	if !ok {
		return math.MaxInt64
	}
	gaps := p.gaps(b)
	for range n + 1 {
		start += gap(gaps)
	}
	if p.beyond(start) {
		return math.MaxInt64
	}
	return p.ramp.at(start * p.workers)
}

// Before returns how many of the worker's hits are due before t.
func (p *Poisson) Before(t time.Duration) int64 {
	t = min(t, p.ramp.Length)
	if t <= 0 {
		return 0
	}
	b, position := p.lastBlock(t)
	n, gaps := int64(b)*block, p.gaps(b)
	for {
		if position += gap(gaps); !p.passed(t, position) {
			return n
		}
		n++
	}
}

// start returns the start of a block; ok is false when that is beyond the ramp.
func (p *Poisson) start(b int) (position uint64, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.starts) <= b {
		if p.beyond(p.starts[len(p.starts)-1]) {
			return 0, false
		}
		p.extend()
	}
	return p.starts[b], true
}

// lastBlock returns the last block that starts before t, and its start.
func (p *Poisson) lastBlock(t time.Duration) (b int, position uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.passed(t, p.starts[len(p.starts)-1]) {
		p.extend()
	}
	b = sort.Search(len(p.starts), func(b int) bool { return !p.passed(t, p.starts[b]) }) - 1
	return b, p.starts[b]
}

// extend appends the start of one more block. The lock is held.
func (p *Poisson) extend() {
	last := len(p.starts) - 1
	position, gaps := p.starts[last], p.gaps(last)
	for range block {
		position += gap(gaps)
	}
	p.starts = append(p.starts, position)
}

func (p *Poisson) gaps(b int) *rand.Rand { return rand.New(rand.NewPCG(p.seed, uint64(b))) }

// gap draws a gap in parts of a hit; the mean is one hit.
func gap(r *rand.Rand) uint64 { return uint64(math.Round(r.ExpFloat64() * part)) }

// beyond reports whether no ramp reaches a position.
func (p *Poisson) beyond(position uint64) bool { return position > maxHits*part/p.workers }

// passed reports whether a hit at a position is due before t.
func (p *Poisson) passed(t time.Duration, position uint64) bool {
	return !p.beyond(position) && p.ramp.compare(t, position*p.workers) > 0
}

// scramble is the finalizer of SplitMix64: it makes neighbouring numbers differ in all
// bits.
func scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
