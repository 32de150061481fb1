package http2

import (
	"golang.org/x/net/http2/hpack"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// field takes a field of a header block, in its order. What is wrong is in problem.
func (m *Mux) field(f hpack.HeaderField) {
	h := &m.into
	h.size += len(f.Name) + len(f.Value) + fieldOverhead
	if h.size > maxBlock {
		m.decoder.SetEmitEnabled(false) // the connection ends
		return
	}
	if m.problem == "" {
		m.problem = h.add(f)
	}
}

// add adds a field, and returns why it may not be there.
func (h *fields) add(f hpack.HeaderField) (problem string) {
	if f.IsPseudo() {
		return h.pseudo(f)
	}
	h.regular = true
	switch {
	case !isName(f.Name):
		return "a header field whose name is invalid, or is not in lower case"
	case !isValue(f.Value):
		return "a header field whose value has a control character, or a space at an end"
	}
	h.call.Add(f.Name, f.Value)
	if len(h.wanted) > 0 {
		h.kept = transport.AppendField(h.kept, h.wanted, f.Name, f.Value)
	}
	switch f.Name {
	case "connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade":
		return "a header field that is of the connection, as in HTTP/1.1"
	case "content-length":
		return h.contentLength(f.Value)
	case "content-encoding":
		h.encoding = f.Value
	case "set-cookie":
		if h.keep {
			h.cookies = transport.AppendCookie(h.cookies, []byte(f.Value))
		}
	}
	return ""
}

// pseudo takes :status, once and before all other fields.
func (h *fields) pseudo(f hpack.HeaderField) (problem string) {
	switch {
	case f.Name != ":status":
		return "a pseudo-header field that no response has"
	case h.regular || h.status != 0:
		return "a status that is not the first field"
	case len(f.Value) != 3:
		return "a status that is not three digits"
	}
	for _, c := range []byte(f.Value) {
		if c < '0' || c > '9' {
			return "a status that is not three digits"
		}
		h.status = h.status*10 + int(c-'0')
	}
	if h.status < measure.MinStatus {
		return transport.ErrStatus.Error()
	}
	return ""
}

// contentLength takes a length. It may be repeated if it is the same.
func (h *fields) contentLength(text string) (problem string) {
	n := int64(0)
	for _, c := range []byte(text) {
		if c < '0' || c > '9' || n > (1<<63-1-9)/10 {
			return "a Content-Length that is not a number"
		}
		n = n*10 + int64(c-'0')
	}
	if text == "" || h.hasLength && n != h.length {
		return "a Content-Length that is empty, or not the one before"
	}
	h.hasLength, h.length = true, n
	return ""
}

// isName reports whether a name may be sent: a token in lower case (RFC 9113, 8.2.1).
func isName(s string) bool {
	for i := range len(s) {
		if !nameBytes[s[i]] {
			return false
		}
	}
	return s != ""
}

// isValue reports whether a value may be sent: no controls but the tab, no space at an end.
func isValue(s string) bool {
	if s == "" {
		return true
	}
	if last := s[len(s)-1]; s[0] == ' ' || s[0] == '\t' || last == ' ' || last == '\t' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

var nameBytes = func() (set [256]bool) {
	for _, c := range "abcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~" {
		set[c] = true
	}
	return set
}()
