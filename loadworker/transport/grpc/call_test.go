package grpc

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// answer is a response: its status of HTTP, header, body and trailer.
type answer struct {
	http            int
	header, trailer string // of "name: value" lines
	body            []byte
	trailersOnly    bool
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
		status int
		want   string
	}{
		"a reply":                  {good(framed(0, 5, "hello")), 0, "hello"},
		"an empty reply":           {good(framed(0, 0, "")), 0, ""},
		"of a content type":        {answer{http: 200, header: "content-type: Application/gRPC+proto; charset=x", trailer: "grpc-status: 0", body: framed(0, 1, "a")}, 0, "a"},
		"a status and no message":  {answer{http: 200, header: "content-type: application/grpc", trailer: "grpc-message: no\ngrpc-status: 16"}, 16, ""},
		"a status after a message": {answer{http: 200, header: "content-type: application/grpc", trailer: "grpc-status: 5", body: framed(0, 1, "a")}, 5, "a"},
		"trailers only":            {answer{http: 200, header: "content-type: application/grpc\ngrpc-status: 14", trailersOnly: true}, 14, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for _, piece := range []int{1, 3, 1000} {
				c, kept, err := tt.read(piece)
				if err != nil || c.Status() != tt.status || string(kept) != tt.want || c.Size() != int64(len(tt.want)) {
					t.Errorf("in pieces of %d: status %d, %q of %d bytes, %v", piece, c.Status(), kept, c.Size(), err)
				}
			}
		})
	}
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
		"a status that is too large":        {with(func(a *answer) { a.trailer = "grpc-status: 17" }), "grpc-status is repeated, or no number from 0 to 16"},
		"a status that is far too large":    {with(func(a *answer) { a.trailer = "grpc-status: 4294967296" }), "grpc-status is repeated, or no number"},
		"a negative status":                 {with(func(a *answer) { a.trailer = "grpc-status: -1" }), "grpc-status is repeated, or no number"},
		"a status with a sign":              {with(func(a *answer) { a.trailer = "grpc-status: +1" }), "grpc-status is repeated, or no number"},
		"a status with a zero":              {with(func(a *answer) { a.trailer = "grpc-status: 00" }), "grpc-status is repeated, or no number"},
		"a name of a status":                {with(func(a *answer) { a.trailer = "grpc-status: OK" }), "grpc-status is repeated, or no number"},
		"an empty status":                   {with(func(a *answer) { a.trailer = "grpc-status: " }), "grpc-status is repeated, or no number"},
		"two statuses":                      {with(func(a *answer) { a.trailer += "\ngrpc-status: 0" }), "grpc-status is repeated, or no number"},
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
// it is one message of the length that its prefix says.
func FuzzCall(f *testing.F) {
	f.Add(framed(0, 5, "hello"), uint8(3), int8(0))
	f.Add(framed(0, 0, ""), uint8(1), int8(0))
	f.Add(framed(1, 5, "hello"), uint8(2), int8(0))
	f.Add(framed(0, 4, "hello"), uint8(6), int8(13))
	f.Add(framed(0, 1<<32-1, "hello"), uint8(200), int8(0))
	f.Add(append(framed(0, 1, "a"), framed(0, 1, "b")...), uint8(4), int8(16))
	f.Add([]byte{0, 0}, uint8(1), int8(5))
	f.Fuzz(func(t *testing.T, body []byte, piece uint8, status int8) {
		a := good(body)
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
		if len(body) > 0 && !bytes.Equal(body, framed(0, uint32(len(kept)), string(kept))) {
			t.Fatalf("%q is kept of %q", kept, body)
		}
		if len(body) == 0 && whole.Status() == measure.GRPCOK {
			t.Fatal("OK without a message")
		}
	})
}
