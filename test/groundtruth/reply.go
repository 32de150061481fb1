package groundtruth

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// End is what becomes of the connection after a reply.
type End uint8

const (
	// Keep keeps it open for the next request.
	Keep End = iota
	// Close closes it in order.
	Close
	// Abort resets it.
	Abort
)

// Reply is the bytes of an answer, however wrong they are.
type Reply struct {
	Bytes []byte
	// Piece is how many of them are sent every Every, after the First; 0: all at
	// once.
	First int
	Piece int
	Every time.Duration
	End   End
	// Frame is the name of a Frame, over HTTP/2, in the place of Bytes.
	Frame string
	// Stream is in the place of Bytes and of all that is about them.
	Stream *Stream
}

// maxReply bounds a reply that is described by a text.
const maxReply = 16 << 20

func head(status int, fields ...string) []byte {
	lines := append([]string{fmt.Sprintf("HTTP/1.1 %d %s", status, http.StatusText(status))}, fields...)
	return []byte(strings.Join(lines, "\r\n") + "\r\n\r\n")
}

func body(n int) []byte { return bytes.Repeat([]byte("x"), n) }

// Status is a whole response with a body of n bytes.
func Status(status, n int) Reply {
	return Reply{Bytes: append(head(status, fmt.Sprintf("Content-Length: %d", n)), body(n)...)}
}

// OK is a whole response of status 200.
func OK(n int) Reply { return Status(http.StatusOK, n) }

// JSON is a whole response of status 200 with a document.
func JSON(document string) Reply {
	b := head(http.StatusOK, "Content-Type: application/json", fmt.Sprintf("Content-Length: %d", len(document)))
	return Reply{Bytes: append(b, document...)}
}

// Chunked is a whole response in chunks of 16 bytes, with a trailer.
func Chunked(n int) Reply {
	const size = 16
	b := head(http.StatusOK, "Transfer-Encoding: chunked", "Trailer: X-End")
	for left := n; left > 0; left -= size {
		b = fmt.Appendf(b, "%x\r\n%s\r\n", min(left, size), body(min(left, size)))
	}
	return Reply{Bytes: append(b, "0\r\nX-End: 1\r\n\r\n"...)}
}

// Call is a whole response to a unary call of gRPC, with its status; if that is 0, which is
// OK, with a message of n bytes.
func Call(status, n int) Reply {
	if status != 0 {
		return calls("", fmt.Sprintf("Grpc-Status: %d", status))
	}
	return calls(message(n, n), "Grpc-Status: 0")
}

// CallCut is one whose message says that it has twice its n bytes.
func CallCut(n int) Reply { return calls(message(2*n, n), "Grpc-Status: 0") }

// CallUnended is one without a status.
func CallUnended(n int) Reply { return calls(message(n, n), "X-End: 1") }

// message is one of gRPC that declares so many bytes and has n.
func message(declared, n int) string {
	return string(append(binary.BigEndian.AppendUint32([]byte{0}, uint32(declared)), body(n)...))
}

// calls is a response of gRPC with a body and a trailer.
func calls(body, trailer string) Reply {
	name, _, _ := strings.Cut(trailer, ":")
	b := head(http.StatusOK, "Content-Type: application/grpc", "Transfer-Encoding: chunked", "Trailer: "+name)
	if body != "" {
		b = fmt.Appendf(b, "%x\r\n%s\r\n", len(body), body)
	}
	return Reply{Bytes: append(b, "0\r\n"+trailer+"\r\n\r\n"...)}
}

// UntilClose is a response without a length, which ends with the connection.
func UntilClose(n int) Reply {
	return Reply{Bytes: append(head(http.StatusOK), body(n)...), End: Close}
}

// Declared says that its body has declared bytes, and sends n.
func Declared(declared, n int, end End) Reply {
	return Reply{Bytes: append(head(http.StatusOK, fmt.Sprintf("Content-Length: %d", declared)), body(n)...), End: end}
}

// Truncated is closed in the middle of its body.
func Truncated(n int) Reply { return Declared(2*n, n, Close) }

// Overlong sends more than it says.
func Overlong(n int) Reply { return Declared(n, 2*n, Keep) }

// Garbage is no HTTP.
func Garbage() Reply {
	return Reply{Bytes: []byte("it is not HTTP what this says\r\n\r\n"), End: Close}
}

// EarlyClose is no answer, and a connection closed in order.
func EarlyClose() Reply { return Reply{End: Close} }

// Reset is no answer, and a connection that is reset.
func Reset() Reply { return Reply{End: Abort} }

