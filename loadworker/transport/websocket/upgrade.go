package websocket

import (
	"bufio"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // the RFC asks for it, to recognise a server of WebSocket and not to keep a secret
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/http1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// maxInterim bounds how many interim responses come before the one to an upgrade.
const maxInterim = 16

// maxResponse bounds the header of the response to an upgrade, which is held whole.
const maxResponse = 64 << 10

var errHeaderTooLarge = errors.New("response header is larger than 64 KiB")

// newKey is what a server must answer by acceptOf.
func newKey() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	return base64.StdEncoding.EncodeToString(b[:])
}

// acceptOf is what a server of WebSocket answers to a key (RFC 6455, 4.2.2).
func acceptOf(key string) string {
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")) //nolint:gosec // as above
	return base64.StdEncoding.EncodeToString(sum[:])
}

// IsReserved says whether a header of the request that opens a connection follows from WebSocket. name may be of
// any case.
func IsReserved(name string) bool {
	switch name = strings.ToLower(name); name {
	case "connection", "upgrade", "content-length", "transfer-encoding":
		return true
	}
	return strings.HasPrefix(name, "sec-websocket-")
}

// appendUpgrade appends the request that opens a connection.
func appendUpgrade(to []byte, r *transport.Request, host, agent, key string) []byte {
	q := transport.Request{Method: http.MethodGet, Path: r.Path, Host: r.Host}
	q.Headers = append(q.Headers, r.Headers...)
	add := func(name, value string) {
		q.Headers = append(q.Headers, transport.Header{Name: name, Value: []byte(value)})
	}
	add("Connection", "Upgrade")
	add("Upgrade", "websocket")
	add("Sec-WebSocket-Version", "13")
	add("Sec-WebSocket-Key", key)
	if p := r.WebSocket.Subprotocol; p != "" {
		add("Sec-WebSocket-Protocol", p)
	}
	return http1.AppendRequest(to, &q, host, agent)
}

// bounded reads at most so many bytes of a header, and keeps why it could not.
type bounded struct {
	from io.Reader
	left int // of the header; negative: no bound
	err  error
}

func (b *bounded) Read(p []byte) (n int, err error) {
	switch {
	case b.left == 0:
		err = errHeaderTooLarge
	case b.left > 0:
		n, err = b.from.Read(p[:min(len(p), b.left)])
		b.left -= n
	default:
		n, err = b.from.Read(p)
	}
	if err != nil {
		b.err = err
	}
	return n, err
}

// readUpgrade reads the response to an upgrade, after interim ones. Behind its header, in is not bounded.
func readUpgrade(in *bufio.Reader, from *bounded) (*http.Response, error) {
	for range maxInterim {
		from.left = maxResponse
		r, err := http.ReadResponse(in, nil)
		from.left = -1
		switch {
		case err != nil && from.err != nil:
			return nil, from.err
		case err != nil: // its text has what came
			return nil, failure.Withhold(err.Error(), "malformed HTTP response")
		case r.StatusCode < measure.MinStatus || r.StatusCode > measure.MaxStatus:
			return nil, transport.ErrStatus
		case r.StatusCode >= http.StatusOK || r.StatusCode == http.StatusSwitchingProtocols:
			return r, nil
		}
	}
	return nil, errors.New("too many interim responses")
}

// checkUpgrade returns an error for a response that says that the connection is one, and does not say it as the
// RFC does (4.1).
func checkUpgrade(h http.Header, key, subprotocol string) error {
	switch chosen := h.Get("Sec-WebSocket-Protocol"); {
	case !strings.EqualFold(h.Get("Upgrade"), "websocket"):
		return errors.New("the upgrade was answered without the header Upgrade: websocket")
	case !httpguts.HeaderValuesContainsToken(h["Connection"], "Upgrade"):
		return errors.New("the upgrade was answered without the header Connection: Upgrade")
	case h.Get("Sec-WebSocket-Accept") != acceptOf(key):
		return errors.New("the upgrade was answered with a wrong Sec-WebSocket-Accept")
	case h.Get("Sec-WebSocket-Extensions") != "":
		return failure.Withhold(h.Get("Sec-WebSocket-Extensions"), "the server uses an extension, and none was offered")
	case chosen == "" && subprotocol != "":
		return errors.New("the server chose no subprotocol, and webSocket.subprotocol asks for one")
	case chosen != subprotocol:
		return failure.Withhold(chosen, "the server chose another subprotocol than webSocket.subprotocol")
	}
	return nil
}
