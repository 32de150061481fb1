package http2

import (
	"bytes"

	"golang.org/x/net/http2/hpack"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/grpc"
)

const (
	// tableSize is the size of the table for header blocks, which the server may fill: that
	// which needs no permission.
	tableSize = 4 << 10
	// maxBlock bounds a header block, encoded and decoded, and maxField a name or a value.
	maxBlock = 256 << 10
	maxField = 64 << 10
	// fieldOverhead is added to each field (RFC 9113, 6.5.2).
	fieldOverhead = 32
	// maxSame bounds a header block that is remembered.
	maxSame = 256
)

// headers decodes header blocks.
type headers struct {
	decoder *hpack.Decoder
	block   block
	same    same

	// Of the block that is being decoded:
	into    fields
	problem string // why it is malformed; "": it is not
}

// block is a header block that comes in several frames.
type block struct {
	id        uint32 // of its stream; 0: none is coming
	endStream bool
	bytes     []byte
}

// fields are what matters of a header block.
type fields struct {
	status    int // 0: there is none, as in trailers
	regular   bool
	hasLength bool
	length    int64
	size      int
	cookies   []byte
	keep      bool // the cookies are kept
	kept      []byte
	wanted    []string // fields that are kept
	call      grpc.Fields
	encoding  string // as Content-Encoding says
}

// same is the header block before, if decoding it again would have the same result: then
// it neither was changed by the table of the decoder meanwhile, nor changes it. A server
// that answers a load sends few different ones.
type same struct {
	bytes []byte
	fields
}

// headersFrame takes HEADERS: a header block, or its beginning.
func (m *Mux) headersFrame(f frame, payload []byte) *violation {
	if f.id == 0 {
		return violated(protocolError, "HEADERS on stream 0")
	}
	if _, v := m.stream(&f); v != nil {
		return v
	}
	b, ok := fragment(f, payload)
	if !ok {
		return violated(protocolError, "HEADERS of %d bytes with as much padding", f.length)
	}
	if f.has(flagEndHeaders) {
		return m.decode(f.id, f.has(flagEndStream), b)
	}
	m.block = block{id: f.id, endStream: f.has(flagEndStream), bytes: bytes.Clone(b)}
	return nil
}

// fragment is the part of a header block in HEADERS; false: the padding exceeds it.
func fragment(f frame, b []byte) ([]byte, bool) {
	padding := 0
	if f.has(flagPadded) {
		if len(b) == 0 {
			return nil, false
		}
		padding, b = int(b[0]), b[1:]
	}
	if f.has(flagPriority) {
		if len(b) < 5 {
			return nil, false
		}
		b = b[5:]
	}
	if padding > len(b) {
		return nil, false
	}
	return b[:len(b)-padding], true
}

// continuation takes more of a header block.
func (m *Mux) continuation(f frame, payload []byte) *violation {
	if m.block.id == 0 {
		return violated(protocolError, "CONTINUATION without HEADERS")
	}
	if len(m.block.bytes)+len(payload) > maxBlock {
		return violated(enhanceYourCalm, "a header block of more than %d bytes", maxBlock)
	}
	m.block.bytes = append(m.block.bytes, payload...)
	if !f.has(flagEndHeaders) {
		return nil
	}
	whole := m.block
	m.block = block{}
	return m.decode(whole.id, whole.endStream, whole.bytes)
}

// decode decodes a header block, even if its stream has ended: what it adds to the table is
// part of what later ones mean.
func (m *Mux) decode(id uint32, end bool, b []byte) *violation {
	st, ok := m.find(id)
	if ok && st.status == 0 && !st.keepCookies && len(st.wanted) == 0 && !st.keepMessage && len(b) > 0 && bytes.Equal(b, m.same.bytes) {
		m.into, m.problem = m.same.fields, ""
		m.take(st, end)
		return nil
	}
	m.into, m.problem = fields{keep: ok && st.keepCookies}, ""
	if ok {
		m.into.cookies, m.into.call.KeepMessage = st.cookies, st.keepMessage
		m.into.kept, m.into.wanted = st.fields, st.wanted
	}
	_, err := m.decoder.Write(b)
	if err == nil {
		err = m.decoder.Close()
	}
	switch {
	case m.into.size > maxBlock:
		return violated(enhanceYourCalm, "a header of more than %d bytes", maxBlock)
	case err != nil:
		return violated(compressionError, "a header block that cannot be decoded")
	}
	m.remember(b)
	if ok {
		m.take(st, end)
	}
	return nil
}

