package grpc

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// answer is a response: its status of HTTP, header, body and trailer.
type answer struct {
	http            int
	header, trailer string // of "name: value" lines
	body            []byte
	trailersOnly    bool
	may             transport.Replies
}

func good(body []byte) answer {
	return answer{http: 200, header: "content-type: application/grpc", trailer: "grpc-status: 0", body: body}
}

func framed(flag byte, length uint32, message string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{flag}, length), message...)
}

func fieldsOf(lines string) (f Fields) {
	for line := range strings.Lines(lines) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		f.Add(name, value)
	}
	return f
}

// read reads an answer, whose body comes in pieces of a size.
func (a answer) read(piece int) (c Call, kept []byte, err error) {
	var body transport.Body
	body.Begin(1 << 20)
	c.May = a.may
	if err := c.Header(a.http, fieldsOf(a.header), a.trailersOnly); err != nil {
		return c, nil, err
	}
	for rest := a.body; len(rest) > 0; rest = rest[min(piece, len(rest)):] {
		if err := c.Data(rest[:min(piece, len(rest))], &body); err != nil {
			return c, nil, err
		}
	}
	if a.trailer != "" {
		if err := c.Trailer(fieldsOf(a.trailer)); err != nil {
			return c, nil, err
		}
	}
	r := body.In(transport.Response{})
	return c, r.Body, c.End()
}

func TestCallHasTheStatusAndTheMessage(t *testing.T) {
	tests := map[string]struct {
		answer
		status, replies int
		size            int64
	}{
		"a reply":                     {good(framed(0, 5, "hello")), 0, 1, 5},
		"an empty reply":              {good(framed(0, 0, "")), 0, 1, 0},
		"of a content type":           {answer{http: 200, header: "content-type: Application/gRPC+proto; charset=x", trailer: "grpc-status: 0", body: framed(0, 1, "a")}, 0, 1, 1},
		"a status and no message":     {answer{http: 200, header: "content-type: application/grpc", trailer: "grpc-message: no\ngrpc-status: 16"}, 16, 0, 0},
		"a status after a message":    {answer{http: 200, header: "content-type: application/grpc", trailer: "grpc-status: 5", body: framed(0, 1, "a")}, 5, 1, 1},
		"trailers only":               {answer{http: 200, header: "content-type: application/grpc\ngrpc-status: 14", trailersOnly: true}, 14, 0, 0},
		"an encoding that is unused":  {answer{http: 200, header: "content-type: application/grpc\ngrpc-encoding: br", trailer: "grpc-status: 0", body: framed(0, 1, "a")}, 0, 1, 1},
		"a stream":                    {streamed(good(slices.Concat(framed(0, 5, "hello"), framed(0, 0, ""), framed(0, 2, "me")))), 0, 3, 7},
		"a stream of nothing":         {streamed(good(nil)), 0, 0, 0},
		"a stream of trailers only":   {streamed(answer{http: 200, header: "content-type: application/grpc\ngrpc-status: 0", trailersOnly: true}), 0, 0, 0},
		"a stream that fails":         {streamed(answer{http: 200, header: "content-type: application/grpc", trailer: "grpc-status: 13", body: slices.Concat(framed(0, 1, "a"), framed(0, 1, "b"))}), 13, 2, 2},
		"a compressed reply":          {zipped(good(framed(1, 5, "hello"))), 0, 1, 5},
		"one that is not compressed":  {zipped(good(framed(0, 5, "hello"))), 0, 1, 5},
		"a stream of which some are":  {streamed(zipped(good(slices.Concat(framed(0, 1, "a"), framed(1, 1, "b"), framed(0, 1, "c"))))), 0, 3, 3},
		"no encoding, none is needed": {answer{http: 200, header: "content-type: application/grpc", trailer: "grpc-status: 0", body: framed(0, 1, "a"), may: transport.Replies{Gzip: true}}, 0, 1, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for _, piece := range []int{1, 3, 1000} {
				c, kept, err := tt.read(piece)
				if err != nil || c.Status() != tt.status || !bytes.Equal(kept, tt.body) || c.Size() != tt.size || c.Replies() != int64(tt.replies) {
					t.Errorf("in pieces of %d: status %d, %q, %d replies of %d bytes, %v", piece, c.Status(), kept, c.Replies(), c.Size(), err)
				}
				if got := KeptSize(c.Size(), c.Replies()); got != int64(len(kept)) {
					t.Errorf("in pieces of %d: %d bytes are kept, KeptSize says %d", piece, len(kept), got)
				}
			}
		})
	}
}

// streamed is an answer to a call whose method returns a stream.
func streamed(a answer) answer {
	a.may.Stream = true
	return a
}

// zipped is an answer in gzip to a call that accepts it.
func zipped(a answer) answer {
	a.may.Gzip = true
	a.header += "\ngrpc-encoding: gzip"
	return a
}

