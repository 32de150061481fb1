package groundtruth

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

// Format is how a stream says where an event ends.
type Format string

const (
	// SSE is server-sent events: data: {"n":1}, and an empty line. The last is data: [DONE].
	SSE Format = "sse"
	// Lines is a JSON document a line. The last is {"done":true}.
	Lines Format = "lines"
	// Chunks is a JSON document in each chunk, or in each frame of HTTP/2, and nothing between
	// two of them. The last is {"done":true}.
	Chunks Format = "chunks"
	// Messages is messages of gRPC, with n in field 1, and a status at the end.
	Messages Format = "grpc"
	// WebSocket is a JSON document in each text message, from an event loop. The last is {"done":true},
	// after which the server closes with code 1000. What the client sends is not looked at.
	WebSocket Format = "websocket"
)

// Endless is the number of events of a stream that does not end.
const Endless = -1

// Stream is a response in events that are due at known times after the request: the
// first after First, and each of the others Every after the one before it, and a jitter.
// Its head is sent at once, and its end with the last event. Events are numbered from 1.
type Stream struct {
	// Format absent: SSE.
	Format Format
	// Events is how many there are, without the last one, which says that it is the last.
	Events int
	First  time.Duration
	Every  time.Duration
	// Jitter is added to Every: drawn evenly from 0 up to but not Jitter. It depends on
	// nothing but the seed of the server, the number of the request and that of the event.
	Jitter time.Duration

	// Stall is how much later all is that follows event StallAfter; 0: nothing is.
	Stall      time.Duration
	StallAfter int
	// Break, unless it is Keep, is what becomes of the connection when the event that
	// follows event BreakAfter is due; Abort over HTTP/2, of the stream.
	Break      End
	BreakAfter int
	// Unended leaves out the last event: the response ends all the same. Of gRPC, it leaves
	// out the status.
	Unended bool

	// Piece sends each event one byte at a time, each so long after the one before it;
	// 0: all at once.
	Piece time.Duration
	// Large is the number of an event that has LargeOf bytes more; 0: none.
	Large   int
	LargeOf int
	// Invalid is the number of an event that has bytes which are no UTF-8; 0: none.
	Invalid int
	// Comments, of SSE, sends one halfway between two events.
	Comments bool
	// LineEnd is that of SSE or Lines. Absent: "\n".
	LineEnd string
	// ByteOrderMark, of SSE, begins the body with one.
	ByteOrderMark bool
	// Completion, of SSE, makes each event a chunk of a text completion, as servers of language models send it. It does
	// not have its number.
	Completion bool
	// Gzip compresses the body, whatever the client accepts. What is compressed of each event leaves when
	// the event is due.
	Gzip bool
}

// Due is the time of each event after the request, for as long as yield returns true. It
// is for the server of a seed, and a request with a number; -1: with none.
func (s *Stream) Due(seed uint64, number int64) func(yield func(time.Duration) bool) {
	return func(yield func(time.Duration) bool) {
		random := drawing(seed, number)
		at := s.First
		for n := 1; s.Events == Endless || n <= s.Events; n++ {
			if s.Break != Keep && n > s.BreakAfter || !yield(at) {
				return
			}
			at += s.gap(n, random)
		}
	}
}

func drawing(seed uint64, number int64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(number)))
}

// gap is from event n to the next one.
func (s *Stream) gap(n int, random *rand.Rand) time.Duration {
	return s.Every + time.Duration(random.Float64()*float64(s.Jitter)) + s.stall(n)
}

// stall is what follows event n later.
func (s *Stream) stall(n int) time.Duration {
	if n != s.StallAfter {
		return 0
	}
	return s.Stall
}

// contentType is that of the response.
func (s *Stream) contentType() string {
	return map[Format]string{
		SSE: "text/event-stream", Lines: "application/x-ndjson", Chunks: "application/octet-stream", Messages: "application/grpc",
	}[s.Format]
}

// head is that of a response by HTTP/1.1.
func (s *Stream) head() []byte {
	fields := []string{"Content-Type: " + s.contentType(), "Cache-Control: no-cache", "Transfer-Encoding: chunked"}
	if s.Gzip {
		fields = append(fields, "Content-Encoding: gzip")
	}
	return head(http.StatusOK, fields...)
}

// completion is a chunk of a text completion of the API of OpenAI, with the text of one token. It is the same for every
// event, so that it costs the server no more than a number does.
const completion = `{"id":"cmpl-1","object":"text_completion","created":1,"model":"m","choices":[{"index":0,"text":" a","logprobs":null,"finish_reason":null}]}`

// event is the bytes of event n.
func (s *Stream) event(n int) []byte {
	switch {
	case s.Format == Messages:
		return s.message(n)
	case s.Completion:
		return s.delimit(completion)
	}
	var more string
	if n == s.Large {
		more += strings.Repeat("x", s.LargeOf)
	}
	if n == s.Invalid {
		more += "\xff\xc0\x80"
	}
	if more != "" {
		return s.delimit(fmt.Sprintf(`{"n":%d,"x":"%s"}`, n, more))
	}
	return s.delimit(fmt.Sprintf(`{"n":%d}`, n))
}

// last is the bytes of the last event, if it has one.
func (s *Stream) last() []byte {
	switch {
	case s.Unended || s.Format == Messages:
		return nil
	case s.Format == SSE:
		return s.delimit("[DONE]")
	}
	return s.delimit(`{"done":true}`)
}

// delimit says where a document ends.
func (s *Stream) delimit(document string) []byte {
	switch s.Format {
	case SSE:
		return []byte("data: " + document + s.LineEnd + s.LineEnd)
	case Lines:
		return []byte(document + s.LineEnd)
	}
	return []byte(document)
}

// comment is the bytes of a comment.
func (s *Stream) comment() []byte { return []byte(": ping" + s.LineEnd + s.LineEnd) }

// message is that of gRPC for event n: n is in field 1, what is more in field 15.
func (s *Stream) message(n int) []byte {
	payload := binary.AppendUvarint([]byte{1 << 3}, uint64(n))
	if n == s.Large {
		payload = binary.AppendUvarint(append(payload, 15<<3|2), uint64(s.LargeOf))
		payload = append(payload, body(s.LargeOf)...)
	}
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(payload))), payload...)
}
