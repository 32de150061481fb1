package event

import "bytes"

// place is one in a line of an event stream, as the HTML standard reads it (9.2.6). Lines end in CR, LF
// or CRLF. An event ends at an empty line, and is one if a line of it was of the field data.
type place uint8

const (
	mark  place = iota // the first line, which may begin with a byte order mark
	name               // the beginning, which may be the name of the field data
	space              // before a value, of which one space is no part
	value              // of data
	other              // within a comment, or another field
)

const (
	byteOrderMark = "\xef\xbb\xbf"
	dataName      = "data:"
)

// serverSent takes a piece of an event stream. Each byte is looked for two bytes at most twice, however
// long lines are and however they end.
func (s *splitter) serverSent(b []byte) (events int) {
	if s.cr && len(b) > 0 {
		s.cr = false
		if b[0] == '\n' {
			b = b[1:]
		}
	}
	nextLF, nextCR := find(b, 0, '\n'), find(b, 0, '\r')
	for at := 0; at < len(b) && !s.ended; {
		end := min(nextLF, nextCR)
		s.partOfField(b[at:end])
		if end == len(b) {
			break
		}
		events += s.endField()
		at = end + 1
		if end == nextCR {
			if s.cr = at == len(b); !s.cr && at == nextLF {
				at++
			}
			nextCR = find(b, at, '\r')
		}
		if nextLF < at {
			nextLF = find(b, at, '\n')
		}
	}
	return events
}

// find is where a byte is next; the length of b: there is none.
func find(b []byte, from int, c byte) int {
	if i := bytes.IndexByte(b[from:], c); i >= 0 {
		return from + i
	}
	return len(b)
}

// partOfField takes a piece of a line.
func (s *splitter) partOfField(b []byte) {
	for len(b) > 0 {
		switch s.place {
		case mark:
			b = s.expect(b, byteOrderMark, name)
		case name:
			if b = s.expect(b, dataName, space); s.place == space {
				s.beginData()
			}
		case space:
			if b[0] == ' ' {
				b = b[1:]
			}
			s.place = value
		case value:
			s.add(b)
			return
		default:
			return
		}
	}
}

// expect takes what a line may begin with. What comes after it is at another place; a line that begins
// otherwise is another one.
func (s *splitter) expect(b []byte, text string, then place) (rest []byte) {
	if s.place == mark && s.named == 0 && b[0] != text[0] {
		s.place = name
		return b
	}
	text = text[s.named:]
	n := min(len(b), len(text))
	if string(b[:n]) != text[:n] {
		s.place = other
		return b
	}
	if s.named += uint8(n); n == len(text) {
		s.place, s.named = then, 0
	}
	return b[n:]
}

// beginData begins a value of data. All those of an event are its lines.
func (s *splitter) beginData() {
	if s.begun {
		s.add(lf)
	}
	s.begun = true
}

// endField ends a line.
func (s *splitter) endField() (events int) {
	switch {
	case s.place <= name && s.named == 0: // it is empty
		events = s.end()
	case s.place == name && s.named == uint8(len(dataName)-1): // a name alone has an empty value
		s.beginData()
	}
	s.place, s.named = name, 0
	return events
}