// remember keeps a header block if the same bytes have the same meaning next time.
func (m *Mux) remember(b []byte) {
	switch {
	case len(b) > maxSame || changesTable(b):
		m.same.bytes = m.same.bytes[:0]
	case m.problem == "" && !m.into.keep && len(m.into.wanted) == 0 && !m.into.call.KeepMessage && m.into.status >= 200:
		m.same.bytes = append(m.same.bytes[:0], b...)
		m.same.fields = m.into
		m.same.cookies, m.same.kept = nil, nil
	}
}

// changesTable reports whether a valid header block adds to the table, or resizes it
// (RFC 7541, 6).
func changesTable(b []byte) bool {
	for len(b) > 0 {
		switch first := b[0]; {
		case first&0x80 != 0:
			b = afterNumber(b, 7)
			continue
		case first&0xe0 != 0: // an index is added, or the size is changed
			return true
		}
		named := b[0]&0xf != 0
		if b = afterNumber(b, 4); !named {
			b = afterString(b)
		}
		b = afterString(b)
	}
	return false
}

func afterNumber(b []byte, bits uint) []byte {
	if most := byte(1)<<bits - 1; b[0]&most != most {
		return b[1:]
	}
	for i := 1; i < len(b); i++ {
		if b[i]&0x80 == 0 {
			return b[i+1:]
		}
	}
	return nil
}

func afterString(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	rest := afterNumber(b, 7)
	n := int(b[0] & 0x7f)
	if n == 0x7f {
		for i, c := range b[1 : len(b)-len(rest)] {
			if i > 3 && c&0x7f != 0 {
				return nil // longer than any block
			}
			n += int(c&0x7f) << (7 * min(i, 4))
		}
	}
	return rest[min(n, len(rest)):]
}

// take takes the header block that was decoded: of an interim response, of the final one,
// or trailers.
func (m *Mux) take(st *Stream, end bool) {
	h := &m.into
	st.header += h.size
	switch {
	case m.problem != "":
	case st.header > transport.MaxHeader:
		m.problem = "headers of more than 1 MiB"
	case st.status != 0:
		m.problem = h.asTrailers(end)
	default:
		m.problem = h.asResponse(end)
	}
	if m.problem != "" {
		m.violate(st, violated(protocolError, "%s", m.problem))
		return
	}
	trailers := st.status != 0
	if h.status >= 200 {
		m.idle = 0
		st.status, st.hasLength, st.length, st.cookies = h.status, h.hasLength, h.length, h.cookies
		st.fields = h.kept
		if st.events != nil {
			if err := st.events.Encoded(st.status, h.encoding); err != nil {
				m.abandon(st, err)
				return
			}
			st.events.Header(st.status, true)
		}
	}
	if st.isCall && st.status != 0 {
		if err := st.takeCall(h, trailers, end); err != nil {
			m.abandon(st, err)
			return
		}
	}
	if end {
		m.endStream(st)
	}
}

// takeCall takes the header block of the response to a call: the final one or the trailers.
func (r *response) takeCall(h *fields, trailers, end bool) error {
	if trailers {
		return r.call.Trailer(h.call)
	}
	return r.call.Header(r.status, h.call, end)
}

// asTrailers says why the fields cannot be trailers; "": they can.
func (h *fields) asTrailers(end bool) (problem string) {
	switch {
	case h.status != 0:
		return "trailers with a status"
	case !end:
		return "trailers that are not the end"
	}
	return ""
}

// asResponse says why the fields cannot be those of a response, interim or final; "": they
// can.
func (h *fields) asResponse(end bool) (problem string) {
	switch {
	case h.status == 0:
		return "a response without a status"
	case h.status == 101:
		return "status 101, which HTTP/2 does not have"
	case h.status < 200 && end:
		return "an interim response that is the end"
	}
	return ""
}
