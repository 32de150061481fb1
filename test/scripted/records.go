package scripted

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"encoding/hex"
	"net"
	"strings"
	"testing"
)

// Records writes records of TLS 1.3 by themselves, such as crypto/tls never sends: to a
// client that has shaken hands with crypto/tls.
type Records struct {
	testing.TB
	conn   net.Conn
	secret []byte
	seal   cipher.AEAD
	iv     []byte
	next   uint64 // the number of the next record
}

// Kinds of records and messages (RFC 8446, 5.1 and 4).
const (
	AlertRecord     = 21
	HandshakeRecord = 22
	TextRecord      = 23
	NewTicket       = 4
	KeyUpdate       = 24
)

// ShakeHands is the server's side of a handshake over TLS 1.3. The connection that it
// returns reads what the client sends; its records are written by Records alone.
func ShakeHands(t testing.TB, conn net.Conn, server *tls.Config) (*tls.Conn, *Records) {
	var keys bytes.Buffer
	server = server.Clone()
	server.MinVersion, server.KeyLogWriter, server.SessionTicketsDisabled = tls.VersionTLS13, &keys, true
	secured := tls.Server(conn, server)
	if err := secured.Handshake(); err != nil {
		t.Errorf("handshake: %v", err)
		return secured, nil
	}
	r := &Records{TB: t, conn: conn}
	for line := range strings.Lines(keys.String()) {
		if f := strings.Fields(line); f[0] == "SERVER_TRAFFIC_SECRET_0" {
			r.secret, _ = hex.DecodeString(f[2])
		}
	}
	if secured.ConnectionState().CipherSuite != tls.TLS_AES_128_GCM_SHA256 {
		t.Error("the suite is not the one that is known here")
		return secured, nil
	}
	r.useKeys()
	return secured, r
}

// useKeys takes up the keys of the secret (RFC 8446, 7.3).
func (r *Records) useKeys() {
	block, err := aes.NewCipher(r.expand("key", 16))
	if err == nil {
		r.seal, err = cipher.NewGCM(block)
	}
	if err != nil {
		r.Error(err)
	}
	r.iv, r.next = r.expand("iv", 12), 0
}

// expand is HKDF-Expand-Label of RFC 8446, 7.1, of the secret.
func (r *Records) expand(label string, n int) []byte {
	label = "tls13 " + label
	info := append([]byte{0, byte(n), byte(len(label))}, label...)
	out, err := hkdf.Expand(sha256.New, r.secret, string(append(info, 0)), n)
	if err != nil {
		r.Error(err)
	}
	return out
}

// Write writes a record of a kind.
func (r *Records) Write(kind byte, text ...byte) { r.WriteRaw(r.Record(kind, text...)) }

// WriteRaw writes bytes as they are.
func (r *Records) WriteRaw(b []byte) { _, _ = r.conn.Write(b) }

// Record returns a record of a kind, which must be the next that is written.
func (r *Records) Record(kind byte, text ...byte) []byte {
	nonce := bytes.Clone(r.iv)
	for i := range 8 {
		nonce[4+i] ^= byte(r.next >> (56 - 8*i))
	}
	r.next++
	header := binary.BigEndian.AppendUint16([]byte{TextRecord, 3, 3}, uint16(len(text)+1+r.seal.Overhead()))
	return r.seal.Seal(header, nonce, append(text, kind), header)
}

// UpdateKeys has the client take up new keys for what comes, and send with new ones if it
// is asked to.
func (r *Records) UpdateKeys(ask bool) {
	asked := byte(0)
	if ask {
		asked = 1
	}
	r.Write(HandshakeRecord, KeyUpdate, 0, 0, 1, asked)
	r.secret = r.expand("traffic upd", sha256.Size)
	r.useKeys()
}

// Ticket returns a message with a session ticket of so many bytes.
func Ticket(size int) []byte {
	body := append(make([]byte, 8), 1, 0) // lifetime and age; a nonce
	body = binary.BigEndian.AppendUint16(body, uint16(size))
	body = append(append(body, make([]byte, size)...), 0, 0) // no extensions
	return append([]byte{NewTicket, 0, byte(len(body) >> 8), byte(len(body))}, body...)
}
