package event

import (
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
)

type unwatched struct{}

func (unwatched) Came(int, time.Duration) {}

// BenchmarkReader reads tokens of a language model, an event for each read, and what a fast server sends,
// many events for each.
func BenchmarkReader(b *testing.B) {
	const token = `{"id":"chatcmpl-123","object":"chat.completion.chunk","created":1764000000,"choices":[{"index":0,"delta":{"content":" word"}}]}`
	for _, bb := range []struct {
		name   string
		format transport.EventFormat
		event  string
	}{
		{"server-sent events", transport.ServerSentEvents, "data: " + token + "\n\n"},
		{"server-sent events of CRLF", transport.ServerSentEvents, "data: " + token + "\r\n\r\n"},
		{"small server-sent events", transport.ServerSentEvents, "data: a\n\n"},
		{"empty lines", transport.ServerSentEvents, "\r"},
		{"lines", transport.Lines, token + "\n"},
		{"messages", transport.Messages, "\x00\x00\x00\x00\x80" + strings.Repeat("x", 128)},
	} {
		for name, events := range map[string]int{"one by one": 1, "a hundred at once": 100} {
			b.Run(bb.name+", "+name, func(b *testing.B) {
				var r Reader
				r.Begin(&transport.Request{Stream: &transport.Stream{Events: bb.format, Until: "[DONE]", Stall: time.Second}, Watcher: unwatched{}}, time.Hour)
				r.Header(200, true)
				read := []byte(strings.Repeat(bb.event, events))
				b.SetBytes(int64(len(read)))
				b.ReportAllocs()
				for b.Loop() {
					r.Body(read)
					if r.Tell(0) {
						r.At(0)
					}
				}
				b.ReportMetric(float64(b.Elapsed())/float64(b.N*events), "ns/event")
			})
		}
	}
}
