package sqlite

import (
	"crypto/sha256"
)

// key is 128 bits of the hash of an idempotency key, so that millions of keys do
// not collide.
type key [16]byte

func keyOf(s string) key {
	sum := sha256.Sum256([]byte(s))
	return key(sum[:len(key{})])
}

// keys are the idempotency keys of the newest events: for each the first
// position of its append, by which the rest is found in the file.
//
// An index of keys in the file would be ten times slower than the appends
// themselves, for keys are random: each would change a page of its own, which
// goes through the WAL. In the file keys stand in the order of the events, and
// the index is made anew when the log is opened.
//
// There are two generations of a window each. When the current one is full it
// becomes the previous one, which is dropped, so that a key is remembered for at
// least one window and at most two, at about 40 bytes each.
type keys struct {
	window            int64
	current, previous map[key]int64
	// currentFrom and previousFrom are the positions where the generations
	// begin.
	currentFrom, previousFrom int64
	// added are those of the transaction that is not committed yet.
	added []key
}

// newKeys are those of a log that ends at a position, yet to be loaded.
func newKeys(window, last int64) keys {
	return keys{
		window: window, current: map[key]int64{}, previous: map[key]int64{},
		currentFrom: last + 1, previousFrom: last + 1 - window,
	}
}

// load adds a key of the log that was just opened. The previous generation then begins
// with the first event of an append whose last event is within the window: what the file
// has of it must not be forgotten before.
func (k *keys) load(r *stmt) {
	if b := blob(r, 1); len(b) == len(key{}) {
		first := r.ColumnInt64(0)
		k.previous[key(b)], k.previousFrom = first, min(k.previousFrom, first)
	}
}

// find is where the append with the key begins.
func (k *keys) find(x key) (first int64, found bool) {
	if first, found = k.current[x]; !found {
		first, found = k.previous[x]
	}
	return first, found
}

func (k *keys) add(x key, first int64) {
	k.current[x] = first
	k.added = append(k.added, x)
}

// commit keeps the keys of a transaction after which the log ends at last.
func (k *keys) commit(last int64) {
	k.added = k.added[:0]
	if last+1-k.currentFrom < k.window {
		return
	}
	k.previous, k.previousFrom = k.current, k.currentFrom
	k.current, k.currentFrom = map[key]int64{}, last+1
}

// rollback drops the keys of the transaction.
func (k *keys) rollback() {
	for _, x := range k.added {
		delete(k.current, x)
	}
	k.added = k.added[:0]
}
