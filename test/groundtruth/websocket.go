package groundtruth

import (
	"bytes"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"net/http"
)

// upgradeKey is the header field of a request for a WebSocket that its answer must prove to have read
// (RFC 6455, 4.2.2), and upgradeSalt what it is hashed with.
var upgradeKey = []byte("\r\nsec-websocket-key:")

const upgradeSalt = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

// upgraded is the header of the answer to a request for a WebSocket; nil if it is none.
func upgraded(request []byte) []byte {
	at := bytes.Index(bytes.ToLower(request), upgradeKey)
	if at < 0 {
		return nil
	}
	key, _, _ := bytes.Cut(request[at+len(upgradeKey):], []byte("\r\n"))
	sum := sha1.Sum(append(bytes.TrimSpace(key), upgradeSalt...))
	return head(http.StatusSwitchingProtocols, "Upgrade: websocket", "Connection: Upgrade",
		"Sec-WebSocket-Accept: "+base64.StdEncoding.EncodeToString(sum[:]))
}

// textFrame is a message in one frame, without a mask, as a server sends it (RFC 6455, 5.2).
func textFrame(message []byte) []byte {
	const final, text = 0x80, 1
	frame := []byte{final | text}
	switch n := len(message); {
	case n < 126:
		frame = append(frame, byte(n))
	case n <= 0xffff:
		frame = binary.BigEndian.AppendUint16(append(frame, 126), uint16(n))
	default:
		frame = binary.BigEndian.AppendUint64(append(frame, 127), uint64(n))
	}
	return append(frame, message...)
}

// closeFrame ends a connection of WebSocket in order, with code 1000.
var closeFrame = []byte{0x88, 2, 1000 >> 8, 1000 & 0xff}
