package http1

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/event"
)

// responseReader reads the responses of a connection, whose bytes it is fed as they
// arrive.
type responseReader struct {
	parser parser
	held   []byte        // the beginning of a line whose rest has not arrived
	events *event.Reader // of the parser, if it has one; nil: no response was a stream so far
}

// begin prepares for the response to a request.
func (r *responseReader) begin(request *transport.Request) {
	r.parser.body.Free() // to the budget that it was taken from
	r.parser.body.Budget = request.Budget
	r.parser.wanted = request.KeepFields
	r.parser.events = nil
	r.parser.begin(request.Method == http.MethodHead, request.Keep, request.KeepCookies)
}

// beginStream has the response read as a stream if the request asks for that, before a deadline.
func (r *responseReader) beginStream(request *transport.Request, deadline time.Duration) {
	if request.Stream == nil {
		return
	}
	if r.events == nil {
		r.events = &event.Reader{}
	}
	r.events.Begin(request, deadline)
	r.parser.events = r.events
}

// tell ends a read of a response that is a stream, as event.Reader does.
func (r *responseReader) tell(waited time.Duration) (timed bool) {
	if r.parser.done() {
		r.parser.events.End()
	}
	return r.parser.events.Tell(waited)
}

// feed takes what was read. The caller may reuse in after that. No bytes are the end
// of the connection.
func (r *responseReader) feed(in []byte) error {
	if len(in) == 0 {
		return r.parser.end()
	}
	if len(r.held) > 0 {
		r.held = append(r.held, in...)
		in = r.held
	}
	n, err := r.parser.parse(in)
	if n == len(in) {
		r.held = nil // no longer than needed: there are 10,000 connections
	} else {
		r.held = append(r.held[:0], in[n:]...)
	}
	return err
}

// reusable reports whether the connection may carry another request. Bytes after
// the response belong to no request: what followed them could not be trusted.
func (r *responseReader) reusable() bool { return r.parser.reusable() && len(r.held) == 0 }

// errHeaderTooLarge is the error of a header that does not end.
var errHeaderTooLarge = errors.New("response header is larger than 1 MiB")

// maxLine bounds a line, which is kept until it is whole: 10,000 connections of a target
// that ends none of its lines share the worker's memory.
const maxLine = 64 << 10

var errLineTooLong = errors.New("a line of the response header is longer than 64 KiB")

// state is what a parser expects next.
type state uint8

const (
	statusLine state = iota
	headerLine
	fixedBody  // left bytes of body
	untilClose // body until the connection closes
	chunkLine
	chunkBody // left bytes of a chunk
	chunkEnd
	trailerLine
	whole
)

// parser parses one response, after any interim ones, as its bytes arrive. It holds
// no bytes: those that it does not take must be passed again, with more after them.
// They are at most one line, so that a connection needs memory for them only while
// a line is in two pieces.
//
// It is strict, because a response with two meanings is no measurement: what is not
// in RFC 9112 is an error. It also refuses three things that are in it: folded
// lines, obsolete since 2014; a transfer coding other than chunked, since no request
// permits one; and a transfer coding in HTTP/1.0. As a recipient may, and as every
// other client does, it accepts a header line that ends in LF alone, but not in
// the lines of chunks.
type parser struct {
	state     state
	head      bool // the request was HEAD: no body follows
	http10    bool // the response is HTTP/1.0
	chunked   bool
	hasLength bool // a Content-Length came; it is in left
	close     bool // the connection must not be used again
	keepAlive bool // the server offered to keep the connection, for HTTP/1.0
	status    int
	left      int64 // bytes of the body or chunk that have not arrived
	size      int64 // bytes of the body that arrived
	header    int   // bytes of lines that arrived, but for those that chunks need
	scanned   int   // bytes of the next line that arrived and hold no line end
	keep      int   // how much of the body is kept
	body      transport.Body
	cookies   []byte // the values of Set-Cookie fields, if they are kept
	keepSet   bool   // Set-Cookie fields are kept
	fields    []byte // those of wanted
	wanted    []string
	events    *event.Reader // nil: the response is no stream
}

