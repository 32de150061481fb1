package transport

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/loadtest-dev/loadtest-operator/measure"
)

// maxHeader bounds all header lines of a response together, interim responses,
// chunk sizes and trailers included, as the memory of 10,000 users must be.
const maxHeader = 1 << 20

// phase is what a parser expects next.
type phase uint8

const (
	statusLine phase = iota
	headerLine
	fixedBody  // left bytes of body
	untilClose // body until the connection closes
	chunkLine
	chunkBody // left bytes of a chunk
	chunkEnd
	trailerLine
	whole
)

// parser reads one response, after any interim ones, as its bytes come in. It
// holds no bytes itself: what it does not take it must be shown again, with more
// after it. That is at most one line, so that who reads needs memory for a
// connection only while a line of it is in two pieces.
//
// It is strict, as a response with two meanings is no measurement: what is not
// in RFC 9112 is an error. Three things that are in it are refused: lines folded
// as before 2014, a transfer coding besides chunked, which was not asked for,
// and a coding in HTTP/1.0. One is let pass that a recipient may, and that every
// other client lets pass: a header line that ends in LF alone; not so among
// chunks, where clients do not.
type parser struct {
	phase   phase
	head    bool // the request was HEAD: no body follows
	old     bool // the response is HTTP/1.0
	chunked bool
	length  bool // a Content-Length came; it is in left
	// kept says that the connection may be used again; in a header of HTTP/1.0,
	// that the server offered to keep it.
	close, kept bool
	status      int
	left        int64 // bytes of the body or chunk yet to come
	size        int64 // bytes of the body that came
	header      int   // bytes of lines that came
	scanned     int   // bytes of the next line that came and hold no line end
	keep        int   // how much of the body is kept
	body        []byte
}

// begin prepares for a response. The memory of the last body is used again.
func (p *parser) begin(head bool, keep int) {
	*p = parser{head: head, keep: keep, body: p.body[:0]}
}

// done says that the response is whole.
func (p *parser) done() bool { return p.phase == whole }

// response is what was read; its body is valid until the next begin.
func (p *parser) response() Response {
	return Response{Status: p.status, Size: p.size, Body: p.body}
}

// reusable says that the connection may carry another request.
func (p *parser) reusable() bool { return p.phase == whole && !p.close && p.status >= 200 }

// parse takes what it can of b and says how much that was; it takes nothing
// beyond the end of the response. What is left of b before that end must come
// again, at the start of the next b.
func (p *parser) parse(b []byte) (taken int, err error) {
	for {
		switch p.phase {
		case whole:
			return taken, nil
		case fixedBody, chunkBody, untilClose:
			if taken == len(b) {
				return taken, nil
			}
			taken += p.take(b[taken:])
		default:
			line, n := p.line(b[taken:])
			if p.header+p.scanned+n > maxHeader {
				return taken, errHeaderTooLarge
			}
			if n == 0 {
				return taken, nil
			}
			taken += n
			p.header += n
			if err := p.next(line); err != nil {
				return taken, err
			}
		}
	}
}

// line finds the next line and its length with the line end; 0: not all of it
// came. The line comes with its CR, which not every line may do without.
func (p *parser) line(b []byte) (line []byte, n int) {
	i := bytes.IndexByte(b[p.scanned:], '\n')
	if i < 0 {
		p.scanned = len(b)
		return nil, 0
	}
	n = p.scanned + i + 1
	p.scanned = 0
	return b[:n-1], n
}

// take takes bytes of the body.
func (p *parser) take(b []byte) int {
	if p.phase != untilClose {
		b = b[:min(int64(len(b)), p.left)]
		p.left -= int64(len(b))
		switch {
		case p.left > 0:
		case p.phase == fixedBody:
			p.phase = whole
		default:
			p.phase = chunkEnd
		}
	}
	p.size += int64(len(b))
	if room := p.keep - len(p.body); room > 0 {
		p.body = append(p.body, b[:min(room, len(b))]...)
	}
	return len(b)
}

