package shortener

import (
	"bytes"
	"cmp"
	"crypto/md5"
	"fmt"
	"slices"
)

// pointsPerNode is how many arcs of the ring end at each node. With 160 the
// shares of three nodes are within a few per cent of a third.
const pointsPerNode = 160

// Ring distributes keys over nodes by consistent hashing, as uhashring does
// with its defaults, so that links stored by that rule are found again:
//
//	point(node, i) = md5("<node>-<i>")   0 <= i < 160
//	owner(key)     = the node of the first point that is greater than md5(key),
//	                 or, past the last, of the first point of all
//
// where a hash is a number of 128 bits, most significant byte first.
type Ring struct{ points []point }

type point struct {
	hash [md5.Size]byte
	node int
}

// NewRing returns the ring of the nodes with those names. Their order does not
// affect the owners.
func NewRing(names ...string) Ring {
	var r Ring
	for node, name := range names {
		for i := range pointsPerNode {
			r.points = append(r.points, point{md5.Sum(fmt.Appendf(nil, "%s-%d", name, i)), node})
		}
	}
	slices.SortFunc(r.points, func(a, b point) int {
		return cmp.Or(bytes.Compare(a.hash[:], b.hash[:]), cmp.Compare(a.node, b.node))
	})
	return r
}

// Owner returns the index of the node that owns the key.
func (r Ring) Owner(key string) int {
	hash := md5.Sum([]byte(key))
	i, _ := slices.BinarySearchFunc(r.points, hash, func(p point, hash [md5.Size]byte) int {
		// A point that equals the hash is before it: the owner is strictly
		// greater.
		if bytes.Compare(p.hash[:], hash[:]) > 0 {
			return 1
		}
		return -1
	})
	return r.points[i%len(r.points)].node
}
