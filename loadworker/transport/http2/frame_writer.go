package http2

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
)

// Indexes of the static table (RFC 7541, appendix A): of a field, or of its name alone.
const (
	staticHTTP  = 0x80 | 6
	staticHTTPS = 0x80 | 7
	staticGET   = 0x80 | 2
	staticPOST  = 0x80 | 3
	staticRoot  = 0x80 | 4 // :path /

	staticAuthority = 1
	staticMethod    = 2
	staticPath      = 4
	staticLength    = 28
)

func appendFrame(b []byte, length int, kind frameType, flags byte, id uint32) []byte {
	b = append(b, byte(length>>16), byte(length>>8), byte(length), byte(kind), flags)
	return binary.BigEndian.AppendUint32(b, id)
}

// appendPreface begins a connection: no server push, and wide windows.
func appendPreface(b []byte) []byte {
	b = append(b, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"...)
	b = appendFrame(b, 3*6, frameSettings, 0, 0)
	b = appendSetting(b, settingPush, 0)
	b = appendSetting(b, settingWindow, wideWindow)
	b = appendSetting(b, settingHeaderList, maxBlock)
	b = appendFrame(b, 4, frameWindow, 0, 0)
	return binary.BigEndian.AppendUint32(b, wideWindow-firstWindow)
}

func appendSetting(b []byte, number uint16, value uint32) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint16(b, number), value)
}

func appendGoAway(b []byte, c code) []byte {
	b = appendFrame(b, 8, frameGoAway, 0, 0)
	b = binary.BigEndian.AppendUint32(b, 0) // no stream of the server was processed
	return binary.BigEndian.AppendUint32(b, uint32(c))
}

// appendRequest adds a request, and its body as far as the windows permit.
func (m *Mux) appendRequest(st *Stream, r *transport.Request) {
	at := len(m.out)
	m.out = append(m.out, make([]byte, frameHeader)...)
	m.out = m.table.appendLimit(m.out)
	m.out = appendBlock(m.out, m.origin, &m.table, r)
	if n := len(m.out) - at - frameHeader; n <= m.peer.frame {
		appendFrame(m.out[:at], n, frameHeaders, headersFlags(len(r.Body) == 0)|flagEndHeaders, st.id)
	} else {
		block := slices.Clone(m.out[at+frameHeader:])
		m.out = m.out[:at]
		m.appendPieces(st.id, block, len(r.Body) == 0)
	}
	if len(r.Body) > 0 {
		if rest := m.appendBody(st, r.Body); len(rest) > 0 {
			st.body = slices.Clone(rest) // the caller may use its own again
			m.blocked++
		}
	}
}

// appendHeaders adds the header block of a request that had to wait.
func (m *Mux) appendHeaders(id uint32, block []byte, end bool) {
	m.appendPieces(id, append(m.table.appendLimit(nil), block...), end)
}

// appendPieces adds a header block in frames that are small enough.
func (m *Mux) appendPieces(id uint32, block []byte, end bool) {
	kind, flags := frameHeaders, headersFlags(end)
	for {
		n := min(len(block), m.peer.frame)
		if n == len(block) {
			flags |= flagEndHeaders
		}
		m.out = appendFrame(m.out, n, kind, flags, id)
		m.out = append(m.out, block[:n]...)
		if block = block[n:]; len(block) == 0 {
			return
		}
		kind, flags = frameContinuation, 0
	}
}

func headersFlags(end bool) byte {
	if end {
		return flagEndStream
	}
	return 0
}

// appendBlock adds the header block of a request. With a nil table it changes no table and
// depends on none, and may be sent after others. It uses no Huffman code: to encode it costs
// more than the bytes that this would save.
func appendBlock(b []byte, o *Origin, t *table, r *transport.Request) []byte {
	b = appendMethod(b, r.Method)
	b = append(b, o.scheme)
	if len(r.Path) == 1 && r.Path[0] == '/' {
		b = append(b, staticRoot)
	} else {
		b = appendNamed(b, staticPath, r.Path)
	}
	if len(r.Host) > 0 {
		b = appendNamed(b, staticAuthority, r.Host)
	} else {
		b = t.append(b, o, authorityField)
	}
	b = appendFields(b, o, t, r)
	if !r.Call && (len(r.Body) > 0 || expectsLength(r.Method)) { // a call's message has its own
		var digits [20]byte
		b = appendNamed(b, staticLength, strconv.AppendInt(digits[:0], int64(len(r.Body)), 10))
	}
	return b
}

// appendFields adds the header fields of a request, and those that every request has.
func appendFields(b []byte, o *Origin, t *table, r *transport.Request) []byte {
	own := false
	for i := range r.Headers {
		switch h := &r.Headers[i]; {
		case ofConnection[h.Name]:
		case r.Call && h.Name == "Te":
			b = t.append(b, o, teField)
		case r.Call && h.Name == "Content-Type":
			b = t.append(b, o, contentTypeField)
		default:
			own = own || h.Name == "User-Agent"
			// A space at an end, as of a row of data, is no part of a value (RFC 9113, 8.2.1).
			b = appendField(b, 0, h.Name, bytes.Trim(h.Value, " \t"))
		}
	}
	if o.agent && !own {
		return t.append(b, o, agentField)
	}
	return b
}

// ofConnection are header fields that HTTP/2 does not have (RFC 9113, 8.2.2).
var ofConnection = map[string]bool{
	"Connection": true, "Proxy-Connection": true, "Keep-Alive": true, "Transfer-Encoding": true, "Upgrade": true,
}

// expectsLength reports whether a length is sent even if there is no body (RFC 9110, 8.6).
func expectsLength(method string) bool {
	return method == "POST" || method == "PUT" || method == "PATCH"
}

func appendMethod(b []byte, method string) []byte {
	switch method {
	case "GET":
		return append(b, staticGET)
	case "POST":
		return append(b, staticPOST)
	default:
		return appendNamed(b, staticMethod, []byte(method))
	}
}

// appendNamed adds a field whose name is in the static table.
func appendNamed(b []byte, name uint64, value []byte) []byte {
	return appendString(appendNumber(b, 0, 4, name), value)
}

func appendString(b, value []byte) []byte {
	return append(appendNumber(b, 0, 7, uint64(len(value))), value...)
}

// appendField adds a field, whose name it sends in lower case.
func appendField(b []byte, kind byte, name string, value []byte) []byte {
	b = append(b, kind)
	b = appendNumber(b, 0, 7, uint64(len(name)))
	for _, c := range []byte(name) {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		b = append(b, c)
	}
	return appendString(b, value)
}

// appendNumber adds a number, of which the first byte has so many bits; flags are its others
// (RFC 7541, 5.1).
func appendNumber(b []byte, flags byte, bits uint, n uint64) []byte {
	most := uint64(1)<<bits - 1
	if n < most {
		return append(b, flags|byte(n))
	}
	b = append(b, flags|byte(most))
	for n -= most; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}