func TestCallRefusesWhatIsNoResponse(t *testing.T) {
	with := func(change func(*answer)) answer {
		a := good(framed(0, 5, "hello"))
		change(&a)
		return a
	}
	tests := map[string]struct {
		answer
		want string
	}{
		"a proxy's status":                  {with(func(a *answer) { a.http = 503 }), "status 503 of HTTP, where a call is answered by 200"},
		"no content":                        {with(func(a *answer) { a.http = 204 }), "status 204 of HTTP"},
		"no content type":                   {with(func(a *answer) { a.header = "" }), "the content type is not application/grpc"},
		"a page":                            {with(func(a *answer) { a.header = "content-type: text/html" }), "the content type is not"},
		"another encoding of messages":      {with(func(a *answer) { a.header = "content-type: application/grpc+json" }), "the content type is not"},
		"of the web":                        {with(func(a *answer) { a.header = "content-type: application/grpc-web" }), "the content type is not"},
		"two content types":                 {with(func(a *answer) { a.header += "\ncontent-type: application/grpc" }), "the content type is not"},
		"no trailer":                        {with(func(a *answer) { a.trailer = "" }), "ends without grpc-status"},
		"a trailer without a status":        {with(func(a *answer) { a.trailer = "grpc-message: hello" }), "ends without grpc-status"},
		"a status that is too large":        {with(func(a *answer) { a.trailer = "grpc-status: 17" }), "grpc-status is repeated, or not a number from 0 to 16"},
		"a status that is far too large":    {with(func(a *answer) { a.trailer = "grpc-status: 4294967296" }), "grpc-status is repeated, or not a number"},
		"a negative status":                 {with(func(a *answer) { a.trailer = "grpc-status: -1" }), "grpc-status is repeated, or not a number"},
		"a status with a sign":              {with(func(a *answer) { a.trailer = "grpc-status: +1" }), "grpc-status is repeated, or not a number"},
		"a status with a zero":              {with(func(a *answer) { a.trailer = "grpc-status: 00" }), "grpc-status is repeated, or not a number"},
		"a name of a status":                {with(func(a *answer) { a.trailer = "grpc-status: OK" }), "grpc-status is repeated, or not a number"},
		"an empty status":                   {with(func(a *answer) { a.trailer = "grpc-status: " }), "grpc-status is repeated, or not a number"},
		"two statuses":                      {with(func(a *answer) { a.trailer += "\ngrpc-status: 0" }), "grpc-status is repeated, or not a number"},
		"a status before the message":       {with(func(a *answer) { a.header += "\ngrpc-status: 0" }), "in a header that is not the end"},
		"trailers only without a status":    {answer{http: 200, header: "content-type: application/grpc", trailersOnly: true}, "ends without grpc-status"},
		"trailers only, OK":                 {answer{http: 200, header: "content-type: application/grpc\ngrpc-status: 0", trailersOnly: true}, "status OK without a message"},
		"no message":                        {with(func(a *answer) { a.body = nil }), "status OK without a message"},
		"half a prefix":                     {with(func(a *answer) { a.body = a.body[:3] }), "ends after 3 bytes of a prefix of 5"},
		"a length that is too large":        {with(func(a *answer) { a.body = framed(0, 6, "hello") }), "the message ends 1 bytes before its length of 6"},
		"a length that is too small":        {with(func(a *answer) { a.body = framed(0, 4, "hello") }), "a second message"},
		"the largest length":                {with(func(a *answer) { a.body = framed(0, 1<<32-1, "") }), "the message ends 4294967295 bytes before"},
		"two messages":                      {with(func(a *answer) { a.body = append(a.body, framed(0, 0, "")...) }), "a second message"},
		"a compressed message":              {with(func(a *answer) { a.body[0] = 1 }), "a compressed message"},
		"a compressed one with an encoding": {with(func(a *answer) { a.body[0] = 1; a.header += "\ngrpc-encoding: gzip" }), "a compressed message"},
		"a compressed one, no encoding":     {with(func(a *answer) { a.body[0] = 1; a.may.Gzip = true }), "and its grpc-encoding is not gzip"},
		"a compressed one of another":       {with(func(a *answer) { a.body[0] = 1; a.may.Gzip = true; a.header += "\ngrpc-encoding: br" }), "and its grpc-encoding is not gzip"},
		"a compressed one of two encodings": {zipped(with(func(a *answer) { a.body[0] = 1; a.header += "\ngrpc-encoding: gzip" })), "and its grpc-encoding is not gzip"},
		"a compressed one of identity":      {with(func(a *answer) { a.body[0] = 1; a.may.Gzip = true; a.header += "\ngrpc-encoding: identity" }), "and its grpc-encoding is not gzip"},
		"the flag of a later message":       {streamed(with(func(a *answer) { a.body = append(a.body, 2) })), "neither 0 nor 1"},
		"a later message is compressed":     {streamed(with(func(a *answer) { a.body = append(a.body, 1) })), "a compressed message, although"},
		"a stream cut in a prefix":          {streamed(with(func(a *answer) { a.body = append(a.body, 0, 0) })), "ends after 2 bytes of a prefix"},
		"a stream cut in a message":         {streamed(with(func(a *answer) { a.body = append(a.body, framed(0, 3, "ab")...) })), "the message ends 1 bytes before its length of 3"},
		"a stream without a trailer":        {streamed(with(func(a *answer) { a.trailer = "" })), "ends without grpc-status"},
		"a stream with an early status":     {streamed(with(func(a *answer) { a.header += "\ngrpc-status: 0" })), "in a header that is not the end"},
		"a flag that is none":               {with(func(a *answer) { a.body[0] = 0x80 }), "neither 0 nor 1"},
		"an error with a message cut short": {with(func(a *answer) { a.body, a.trailer = framed(0, 9, "x"), "grpc-status: 13" }), "the message ends 8 bytes before"},
		"an error with half a prefix":       {with(func(a *answer) { a.body, a.trailer = []byte{0}, "grpc-status: 13" }), "ends after 1 bytes of a prefix"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for _, piece := range []int{1, 4, 1000} {
				if _, _, err := tt.read(piece); err == nil || !strings.HasPrefix(err.Error(), "malformed gRPC: ") || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("in pieces of %d: %v, want %q", piece, err, tt.want)
				}
			}
		})
	}
}

