package websocket

import (
	"encoding/binary"
	"fmt"
	"unicode/utf8"
)

// MaxMessage bounds a message that comes, in bytes. None is held: what it bounds is how long one may go on.
const MaxMessage = 64 << 20

// kind is what a piece is.
type kind uint8

const (
	// more says that nothing more can be told from the bytes that have come.
	more kind = iota
	// payload is a part of a message, and whole its end.
	payload
	whole
	// pinged, ponged and closed are control frames.
	pinged
	ponged
	closed
)

// piece is what bytes have brought.
type piece struct {
	kind kind
	// data are those of a payload or a control frame; of a close they are its reason. They are valid until
	// the next piece is decoded, and until the bytes change.
	data []byte
	// code is that of a close.
	code uint16
}

// violation is a rule of the RFC that the server broke, and the code of the close that it gets.
type violation struct {
	code uint16
	text string
}

func (v *violation) Error() string { return v.text }

func violated(code uint16, format string, args ...any) error {
	return &violation{code, fmt.Sprintf(format, args...)}
}

// decoder decodes the frames of a server. The zero value is at the beginning of the first.
type decoder struct {
	header  [maxHeader]byte
	have    int  // bytes of the header
	inFrame bool // the header is whole
	op      opcode
	isFinal bool
	left    uint64 // bytes of the payload that are to come
	control [maxControl]byte
	held    int // bytes of control

	inMessage bool // one has begun, and is not whole
	isText    bool
	size      uint64 // of the message
	text      utf8Check
}

// next decodes a piece, and returns the bytes behind it. After an error, or a close, it must not be called.
func (d *decoder) next(b []byte) (p piece, rest []byte, err error) {
	for {
		if !d.inFrame {
			if b, err = d.readHeader(b); err != nil || !d.inFrame {
				return piece{}, nil, err
			}
		}
		switch {
		case d.op.isControl():
			return d.readControl(b)
		case d.left == 0:
			if p, err = d.endFrame(); err != nil || p.kind == whole {
				return p, b, err
			}
		case len(b) == 0:
			return piece{}, nil, nil
		default:
			return d.readPayload(b)
		}
	}
}

// readHeader takes bytes of a header, and sets inFrame if it is whole.
func (d *decoder) readHeader(b []byte) (rest []byte, err error) {
	for !d.inFrame && len(b) > 0 {
		d.header[d.have] = b[0]
		d.have++
		b = b[1:]
		if d.have == 2 {
			if err := d.begin(); err != nil {
				return nil, err
			}
		}
		if d.have >= 2 && d.have == headerSize(d.header[1]) {
			if err := d.setLength(); err != nil {
				return nil, err
			}
			d.inFrame, d.have, d.held = true, 0, 0
		}
	}
	return b, nil
}

// headerSize is the length of a header without a key.
func headerSize(second byte) int {
	switch second & lengthBits {
	case length16:
		return 4
	case length64:
		return maxHeader
	}
	return 2
}

// begin reads the first two bytes of a header.
func (d *decoder) begin() error {
	first, second := d.header[0], d.header[1]
	d.op, d.isFinal = opcode(first&opcodeBits), first&final != 0
	switch {
	case first&reserved != 0:
		return violated(codeProtocol, "a frame has a reserved bit, and no extension was offered")
	case !d.op.isKnown():
		return violated(codeProtocol, "a frame has the opcode %d, which is reserved", d.op)
	case second&masked != 0:
		return violated(codeProtocol, "a frame of the server is masked")
	case d.op.isControl() && !d.isFinal:
		return violated(codeProtocol, "a control frame is fragmented")
	case d.op.isControl() && second&lengthBits > maxControl:
		return violated(codeProtocol, "a control frame has more than %d bytes", maxControl)
	case d.op == continuation && !d.inMessage:
		return violated(codeProtocol, "a frame continues a message, and none has begun")
	case !d.op.isControl() && d.op != continuation && d.inMessage:
		return violated(codeProtocol, "a message begins before the end of the one before")
	}
	return nil
}

