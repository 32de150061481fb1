package http2

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Streams are found wherever they are, in any order, while others end and begin.
func TestStreamsAreFoundInAnyOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	m, next := &Mux{}, uint32(1)
	for range 20_000 {
		switch n := len(m.streams); {
		case n == 0 || n < 40 && random.IntN(3) == 0:
			m.streams = append(m.streams, &Stream{id: next})
			next += 2
		case random.IntN(3) == 0:
			if st := m.streams[random.IntN(n)]; !m.remove(st) || slices.Contains(m.streams, st) || m.remove(st) {
				t.Fatalf("stream %d is not removed once", st.id)
			}
		default:
			id := uint32(random.IntN(int(next) + 2))
			at := slices.IndexFunc(m.streams, func(st *Stream) bool { return st.id == id })
			st, ok := m.find(id)
			if ok != (at >= 0) || ok && st != m.streams[at] {
				t.Fatalf("stream %d: %v, %t; it is at %d", id, st, ok, at)
			}
		}
	}
}