// begin prepares for a response. The memory of the last body is used again.
func (p *parser) begin(head bool, keep int, cookies bool) {
	*p = parser{head: head, keep: keep, body: p.body, cookies: p.cookies[:0], keepSet: cookies, fields: p.fields[:0], wanted: p.wanted, events: p.events}
	p.body.Begin(keep)
}

// done reports whether the response is whole.
func (p *parser) done() bool { return p.state == whole }

// response returns what was read; its body is valid until the next begin, or until it is freed.
func (p *parser) response() transport.Response {
	return p.body.In(transport.Response{Status: p.status, Size: p.size, SetCookies: p.cookies, Fields: p.fields})
}

// reusable reports whether the connection may carry another request.
func (p *parser) reusable() bool { return p.state == whole && !p.close && p.status >= 200 }

// parse takes what it can of b, nothing beyond the end of the response, and returns
// how much that was. The bytes of b that it did not take, up to that end, must be at
// the start of the next b.
func (p *parser) parse(b []byte) (taken int, err error) {
	for {
		switch p.state {
		case whole:
			return taken, nil
		case fixedBody, chunkBody, untilClose:
			if taken == len(b) {
				return taken, nil
			}
			taken += p.take(b[taken:])
		default:
			line, n := p.line(b[taken:])
			if p.header+p.scanned+n > transport.MaxHeader {
				return taken, errHeaderTooLarge
			}
			if max(n, p.scanned+1) > maxLine {
				return taken, errLineTooLong
			}
			if n == 0 {
				return taken, nil
			}
			taken += n
			p.header += p.overhead(line, n)
			if err := p.next(line); err != nil {
				return taken, err
			}
		}
	}
}

// overhead is what a line counts as header, which has so many bytes with its end. What a chunk needs counts
// nothing, since a stream may have any number of them; extensions are not needed.
func (p *parser) overhead(line []byte, n int) int {
	if p.state == chunkEnd || p.state == chunkLine && n <= shortChunkLine && bytes.IndexByte(line, semicolon[0]) < 0 {
		return 0
	}
	return n
}

// shortChunkLine is the length of a chunk's size of 8 digits, with its line end: some servers fill it up to
// that.
const shortChunkLine = 10

// line returns the next line with its CR, which some lines must have, and its length
// with the line end; 0: it has not arrived whole.
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
	if p.state != untilClose {
		b = b[:min(int64(len(b)), p.left)]
		p.left -= int64(len(b))
		switch {
		case p.left > 0:
		case p.state == fixedBody:
			p.state = whole
		default:
			p.state = chunkEnd
		}
	}
	p.size += int64(len(b))
	p.body.Append(b)
	if p.events != nil {
		p.events.Body(b)
		if p.state == chunkEnd {
			p.events.EndChunk()
		}
	}
	return len(b)
}

// end ends the response, because the connection was closed. It returns an error
// unless that is how the response ends.
func (p *parser) end() error {
	if p.state == untilClose {
		p.state = whole
	}
	if p.state != whole {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// next takes a line of the header, of a chunk or of the trailer.
func (p *parser) next(line []byte) error {
	switch p.state {
	case chunkLine:
		return p.chunk(line)
	case chunkEnd:
		if string(line) != "\r" {
			return malformed("chunk end", line)
		}
		p.state = chunkLine
		return nil
	}
	line, isCRLF := bytes.CutSuffix(line, cr)
	switch {
	case p.state == trailerLine && !isCRLF:
		return malformed("trailer", line)
	case p.state == statusLine:
		p.state = headerLine
		return p.startLine(line)
	case len(line) > 0:
		return p.field(line, p.state == trailerLine)
	case p.state == trailerLine:
		p.state = whole
		return nil
	default:
		return p.endHeader()
	}
}

var cr = []byte{'\r'}
