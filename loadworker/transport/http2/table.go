package http2

// common are the fields that requests of an origin have in common. A connection's first
// request adds them to the server's table for header blocks (RFC 7541, 2.3.2), and later
// ones name their place in it in one byte, as clients of services do.
type common int

const (
	authorityField common = iota
	agentField
	teField          // of a call
	contentTypeField // of a call
	commons
)

// commonField is one of them, encoded.
type commonField struct {
	literal []byte // which does not change the table
	adding  []byte // which adds it to the table
}

// addingField marks a field that is added to the table (RFC 7541, 6.2.1).
const addingField = 0x40

// table is what the client has added to the server's table of a connection. It adds each
// field once, and nothing that would not fit: nothing leaves the table.
type table struct {
	limit uint32 // bytes, that the server permits
	lower bool   // the limit was lowered, which the next header block must say
	added uint8
	place [commons]uint8 // by how many it was added last; 0: it was not added
}

// firstPlace is the index of what was added to the table last.
const firstPlace = 62

// append adds a field to a header block: by its index if it is in the table. A nil table
// stays as it is.
func (t *table) append(b []byte, o *Origin, f common) []byte {
	switch {
	case t == nil || o.size > t.limit:
		return append(b, o.fields[f].literal...)
	case t.place[f] > 0:
		return append(b, 0x80|(firstPlace+t.added-t.place[f]))
	}
	t.added++
	t.place[f] = t.added
	return append(b, o.fields[f].adding...)
}

// permit takes the limit that the server sets. The table does not grow again.
func (t *table) permit(limit uint32) {
	if limit < t.limit {
		t.limit, t.lower = limit, true
	}
}

// appendLimit begins a header block (RFC 7541, 4.2).
func (t *table) appendLimit(b []byte) []byte {
	if !t.lower {
		return b
	}
	t.lower = false
	return appendNumber(b, 0x20, 5, uint64(t.limit))
}
