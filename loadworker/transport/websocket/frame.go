package websocket

import (
	"encoding/binary"
	"math/rand/v2"
)

// opcode is what a frame is.
type opcode byte

const (
	continuation opcode = 0x0
	text         opcode = 0x1
	binaryData   opcode = 0x2
	closing      opcode = 0x8
	ping         opcode = 0x9
	pong         opcode = 0xa
)

// isControl says whether a frame may stand between those of a message.
func (o opcode) isControl() bool { return o&0x8 != 0 }

// isKnown says whether the RFC defines it.
func (o opcode) isKnown() bool { return o <= binaryData || o >= closing && o <= pong }

// Bits and lengths of a frame's header.
const (
	final      = 0x80
	reserved   = 0x70
	opcodeBits = 0x0f
	masked     = 0x80
	lengthBits = 0x7f
	length16   = 126 // the length has two bytes of its own
	length64   = 127 // eight
	maxHeader  = 10  // without a key, which only a client's frames have
	maxControl = 125 // bytes of the payload of a control frame
	keySize    = 4
)

// Codes of a close.
const (
	codeNormal      = 1000
	codeGoingAway   = 1001
	codeProtocol    = 1002
	codeNone        = 1005 // stands for a close without a code, and is never sent
	codeInvalidText = 1007
	codeTooLarge    = 1009
)

// maySend says whether a close may have a code (RFC 6455, 7.4, and IANA's registry).
func maySend(code uint16) bool {
	return code >= codeNormal && code <= 1003 || code >= codeInvalidText && code <= 1014 || code >= 3000 && code <= 4999
}

// appendFrame appends a frame of a client that is a whole message, or a control frame of at most maxControl bytes.
func appendFrame(to []byte, op opcode, payload []byte) []byte {
	to = append(to, final|byte(op))
	switch n := len(payload); {
	case n < length16:
		to = append(to, masked|byte(n))
	case n < 1<<16:
		to = binary.BigEndian.AppendUint16(append(to, masked|length16), uint16(n))
	default:
		to = binary.BigEndian.AppendUint64(append(to, masked|length64), uint64(n))
	}
	// The source of the key must not be known to the target (10.3): this one is seeded by the system.
	key := rand.Uint32()
	to = binary.LittleEndian.AppendUint32(to, key)
	at := len(to)
	to = append(to, payload...)
	mask(to[at:], key)
	return to
}

// mask masks a payload, or takes its mask off. key is the four bytes in little endian.
func mask(b []byte, key uint32) {
	for wide := uint64(key)<<32 | uint64(key); len(b) >= 8; b = b[8:] {
		binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)^wide)
	}
	for i := range b {
		b[i] ^= byte(key >> (i % keySize * 8))
	}
}

// appendClose appends a close with a code; codeNone: without.
func appendClose(to []byte, code uint16) []byte {
	if code == codeNone {
		return appendFrame(to, closing, nil)
	}
	return appendFrame(to, closing, binary.BigEndian.AppendUint16(nil, code))
}
