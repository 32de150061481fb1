package replay

import (
	"strings"
	"unsafe"
)

// pathBytes is how much memory paths that follow one another share.
const pathBytes = 512

// paths copies the paths of requests that follow one another, of which many share a piece of memory: to allocate one
// for each would be most of what a line costs the collector of garbage. A path that is
// kept by a request in flight keeps that piece.
type paths struct{ free []byte }

func (p *paths) keep(path string) string {
	n := len(path)
	if n > pathBytes/4 {
		return strings.Clone(path)
	}
	if n > len(p.free) {
		p.free = make([]byte, pathBytes)
	}
	kept := p.free[:n:n]
	p.free = p.free[n:]
	copy(kept, path)
	return unsafe.String(unsafe.SliceData(kept), n)
}