// setLength reads the length of a whole header.
func (d *decoder) setLength() error {
	switch length := d.header[1] & lengthBits; length {
	case length16:
		d.left = uint64(binary.BigEndian.Uint16(d.header[2:]))
	case length64:
		d.left = binary.BigEndian.Uint64(d.header[2:])
	default:
		d.left = uint64(length)
	}
	if size := d.header[1] & lengthBits; size == length16 && d.left < length16 || size == length64 && d.left < 1<<16 {
		return violated(codeProtocol, "the length of a frame has more bytes than it needs")
	}
	if d.op.isControl() {
		return nil
	}
	if d.op != continuation {
		d.inMessage, d.isText, d.size, d.text = true, d.op == text, 0, utf8Check{}
	}
	if d.left > MaxMessage-d.size {
		return violated(codeTooLarge, "a message has more than %d bytes", MaxMessage)
	}
	d.size += d.left
	return nil
}

// readPayload takes bytes of a message.
func (d *decoder) readPayload(b []byte) (p piece, rest []byte, err error) {
	n := min(d.left, uint64(len(b)))
	d.left -= n
	if d.isText && !d.text.add(b[:n]) {
		return piece{}, nil, errInvalidText
	}
	return piece{kind: payload, data: b[:n]}, b[n:], nil
}

var errInvalidText = violated(codeInvalidText, "a text message is not UTF-8")

// endFrame ends a frame of a message, and with the last one the message.
func (d *decoder) endFrame() (piece, error) {
	d.inFrame = false
	if !d.isFinal {
		return piece{}, nil
	}
	d.inMessage = false
	if d.isText && !d.text.isWhole() {
		return piece{}, errInvalidText
	}
	return piece{kind: whole}, nil
}

// readControl takes bytes of a control frame.
func (d *decoder) readControl(b []byte) (p piece, rest []byte, err error) {
	n := copy(d.control[d.held:], b[:min(d.left, uint64(len(b)))])
	d.held += n
	if d.left -= uint64(n); d.left > 0 {
		return piece{}, nil, nil
	}
	d.inFrame = false
	data := d.control[:d.held]
	switch d.op {
	case ping:
		return piece{kind: pinged, data: data}, b[n:], nil
	case pong:
		return piece{kind: ponged, data: data}, b[n:], nil
	}
	p, err = readClose(data)
	return p, b[n:], err
}

func readClose(data []byte) (piece, error) {
	if len(data) == 0 {
		return piece{kind: closed, code: codeNone}, nil
	}
	if len(data) == 1 {
		return piece{}, violated(codeProtocol, "a close has half a code")
	}
	code, reason := binary.BigEndian.Uint16(data), data[2:]
	switch {
	case !maySend(code):
		return piece{}, violated(codeProtocol, "a close has the code %d, which must not be sent", code)
	case !utf8.Valid(reason):
		return piece{}, violated(codeInvalidText, "the reason of a close is not UTF-8")
	}
	return piece{kind: closed, code: code, data: reason}, nil
}

// utf8Check checks a text that comes in pieces, which may end within a character. The zero value is at its
// beginning.
type utf8Check struct {
	begun [utf8.UTFMax]byte // a character that is not whole
	n     int
}

// add takes a piece, and reports whether the text may still be UTF-8.
func (u *utf8Check) add(b []byte) bool {
	for u.n > 0 && len(b) > 0 {
		u.begun[u.n] = b[0]
		u.n++
		b = b[1:]
		if begun := u.begun[:u.n]; utf8.FullRune(begun) {
			if u.n = 0; !utf8.Valid(begun) {
				return false
			}
		}
	}
	whole := len(b) - unfinished(b)
	u.n += copy(u.begun[u.n:], b[whole:])
	return utf8.Valid(b[:whole])
}

// unfinished is how many bytes at the end of a text are a character that may go on.
func unfinished(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if end := b[len(b)-n:]; utf8.RuneStart(end[0]) {
			if utf8.FullRune(end) {
				return 0
			}
			return n
		}
	}
	return 0
}

// isWhole reports whether the text ends with a whole character.
func (u *utf8Check) isWhole() bool { return u.n == 0 }
