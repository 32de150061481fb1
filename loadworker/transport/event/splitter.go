package event

import (
	"bytes"
	"encoding/binary"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/grpc"
)

// splitter finds the ends of events in a body, which it takes in pieces of any size. The zero value is
// that of server-sent events, any of which may be the last.
type splitter struct {
	format transport.EventFormat
	chunks bool // the body says where its chunks end
	begun  bool // something of an event has come: data, a byte of a line that is not blank, or of a chunk
	// ended says that the last event has come. Nothing after it is one.
	ended bool
	last  match

	// cr says that the last byte was CR. LF after it belongs to the same end of a line.
	cr bool

	// Of server-sent events:
	place place // in a line
	named uint8 // bytes of that place that have come

	// Of messages:
	prefix [grpc.PrefixSize]byte
	read   uint8  // bytes of the prefix
	left   uint32 // bytes of the message that are to come
}

// begin prepares for a body.
func (s *splitter) begin(of *transport.Stream, chunks bool) {
	*s = splitter{format: of.Events, chunks: chunks, last: match{until: of.Until}}
	s.last.begin()
}

// take takes a piece of the body, and returns how many events are whole by it.
func (s *splitter) take(b []byte) (events int) {
	if s.ended || len(b) == 0 {
		return 0
	}
	switch s.format {
	case transport.Lines:
		return s.lines(b)
	case transport.Chunks:
		s.begun = true
		s.last.add(b)
		return 0
	case transport.Messages:
		return s.messages(b)
	default:
		return s.serverSent(b)
	}
}

// endChunk says that a chunk has come whole.
func (s *splitter) endChunk() (events int) {
	if s.format != transport.Chunks {
		return 0
	}
	return s.end()
}

// endRead says that this is all that was read at once.
func (s *splitter) endRead() (events int) {
	if s.chunks {
		return 0
	}
	return s.endChunk()
}

// endBody says that the body has come whole.
func (s *splitter) endBody() (events int) {
	if s.format != transport.Lines {
		return 0
	}
	return s.end()
}

// end ends an event, if one has begun.
func (s *splitter) end() (events int) {
	if s.begun && !s.ended {
		events = 1
		s.ended = s.last.is()
	}
	s.begun = false
	s.last.begin()
	return events
}

// lines takes a piece of lines, which end in LF or CRLF.
func (s *splitter) lines(b []byte) (events int) {
	for !s.ended {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			s.partOfLine(b)
			break
		}
		s.partOfLine(b[:i])
		s.cr = false
		events += s.end()
		b = b[i+1:]
	}
	return events
}

// partOfLine takes a piece of a line. A CR at its end may belong to the end of the line.
func (s *splitter) partOfLine(b []byte) {
	if len(b) == 0 {
		return
	}
	if s.cr {
		s.last.add(cr)
	}
	for i := 0; !s.begun && i < len(b); i++ {
		s.begun = b[i] != ' ' && b[i] != '\t' && b[i] != '\r'
	}
	if s.cr = b[len(b)-1] == '\r'; s.cr {
		b = b[:len(b)-1]
	}
	s.last.add(b)
}

var cr, lf = []byte{'\r'}, []byte{'\n'}

// messages takes a piece of messages, each after its prefix.
func (s *splitter) messages(b []byte) (events int) {
	for len(b) > 0 && !s.ended {
		if s.read < grpc.PrefixSize {
			n := copy(s.prefix[s.read:], b)
			s.read += uint8(n)
			if b = b[n:]; s.read < grpc.PrefixSize {
				break
			}
			s.left = binary.BigEndian.Uint32(s.prefix[1:])
		}
		n := uint32(min(int64(len(b)), int64(s.left)))
		s.last.add(b[:n])
		s.left -= n
		if b = b[n:]; s.left == 0 {
			s.begun, s.read = true, 0
			events += s.end()
		}
	}
	return events
}

// match compares the data of an event, as they come, with those of the last one.
type match struct {
	until string // "": any event may be the last
	so    int    // bytes that were equal so far; negative: there was another
}

// begin begins the data of an event.
func (m *match) begin() {
	m.so = 0
	if m.until == "" {
		m.so = -1
	}
}

// add adds to the data.
func (m *match) add(b []byte) {
	if m.so < 0 {
		return
	}
	rest := m.until[m.so:]
	if len(b) > len(rest) || rest[:len(b)] != string(b) {
		m.so = -1
		return
	}
	m.so += len(b)
}

// is reports whether the data are all equal.
func (m *match) is() bool { return m.so >= 0 && m.so == len(m.until) }