// LargeHeader is a whole response with a header field of n bytes.
func LargeHeader(n int) Reply {
	return Reply{Bytes: head(http.StatusOK, "Content-Length: 0", "X-Large: "+strings.Repeat("x", n))}
}

// Slow is a whole response with a body of n bytes, sent piece bytes at a time.
func Slow(n, piece int, every time.Duration) Reply {
	r := OK(n)
	r.First, r.Piece, r.Every = len(r.Bytes)-n, piece, every
	return r
}

// aborts reports whether net/http is to abort the stream or, over HTTP/1.1, the connection.
func (r *Reply) aborts() bool {
	if r.Stream != nil {
		return r.Stream.Break == Abort
	}
	return r.Frame != "" || len(r.Bytes) == 0 && r.End == Abort
}

// end is what becomes of the connection after it.
func (r *Reply) end() End {
	if r.Stream != nil {
		return r.Stream.Break
	}
	return r.End
}

// until is up to where a reply is written at once, when so much of it was.
func (r *Reply) until(written int) int {
	switch {
	case r.Piece <= 0:
		return len(r.Bytes)
	case written < r.First:
		return r.First
	}
	return min(written+r.Piece, len(r.Bytes))
}

// Interim is a 103 before a whole response.
func Interim(n int) Reply {
	return Reply{Bytes: append(head(http.StatusEarlyHints, "Link: </x>"), OK(n).Bytes...)}
}

// ParseReply reads ok:64, status:503:64, chunked:64, untilclose:64,
// declared:128:64, truncated:64, overlong:64, garbage, earlyclose, reset,
// largeheader:4096, slow:64:8:10ms or interim:64; of gRPC grpc:0:64 (status and size),
// grpccut:64 or grpcunended:64; over HTTP/2, where one route of a server may have it,
// frame:data-idle or another of Frames.
//
// A Stream is stream:EVENTS:FIRST:EVERY[:JITTER][:OPTION]..., as in
// stream:20:200ms:20ms:5ms:stall=10,2s:comments. EVENTS may be endless. Options:
//
//	format=sse           or lines, chunks, grpc or websocket
//	stall=10,2s          all that follows event 10 is 2s later
//	reset=10             reset when the event after the 10th is due; close=10 closes in order
//	unended              the response ends without the last event
//	pieces=1ms           one byte at a time
//	large=10,65536       event 10 has 65536 bytes more
//	invalid=10           event 10 is no UTF-8
//	gzip                 compressed, whatever the client accepts
//	comments             one between two events
//	crlf, cr             the end of a line
//	bom                  a byte order mark at the beginning
//	completion           each event is a chunk of a text completion
func ParseReply(text string) (Reply, error) {
	name, rest, found := strings.Cut(text, ":")
	r := reader{}
	if found {
		r.fields = strings.Split(rest, ":")
	}
	reply, ok := replies(name, &r)
	if !ok {
		return Reply{}, fmt.Errorf("reply %q: %q is no kind of reply", text, name)
	}
	if err := r.end(); err != nil {
		return Reply{}, fmt.Errorf("reply %q: %w", text, err)
	}
	return reply, nil
}

func replies(name string, r *reader) (reply Reply, ok bool) {
	switch name {
	case "ok":
		return OK(r.count()), true
	case "status":
		return Status(r.count(), r.count()), true
	case "chunked":
		return Chunked(r.count()), true
	case "untilclose":
		return UntilClose(r.count()), true
	case "declared":
		return Declared(r.count(), r.count(), Keep), true
	case "truncated":
		return Truncated(r.count()), true
	case "overlong":
		return Overlong(r.count()), true
	case "garbage":
		return Garbage(), true
	case "earlyclose":
		return EarlyClose(), true
	case "reset":
		return Reset(), true
	case "largeheader":
		return LargeHeader(r.count()), true
	case "slow":
		return Slow(r.count(), r.count(), r.duration()), true
	case "interim":
		return Interim(r.count()), true
	case "frame":
		frame, err := frameOf(r.next())
		r.fail(err)
		return Reply{Frame: frame.Name}, true
	}
	return repliesInMessages(name, r)
}

func repliesInMessages(name string, r *reader) (reply Reply, ok bool) {
	switch name {
	case "grpc":
		return Call(r.count(), r.count()), true
	case "grpccut":
		return CallCut(r.count()), true
	case "grpcunended":
		return CallUnended(r.count()), true
	case "stream":
		return Reply{Stream: parseStream(r)}, true
	}
	return Reply{}, false
}
