package source

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
)

// Random is a generator that is seeded for each request, with numbers that do not
// depend on the worker that sends it.
type Random struct {
	pcg rand.PCG
}

// begin seeds the generator from the run's seed, the step and the request.
func (r *Random) begin(seed int64, step int32, seq int64) {
	r.pcg.Seed(mix(uint64(seed)^mix(uint64(step))), mix(uint64(seq)))
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
