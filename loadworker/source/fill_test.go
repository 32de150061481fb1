package source

import (
	"bytes"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// varied is a message whose variables stand in another order than their fields are encoded.
const varied = `{"responseStatus": {"message": "${uuid} of \"${name}\" ${rand:1-9}", "code": "${rand:0-1}"}, "responseSize": "${rand:0-1000000}", "payload": {"type": "COMPRESSABLE"}}`

// filledBy renders a call of the message varied, for a sequence of requests.
func filledBy(t testing.TB, gzip bool, change func(*form)) (render func(seq int64) []byte) {
	t.Helper()
	call := callOf(t, varied)
	call.Call.Gzip = gzip
	data := rows(t, Sequential, "name", "Ada", `"""\, and more"`, "\u2028")
	s, err := New(Config{Requests: []Request{call}, Tables: []*Table{data}, Seed: 7})
	must.Succeed(t, err)
	change(&s.requests[0].call.messages[0].form)
	var b Buffer
	return func(seq int64) []byte {
		s.Render(&b, 0, Vars{Seq: seq, Order: Order{N: seq, Streams: 1}})
		if b.Request.Err != nil {
			t.Fatal(b.Request.Err)
		}
		return b.Request.Body
	}
}

func TestMessageIsTheSameWithAndWithoutItsPattern(t *testing.T) {
	for _, gzip := range []bool{false, true} {
		with := filledBy(t, gzip, func(f *form) {
			if f.pattern == nil {
				t.Fatal("the message has no pattern")
			}
		})
		without := filledBy(t, gzip, func(f *form) { f.pattern = nil })
		for seq := range int64(100) {
			if got, want := with(seq), without(seq); !bytes.Equal(got, want) {
				t.Fatalf("request %d is %q, without the pattern %q", seq, got, want)
			}
		}
	}
}

func TestMessageWithVariablesIsRenderedWithoutAllocations(t *testing.T) {
	render := filledBy(t, false, func(*form) {})
	seq := int64(0)
	if allocs := testing.AllocsPerRun(100, func() { render(seq); seq++ }); allocs > 0 {
		t.Errorf("%v allocations for a message", allocs)
	}
}