// end says that the connection was closed. It is an error unless that is how
// the response ends.
func (p *parser) end() error {
	if p.phase == untilClose {
		p.phase = whole
	}
	if p.phase != whole {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// next takes a line.
func (p *parser) next(line []byte) error {
	switch p.phase {
	case chunkLine:
		return p.chunk(line)
	case chunkEnd:
		if string(line) != "\r" {
			return malformed("chunk end", line)
		}
		p.phase = chunkLine
		return nil
	}
	line, isCRLF := bytes.CutSuffix(line, cr)
	switch {
	case p.phase == trailerLine && !isCRLF:
		return malformed("trailer", line)
	case p.phase == statusLine:
		p.phase = headerLine
		return p.startLine(line)
	case len(line) > 0:
		return p.field(line, p.phase == trailerLine)
	case p.phase == trailerLine:
		p.phase = whole
		return nil
	default:
		return p.endHeader()
	}
}

var cr = []byte{'\r'}

// startLine takes HTTP/1.x, a space and three digits. Many servers leave out
// the space after them when there is no reason to follow it.
func (p *parser) startLine(line []byte) error {
	const prefix = "HTTP/1."
	const code = len(prefix) + 2
	if len(line) < code+3 || string(line[:len(prefix)]) != prefix || !digit(line[len(prefix)]) ||
		line[code-1] != ' ' || (len(line) > code+3 && line[code+3] != ' ') || !allIn(&inValue, line) {
		return malformed("status line", line)
	}
	p.old = line[len(prefix)] == '0'
	p.status = 0
	for _, c := range line[code : code+3] {
		if !digit(c) {
			return malformed("status line", line)
		}
		p.status = p.status*10 + int(c-'0')
	}
	if p.status < measure.MinStatus {
		return errStatus
	}
	return nil
}

// endHeader decides how the body is framed (RFC 9112, 6.3).
func (p *parser) endHeader() error {
	switch {
	case p.status < 200 && p.status != 101:
		// Another response follows. After 101 none does: the connection then
		// speaks another protocol.
		*p = parser{head: p.head, keep: p.keep, body: p.body, header: p.header}
		return nil
	case p.head, p.status == 101, p.status == 204, p.status == 304:
		p.phase = whole
	case p.chunked && p.old:
		return errors.New("malformed HTTP response: transfer coding in HTTP/1.0")
	case p.chunked:
		// A length beside it is void, and a sign that somebody is confused about
		// where this response ends.
		p.close = p.close || p.length
		p.phase, p.left = chunkLine, 0
	case p.length && p.left == 0:
		p.phase = whole
	case p.length:
		p.phase = fixedBody
	default:
		p.phase, p.close = untilClose, true
	}
	p.close = p.close || (p.old && !p.kept)
	return nil
}

// field takes a header field, or checks that a trailer field is one.
func (p *parser) field(line []byte, trailer bool) error {
	colon := bytes.IndexByte(line, ':')
	if colon <= 0 || !allIn(&inName, line[:colon]) || !allIn(&inValue, line[colon+1:]) {
		return malformed("header", line)
	}
	if trailer {
		return nil
	}
	// The lengths of the three names that matter tell nearly all others apart.
	name, value := line[:colon], line[colon+1:]
	switch {
	case colon == len("connection") && equalFold(name, "connection"):
		p.connection(value)
	case colon == len("content-length") && equalFold(name, "content-length"):
		return p.contentLength(trim(value))
	case colon == len("transfer-encoding") && equalFold(name, "transfer-encoding"):
		if p.chunked || !equalFold(trim(value), "chunked") {
			return fmt.Errorf("malformed HTTP response: transfer coding %q", trim(value))
		}
		p.chunked = true
	}
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
			p.kept = true
		}
	}
}

var comma = []byte{','}

// contentLength takes a length. The same one may come twice.
func (p *parser) contentLength(text []byte) error {
	n := int64(0)
	for _, c := range text {
		if !digit(c) || n > (1<<63-1-9)/10 {
			return fmt.Errorf("malformed HTTP response: Content-Length %q", text)
		}
		n = n*10 + int64(c-'0')
	}
	if len(text) == 0 || (p.length && n != p.left) {
		return fmt.Errorf("malformed HTTP response: Content-Length %q, earlier %d", text, p.left)
	}
	p.length, p.left = true, n
	return nil
}

// chunk takes the size of a chunk. Its extensions mean nothing here.
func (p *parser) chunk(line []byte) error {
	size, isCRLF := bytes.CutSuffix(line, cr)
	size, _, _ = bytes.Cut(size, semicolon)
	size = bytes.TrimRight(size, " \t") // which some servers pad it with
	if !isCRLF || len(size) == 0 || len(size) > 15 || !allIn(&inValue, line[:len(line)-1]) {
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
	p.phase = chunkBody
	if p.left == 0 {
		p.phase = trailerLine
	}
	return nil
}

var semicolon = []byte{';'}