// What is kept of the text that goes with a status is whatever the target sent there.
func TestMessageOfAStatusIsDecodedIfItIsKept(t *testing.T) {
	for value, want := range map[string]string{
		"no such cart": "no such cart", "caf%C3%A9 100%25": "café 100%", "50% + %zz": "50% + %zz", "%1b[31m%0A": "\x1b[31m\n", "": "",
	} {
		for _, kept := range []bool{true, false} {
			f := Fields{KeepMessage: kept}
			f.Add("grpc-status", "5")
			f.Add("grpc-message", value)
			var c Call
			must.Succeed(t, c.Trailer(f))
			if got := c.Message(); kept && got != want || !kept && got != "" {
				t.Errorf("%q, kept: %v: %q, want %q", value, kept, got, want)
			}
		}
	}
}

func TestTimeoutHasAtMostEightDigits(t *testing.T) {
	for d, want := range map[time.Duration]string{
		time.Nanosecond: "1n", time.Millisecond: "1000000n", 99_999_999: "99999999n", 100 * time.Millisecond: "100000u",
		30 * time.Second: "30000000u", 100 * time.Second: "100000m", 10 * time.Minute: "600000m", 100 * 24 * time.Hour: "99999999m",
	} {
		if got := Timeout(d); got != want {
			t.Errorf("Timeout(%v) = %s, want %s", d, got, want)
		}
	}
}

// FuzzCall: however a body is divided into pieces, it means the same, and what is kept of
// it is whole messages of the lengths that their prefixes say.
func FuzzCall(f *testing.F) {
	f.Add(framed(0, 5, "hello"), uint8(3), int8(0), false, false)
	f.Add(framed(0, 0, ""), uint8(1), int8(0), false, false)
	f.Add(framed(1, 5, "hello"), uint8(2), int8(0), false, true)
	f.Add(framed(0, 4, "hello"), uint8(6), int8(13), false, false)
	f.Add(framed(0, 1<<32-1, "hello"), uint8(200), int8(0), true, false)
	f.Add(append(framed(0, 1, "a"), framed(1, 1, "b")...), uint8(4), int8(16), true, true)
	f.Add([]byte{0, 0}, uint8(1), int8(5), false, false)
	f.Add([]byte{}, uint8(1), int8(0), true, true)
	f.Fuzz(func(t *testing.T, body []byte, piece uint8, status int8, stream, compressed bool) {
		a := good(body)
		a.may.Stream = stream
		if compressed {
			a = zipped(a)
		}
		a.trailer = "grpc-status: " + strconv.Itoa(int(status))
		whole, kept, err := a.read(len(body) + 1)
		pieces, keptOf, errOf := a.read(int(piece) + 1)
		if (err == nil) != (errOf == nil) || err != nil && err.Error() != errOf.Error() || !bytes.Equal(kept, keptOf) {
			t.Fatalf("in one piece %q, %v, in pieces of %d %q, %v", kept, err, int(piece)+1, keptOf, errOf)
		}
		if err != nil {
			return
		}
		if whole.Status() != pieces.Status() || !measure.IsGRPC(whole.Status()) {
			t.Fatalf("status %d or %d", whole.Status(), pieces.Status())
		}
		if !bytes.Equal(body, kept) {
			t.Fatalf("%q is kept of %q", kept, body)
		}
		replies, size := whole.Replies(), whole.Size()
		for len(kept) > 0 {
			var m Message
			m, kept = Cut(kept)
			replies, size = replies-1, size-int64(len(m.Bytes))
			if m.Compressed && !compressed {
				t.Fatal("a compressed message that was not accepted")
			}
		}
		if replies != 0 || size != 0 {
			t.Fatalf("of %d replies and %d bytes, %d and %d are not kept", whole.Replies(), whole.Size(), replies, size)
		}
		if !stream && (whole.Replies() > 1 || whole.Replies() == 0 && whole.Status() == measure.GRPCOK) {
			t.Fatalf("status %d with %d replies", whole.Status(), whole.Replies())
		}
	})
}
