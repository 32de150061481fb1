package http1

import (
	"bytes"
	"errors"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// startLine takes HTTP/1.x, a space and three digits. Many servers omit the space
// after them when no reason phrase follows.
func (p *parser) startLine(line []byte) error {
	const prefix = "HTTP/1."
	const code = len(prefix) + 2
	if len(line) < code+3 || string(line[:len(prefix)]) != prefix || !digit(line[len(prefix)]) ||
		line[code-1] != ' ' || (len(line) > code+3 && line[code+3] != ' ') || !isValue(line) {
		return malformed("status line", line)
	}
	p.http10 = line[len(prefix)] == '0'
	p.status = 0
	for _, c := range line[code : code+3] {
		if !digit(c) {
			return malformed("status line", line)
		}
		p.status = p.status*10 + int(c-'0')
	}
	if p.status < measure.MinStatus {
		return transport.ErrStatus
	}
	return nil
}

// endHeader decides how the body is framed (RFC 9112, 6.3).
func (p *parser) endHeader() error {
	switch {
	case p.status < 200 && p.status != 101:
		// Another response follows. After 101 none does: the connection then
		// speaks another protocol.
		header := p.header
		p.begin(p.head, p.keep, p.keepSet)
		p.header = header
		return nil
	case p.head, p.status == 101, p.status == 204, p.status == 304:
		p.state = whole
	case p.chunked && p.http10:
		return errors.New("malformed HTTP response: transfer coding in HTTP/1.0")
	case p.chunked:
		// A length beside it is void, and a sign that a server or a proxy is wrong
		// about where this response ends.
		p.close = p.close || p.hasLength
		p.state, p.left = chunkLine, 0
	case p.hasLength && p.left == 0:
		p.state = whole
	case p.hasLength:
		p.state = fixedBody
	default:
		p.state, p.close = untilClose, true
	}
	p.close = p.close || (p.http10 && !p.keepAlive)
	if p.events != nil && p.state != whole {
		p.events.Header(p.status, p.chunked)
	}
	return nil
}

// field takes a header field, or checks that a trailer field is one.
func (p *parser) field(line []byte, trailer bool) error {
	colon := bytes.IndexByte(line, ':')
	switch {
	case colon <= 0 || !allIn(&nameBytes, line[:colon]) || !isValue(line[colon+1:]):
		return malformed("header", line)
	case trailer:
		return nil
	}
	// The lengths of the three names that matter tell nearly all others apart.
	name, value := line[:colon], line[colon+1:]
	if len(p.wanted) > 0 {
		p.fields = transport.AppendField(p.fields, p.wanted, name, trim(value))
	}
	switch {
	case colon == len("connection") && equalFold(name, "connection"):
		p.connection(value)
	case p.keepSet && colon == len("set-cookie") && equalFold(name, "set-cookie"):
		p.cookies = transport.AppendCookie(p.cookies, trim(value))
	case colon == len("content-length") && equalFold(name, "content-length"):
		return p.contentLength(trim(value))
	case colon == len("transfer-encoding") && equalFold(name, "transfer-encoding"):
		return p.transferEncoding(trim(value))
	}
	return p.contentEncoding(name, value)
}

// contentEncoding takes the encoding of a body that is read as a stream, if the field is that.
func (p *parser) contentEncoding(name, value []byte) error {
	if p.events == nil || !equalFold(name, "content-encoding") {
		return nil
	}
	return p.events.Encoded(p.status, string(trim(value)))
}

// transferEncoding takes the one coding that is known, once.
func (p *parser) transferEncoding(coding []byte) error {
	if p.chunked || !equalFold(coding, "chunked") {
		return malformed("transfer coding", coding)
	}
	p.chunked = true
	return nil
}

// connection takes a list of options.
func (p *parser) connection(list []byte) {
	for more := true; more; {
		var option []byte
		option, list, more = bytes.Cut(list, comma)
		switch option = trim(option); {
		case equalFold(option, "close"):
			p.close = true
		case equalFold(option, "keep-alive"):
			p.keepAlive = true
		}
	}
}

var comma = []byte{','}

// contentLength takes a length. It may be repeated if it is the same.
func (p *parser) contentLength(text []byte) error {
	n := int64(0)
	for _, c := range text {
		if !digit(c) || n > (1<<63-1-9)/10 {
			return malformed("Content-Length", text)
		}
		n = n*10 + int64(c-'0')
	}
	if len(text) == 0 || (p.hasLength && n != p.left) {
		return failure.Withhold(text, "malformed HTTP response: Content-Length of %d bytes is empty, or not the one before", len(text))
	}
	p.hasLength, p.left = true, n
	return nil
}

// chunk takes the size of a chunk. Its extensions mean nothing here.
func (p *parser) chunk(line []byte) error {
	size, isCRLF := bytes.CutSuffix(line, cr)
	size, _, _ = bytes.Cut(size, semicolon)
	size = bytes.TrimRight(size, " \t") // some servers pad with them
	if !isCRLF || len(size) == 0 || len(size) > 15 || !isValue(line[:len(line)-1]) {
		return malformed("chunk size", line)
	}
	p.left = 0
	for _, c := range size {
		d := hex(c)
		if d < 0 {
			return malformed("chunk size", line)
		}
		p.left = p.left<<4 | d
	}
	p.state = chunkBody
	if p.left == 0 {
		p.state = trailerLine
	}
	return nil
}

var semicolon = []byte{';'}
