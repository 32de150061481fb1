package http1

import (
	"encoding/binary"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
)

// byteSet is a set of bytes.
type byteSet [256]bool

// nameBytes are the bytes of a header's name, valueBytes those of its value (RFC
// 9110, 5.1 and 5.5): no controls but the tab.
var nameBytes, valueBytes = makeNameBytes(), makeValueBytes()

func makeNameBytes() (s byteSet) {
	for c := '0'; c <= '9'; c++ {
		s[c] = true
	}
	for c := 'a'; c <= 'z'; c++ {
		s[c], s[c-'a'+'A'] = true, true
	}
	for _, c := range "!#$%&'*+-.^_`|~" {
		s[c] = true
	}
	return s
}

func makeValueBytes() (s byteSet) {
	for c := range s {
		s[c] = c >= ' ' && c != 0x7f || c == '\t'
	}
	return s
}

func allIn(s *byteSet, b []byte) bool {
	for _, c := range b {
		if !s[c] {
			return false
		}
	}
	return true
}

// isValue reports whether all bytes may be in the value of a header field, eight at a time:
// of those with no byte below a space and no 0x7f, nothing more needs to be known. The
// arithmetic is of "Bit Twiddling Hacks" by S. E. Anderson ("a byte less than n").
func isValue(b []byte) bool {
	const each, high = 0x0101010101010101, 0x8080808080808080
	for ; len(b) >= 8; b = b[8:] {
		x := binary.LittleEndian.Uint64(b)
		y := x ^ each*0x7f
		if ((x-each*' ')&^x|(y-each)&^y)&high != 0 && !allIn(&valueBytes, b[:8]) {
			return false
		}
	}
	return allIn(&valueBytes, b)
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// hex is the value of a hexadecimal digit, or -1.
func hex(c byte) int64 {
	switch {
	case digit(c):
		return int64(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int64(c|0x20-'a') + 10
	}
	return -1
}

// equalFold reports whether b is word without regard to case; word has lower-case
// letters and hyphens only.
func equalFold(b []byte, word string) bool {
	if len(b) != len(word) {
		return false
	}
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if c != word[i] {
			return false
		}
	}
	return true
}

// trim cuts spaces and tabs off both ends.
func trim(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}

func malformed(what string, line []byte) error {
	return failure.Withhold(line, "malformed HTTP response: %s of %d bytes", what, len(line))
}
