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
	count int64 // of the events that are to come before the last one; not positive: their number does not matter
	kept  kept

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
	*s = splitter{format: of.Events, chunks: chunks, last: match{until: of.Until}, count: of.Count, kept: s.kept}
	s.last.begin()
	s.kept.begin(of.Keep)
}

// add adds to the data of an event.
func (s *splitter) add(b []byte) {
	s.last.add(b)
	s.kept.add(b)
}

// take takes a piece of the body, and returns how many events are whole by it.
func (s *splitter) take(b []byte) (events int) {
	if s.ended || len(b) == 0 {
		return 0
	}
	switch s.format {
	case transport.Lines:
		return s.lines(b)
	case transport.Chunks, transport.WebSocketMessages:
		s.begun = true
		s.add(b)
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

// endMessage says that a message has come whole, which may be empty.
func (s *splitter) endMessage() (events int) {
	s.begun = true
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
		isLast := s.last.is()
		s.count--
		s.ended = isLast || s.count == 0
		s.kept.end(isLast)
	}
	s.begun = false
	s.last.begin()
	s.kept.drop()
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
		s.add(cr)
	}
	for i := 0; !s.begun && i < len(b); i++ {
		s.begun = b[i] != ' ' && b[i] != '\t' && b[i] != '\r'
	}
	if s.cr = b[len(b)-1] == '\r'; s.cr {
		b = b[:len(b)-1]
	}
	s.add(b)
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
		s.add(b[:n])
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

// kept are the data of the latest event, up to a limit, and those of the one that comes.
type kept struct {
	limit         int
	latest, comes []byte
	tooLong       bool // it comes with more than the limit
}

// begin forgets all, and keeps so many bytes from now on; 0: none. The memory is used again.
func (k *kept) begin(limit int) { *k = kept{limit: limit, latest: k.latest[:0], comes: k.comes[:0]} }

func (k *kept) add(b []byte) {
	if k.limit == 0 || k.tooLong {
		return
	}
	if k.tooLong = len(k.comes)+len(b) > k.limit; !k.tooLong {
		k.comes = append(k.comes, b...)
	}
}

// end ends an event, which is kept unless it is the last, or too long: then nothing is.
func (k *kept) end(isLast bool) {
	if isLast {
		return
	}
	if k.latest, k.comes = k.comes, k.latest; k.tooLong {
		k.latest = k.latest[:0]
	}
}

// drop forgets what has come of an event.
func (k *kept) drop() { k.comes, k.tooLong = k.comes[:0], false }
