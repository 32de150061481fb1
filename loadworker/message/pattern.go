package message

import (
	"bytes"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// Pattern is the encoded form of messages that differ only in the values of variables. It has
// the bytes that do not change, and where values of strings and integers go; the lengths of the
// messages around them follow. What Append gives is what Encode gives for the same values, in
// some hundredths of the time.
//
// A Pattern is found by encoding the message with placeholders: nothing here is written for protobuf's
// JSON. It is safe for concurrent use.
type Pattern struct{ pieces []piece }

// piece is bytes that do not change, and a field after them whose value does.
type piece struct {
	before []byte
	kind   pieceKind
	tag    []byte
	// implicit says that the field is left out if it is empty or 0.
	implicit bool
	segments []segment // of a text
	number   number
	message  []piece
}

type pieceKind uint8

const (
	nothing pieceKind = iota // follows
	ofText
	ofInteger
	ofMessage
)

// segment is a text and the value after it; -1: none.
type segment struct {
	before string
	value  int
}

// number is a value that is an integer from low to high.
type number struct {
	value     int
	low, high int64
}

// Values are the texts of variables. That of number i is before Ends[i] in Text, and after that
// of the one before.
type Values struct {
	Text []byte
	Ends []int
}

// At is one of them.
func (v *Values) At(i int) []byte {
	start := 0
	if i > 0 {
		start = v.Ends[i-1]
	}
	return v.Text[start:v.Ends[i]]
}

// Append appends the message with values. Without ok, the values are none that are known here
// to be valid, and Encode decides.
func (p *Pattern) Append(to []byte, v *Values) (_ []byte, ok bool) {
	if p == nil {
		return to, false
	}
	return appendPieces(to, p.pieces, v)
}

func appendPieces(to []byte, list []piece, v *Values) (_ []byte, ok bool) {
	for i := range list {
		p := &list[i]
		to, ok = append(to, p.before...), true
		switch p.kind {
		case ofText:
			to, ok = p.appendText(to, v)
		case ofInteger:
			to, ok = p.appendNumber(to, v)
		case ofMessage:
			to, ok = p.appendMessage(append(to, p.tag...), v)
		}
		if !ok {
			return to, false
		}
	}
	return to, true
}

func (p *piece) appendText(to []byte, v *Values) (_ []byte, ok bool) {
	size := 0
	for i := range p.segments {
		size += len(p.segments[i].before)
		if value := p.segments[i].value; value >= 0 {
			size += len(v.At(value))
		}
	}
	if size == 0 && p.implicit {
		return to, true
	}
	to = protowire.AppendVarint(append(to, p.tag...), uint64(size))
	start := len(to)
	for i := range p.segments {
		to = append(to, p.segments[i].before...)
		if value := p.segments[i].value; value >= 0 {
			to = append(to, v.At(value)...)
		}
	}
	return to, utf8.Valid(to[start:])
}

func (p *piece) appendNumber(to []byte, v *Values) (_ []byte, ok bool) {
	n, ok := parse(v.At(p.number.value))
	if !ok || n < p.number.low || n > p.number.high {
		return to, false
	}
	if n == 0 && p.implicit {
		return to, true
	}
	return protowire.AppendVarint(append(to, p.tag...), uint64(n)), true
}

// appendMessage appends a message behind its tag. One byte is left for its length; if that
// needs more, the message is moved.
func (p *piece) appendMessage(to []byte, v *Values) (_ []byte, ok bool) {
	at := len(to)
	to, ok = appendPieces(append(to, 0), p.message, v)
	size := len(to) - at - 1
	if more := protowire.SizeVarint(uint64(size)) - 1; more > 0 {
		to = append(to, make([]byte, more)...)
		copy(to[at+1+more:], to[at+1:at+1+size])
	}
	protowire.AppendVarint(to[:at], uint64(size))
	return to, ok
}

// maxDigits is how many digits any integer of 64 bits can have.
const maxDigits = 18

// parse reads an integer as it is usually written. JSON has other forms, such as 1e3.
func parse(value []byte) (n int64, ok bool) {
	digits, negative := bytes.CutPrefix(value, []byte("-"))
	if len(digits) == 0 || len(digits) > maxDigits || digits[0] == '0' && len(value) > 1 {
		return 0, false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	if negative {
		n = -n
	}
	return n, true
}
