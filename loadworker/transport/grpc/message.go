package grpc

import "encoding/binary"

// PrefixSize is the size of what stands before a message: a flag, which says whether it is
// compressed, and its length.
const PrefixSize = 5

// Frame fills in the prefix of a message, for which there is room before it.
func Frame(framed []byte, compressed bool) {
	framed[0] = 0
	if compressed {
		framed[0] = 1
	}
	binary.BigEndian.PutUint32(framed[1:], uint32(len(framed)-PrefixSize))
}

// Message is one that came in a frame.
type Message struct {
	// Bytes are as they were transferred.
	Bytes []byte
	// Compressed says that they are of gzip.
	Compressed bool
}

// Cut is the first message of those that a Call kept, which must be whole, and the rest.
func Cut(kept []byte) (m Message, rest []byte) {
	end := PrefixSize + int(binary.BigEndian.Uint32(kept[1:]))
	return Message{Bytes: kept[PrefixSize:end], Compressed: kept[0] == 1}, kept[end:]
}

// KeptSize is the size of so many messages in their frames.
func KeptSize(size, messages int64) int64 { return size + messages*PrefixSize }
