package source

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"sort"
)

// Choice is how a request chooses a row of a table.
type Choice uint8

const (
	// Uniform takes each row equally often, at random.
	Uniform Choice = iota
	// Sequential takes the rows in order, and starts again after the last.
	Sequential
	// Zipf takes the first rows more often than the last: row r, from 1, with a
	// probability proportional to r to the power of -1.07.
	Zipf
)

// zipfExponent is that of the popularity of web pages and short links in a number of
// studies. It must be above 1, or the sum over many rows does not converge.
const zipfExponent = 1.07

// pick returns the row of a request. number counts the rows that the worker's
// requests have taken in order.
func (t *Table) pick(r *Random, number int64) int {
	n := t.Rows()
	switch t.choice {
	case Sequential:
		return int(number % int64(n))
	case Zipf:
		at := r.float() * t.total()
		return min(n-1, sort.Search(n, func(i int) bool { return t.odds[i] > at }))
	default:
		return int(r.below(uint64(n)))
	}
}

// total returns the sum of the odds of all rows.
func (t *Table) total() float64 {
	if len(t.odds) == 0 {
		return 0
	}
	return t.odds[len(t.odds)-1]
}

// Random is a generator that is seeded for each request, with numbers that do not
// depend on the worker that sends it.
type Random struct {
	pcg rand.PCG
	// of is what the generator was seeded for, and key what follows from it: it is the same
	// for all requests of a step.
	of  stepOf
	key uint64
}

type stepOf struct {
	known bool
	seed  int64
	step  int32
}

// begin seeds the generator from the run's seed, the step and the request.
func (r *Random) begin(seed int64, step int32, seq int64) {
	if of := (stepOf{true, seed, step}); r.of != of {
		r.of, r.key = of, mix(uint64(seed)^mix(uint64(step)))
	}
	r.pcg.Seed(r.key, mix(uint64(seq)))
}

// mix is the finalizer of SplitMix64: it makes neighbouring numbers differ in all bits.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// below returns a number from 0 to n-1, each equally likely.
func (r *Random) below(n uint64) uint64 {
	return rand.New(&r.pcg).Uint64N(n)
}

// float returns a number from 0 to below 1.
func (r *Random) float() float64 { return float64(r.pcg.Uint64()>>11) / (1 << 53) }

// appendUUID appends a random UUID (RFC 9562, version 4).
func (r *Random) appendUUID(dst []byte) []byte {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], r.pcg.Uint64())
	binary.BigEndian.PutUint64(b[8:], r.pcg.Uint64())
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	for i, end := range [...]int{4, 6, 8, 10, 16} {
		if i > 0 {
			dst = append(dst, '-')
		}
		start := [...]int{0, 4, 6, 8, 10}[i]
		dst = hex.AppendEncode(dst, b[start:end])
	}
	return dst
}
