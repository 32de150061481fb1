package event

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
)

// formats are those of bodies, and of bodies in chunks.
var formats = map[string]transport.EventFormat{
	"server-sent events": transport.ServerSentEvents, "lines": transport.Lines, "chunks": transport.Chunks, "messages": transport.Messages,
}

const mark3 = "\xef\xbb\xbf"

// splits are bodies and the data of their events.
var splits = []struct {
	name   string
	format transport.EventFormat
	body   string
	events string // each after a bar
}{
	{"one", transport.ServerSentEvents, "data: a\n\n", "|a"},
	{"two", transport.ServerSentEvents, "data: a\n\ndata: b\n\n", "|a|b"},
	{"lines of one", transport.ServerSentEvents, "data: a\ndata: b\ndata:\n\n", "|a\nb\n"},
	{"no space", transport.ServerSentEvents, "data:a\n\n", "|a"},
	{"two spaces", transport.ServerSentEvents, "data:  a \n\n", "| a "},
	{"CRLF", transport.ServerSentEvents, "data: a\r\n\r\ndata: b\r\n\r\n", "|a|b"},
	{"CR", transport.ServerSentEvents, "data: a\r\rdata: b\r\r", "|a|b"},
	{"each end of a line", transport.ServerSentEvents, "data: a\rdata: b\r\ndata: c\n\r", "|a\nb\nc"},
	{"LF and CR are two ends", transport.ServerSentEvents, "data: a\n\rdata: b\n\r", "|a|b"},
	{"a byte order mark", transport.ServerSentEvents, mark3 + "data: a\n\n", "|a"},
	{"one before an empty line", transport.ServerSentEvents, mark3 + "\n\ndata: a\n\n", "|a"},
	{"two byte order marks", transport.ServerSentEvents, mark3 + mark3 + "data: a\n\n", ""},
	{"half a byte order mark", transport.ServerSentEvents, "\xef\xbbdata: a\n\ndata: b\n\n", "|b"},
	{"half a byte order mark, and data", transport.ServerSentEvents, "data: a\n\xef\xbb\ndata: b\n\n", "|a\nb"},
	{"half a byte order mark in the first line", transport.ServerSentEvents, "\xef\xbb\ndata: b\n\n", "|b"},
	{"a byte order mark later", transport.ServerSentEvents, "data: a\n\n" + mark3 + "data: b\n\n", "|a"},
	{"comments", transport.ServerSentEvents, ": hi\n\n:\n\n: data: a\n\ndata: b\n\n", "|b"},
	{"other fields", transport.ServerSentEvents, "event: ping\nid: 7\nretry: 10\n\ndata: a\nevent: x\n\n", "|a"},
	{"names that are longer, shorter, or of another case", transport.ServerSentEvents, "dat: a\n\ndatax: b\n\nData: c\n\n data: d\n\ndata : e\n\n", ""},
	{"a name alone", transport.ServerSentEvents, "data\n\ndata\ndata\n\ndata:\n\n", "||\n|"},
	{"an event without an end", transport.ServerSentEvents, "data: a\n\ndata: b\n", "|a"},
	{"a line without an end", transport.ServerSentEvents, "data: a\n\ndata: b", "|a"},
	{"empty lines", transport.ServerSentEvents, "\n\n\r\r\r\n\r\n", ""},
	{"no UTF-8", transport.ServerSentEvents, "data: \xff\xfe\x00\n\n\xff\xff\n\n", "|\xff\xfe\x00"},
	{"a line that is long", transport.ServerSentEvents, "data: " + strings.Repeat("a", 100) + "\n\n", "|" + strings.Repeat("a", 100)},

	{"lines", transport.Lines, "{}\n[]\n", "|{}|[]"},
	{"lines that end in CRLF", transport.Lines, "{}\r\n[]\r\n", "|{}|[]"},
	{"blank lines", transport.Lines, "\n \n\t\r\n{}\n\r\n\n", "|{}"},
	{"the last line has no end", transport.Lines, "a\nb", "|a|b"},
	{"the last line is blank", transport.Lines, "a\n ", "|a"},
	{"CR within lines", transport.Lines, "a\rb\n\rc\n\r\rd\r\r\n", "|a\rb|\rc|\r\rd\r"},
	{"spaces of a line", transport.Lines, "  a \n", "|  a "},

	{"messages", transport.Messages, "\x00\x00\x00\x00\x02ab\x01\x00\x00\x00\x01c", "|ab|c"},
	{"empty messages", transport.Messages, "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", "||"},
	{"a message that is not whole", transport.Messages, "\x00\x00\x00\x00\x01a\x00\x00\x00\x00\x02b", "|a"},
	{"a prefix that is not whole", transport.Messages, "\x00\x00\x00\x00\x01a\x00\x00", "|a"},
	{"a message of 4 GB", transport.Messages, "\x00\xff\xff\xff\xffaaaaaaaaaaaaaaaaaaaaaaaaa", ""},
}

// split is how many events a body has in pieces, and whether the last one came.
func split(format transport.EventFormat, until string, pieces ...string) (events int, ended bool) {
	var s splitter
	s.begin(&transport.Stream{Events: format, Until: until}, false)
	for _, p := range pieces {
		events += s.take([]byte(p))
	}
	return events + s.endBody(), s.ended
}

func TestEventsAreSplit(t *testing.T) {
	for _, tt := range splits {
		t.Run(tt.name, func(t *testing.T) {
			want := strings.Count(tt.events, "|")
			data := strings.Split(tt.events, "|")[1:]
			for i := range len(tt.body) + 1 {
				for k := i; k <= len(tt.body); k++ {
					pieces := []string{tt.body[:i], tt.body[i:k], tt.body[k:]}
					if got, ended := split(tt.format, "", pieces...); got != want || ended {
						t.Fatalf("%q has %d events, ended %v; want %d", pieces, got, ended, want)
					}
					for n, until := range data {
						first := indexOf(data, until) + 1
						if got, ended := split(tt.format, until, pieces...); until != "" && (got != first || !ended) {
							t.Fatalf("%q until %q has %d events, ended %v; want that event %d is the last (%d)", pieces, until, got, ended, first, n)
						}
						if got, ended := split(tt.format, until+"x", pieces...); got != want || ended {
							t.Fatalf("%q until %q has %d events, ended %v; want %d", pieces, until+"x", got, ended, want)
						}
					}
				}
			}
			if got, _ := split(tt.format, "", strings.Split(tt.body, "")...); got != want {
				t.Errorf("%q byte by byte has %d events, want %d", tt.body, got, want)
			}
			if got := fmt.Sprintf("|%s", strings.Join(reference(tt.format, tt.body), "|")); want > 0 && got != tt.events {
				t.Errorf("the reference has the events %q, want %q", got, tt.events)
			}
		})
	}
}

func indexOf(list []string, s string) int {
	for i, other := range list {
		if other == s {
			return i
		}
	}
	return -1
}

// reference is the data of the events of a body, in the words of the standards.
func reference(format transport.EventFormat, body string) (events []string) {
	switch format {
	case transport.Lines:
		for _, line := range strings.Split(body, "\n") {
			if strings.Trim(line, " \t\r") != "" {
				events = append(events, strings.TrimSuffix(line, "\r"))
			}
		}
	case transport.Messages:
		for len(body) >= 5 {
			n := int(body[1])<<24 | int(body[2])<<16 | int(body[3])<<8 | int(body[4])
			if body = body[5:]; len(body) < n {
				break
			}
			events = append(events, body[:n])
			body = body[n:]
		}
	case transport.ServerSentEvents:
		body = strings.TrimPrefix(body, mark3)
		body = strings.ReplaceAll(strings.ReplaceAll(body, "\r\n", "\n"), "\r", "\n")
		lines := strings.Split(body, "\n")
		buffer := ""
		for _, line := range lines[:len(lines)-1] {
			field, value, _ := strings.Cut(line, ":")
			switch {
			case line == "" && buffer != "":
				events = append(events, strings.TrimSuffix(buffer, "\n"))
				buffer = ""
			case line != "" && field == "data":
				buffer += strings.TrimPrefix(value, " ") + "\n"
			}
		}
	}
	return events
}

// FuzzSplit: the events of any body are those of the reference, in whatever pieces it comes, and none
// comes after that of until.
func FuzzSplit(f *testing.F) {
	for _, tt := range splits {
		f.Add(uint8(tt.format), tt.body, "a", uint16(3), uint16(1))
	}
	f.Add(uint8(0), strings.Repeat("data: x\r\n\r\n", 9), "x", uint16(5), uint16(2))
	f.Fuzz(func(t *testing.T, format uint8, body, until string, first, then uint16) {
		of := transport.EventFormat(format % 4)
		var pieces []string
		for rest, n := body, int(first); rest != ""; n = int(then) {
			n = min(max(n, 1), len(rest))
			pieces = append(pieces, rest[:n])
			rest = rest[n:]
		}
		want := reference(of, body)
		last := -1
		if until != "" {
			last = indexOf(want, until)
		}
		if last >= 0 {
			want = want[:last+1]
		}
		got, ended := split(of, until, pieces...)
		if of != transport.Chunks && (got != len(want) || ended != (last >= 0)) {
			t.Errorf("%v %q until %q: %d events, ended %v; want %d, %q", of, pieces, until, got, ended, len(want), want)
		}
		if got > 0 && of == transport.Chunks {
			t.Errorf("%d events although no chunk has ended", got)
		}
	})
}

// A chunk is an event whatever the reads, and where there are no chunks each read is one.
func TestChunksAreEvents(t *testing.T) {
	for name, chunks := range map[string]bool{"in chunks": true, "not in chunks": false} {
		t.Run(name, func(t *testing.T) {
			var s splitter
			s.begin(&transport.Stream{Events: transport.Chunks, Until: "last"}, chunks)
			got := []int{}
			for _, piece := range []string{"a", "", "la", "st", "last", "more"} {
				n := s.take([]byte(piece))
				if chunks && piece != "la" {
					n += s.endChunk()
				}
				got = append(got, n+s.endRead())
			}
			want := "[1 0 1 1 1 0]" // each read but the empty one, and what follows the last one
			if chunks {
				want = "[1 0 0 1 0 0]" // "la" and "st" are a chunk
			}
			if fmt.Sprint(got) != want || !s.ended {
				t.Errorf("%v, ended %v; want %s", got, s.ended, want)
			}
		})
	}
}

// Nothing is kept of an event, however long.
func TestSplittingKeepsNothing(t *testing.T) {
	for name, format := range formats {
		piece := []byte(strings.Repeat("a", 1<<20))
		var s splitter
		s.begin(&transport.Stream{Events: format, Until: "[DONE]"}, true)
		s.take([]byte("data: "))
		if n := testing.AllocsPerRun(10, func() { s.take(piece) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// The data of the latest event are kept, in whichever pieces they come, unless they are too long; those of
// the last one are not.
func TestDataOfTheLatestEventAreKept(t *testing.T) {
	const limit = 64
	for _, tt := range splits {
		all := strings.Split(tt.events, "|")[1:]
		latest := func(n int) string {
			if n < 1 || len(all[n-1]) > limit {
				return ""
			}
			return all[n-1]
		}
		var s splitter
		for cut := range len(tt.body) + 1 {
			s.begin(&transport.Stream{Events: tt.format, Keep: limit}, false)
			s.take([]byte(tt.body[:cut]))
			s.take([]byte(tt.body[cut:]))
			s.endBody()
			if want := latest(len(all)); string(s.kept.latest) != want {
				t.Fatalf("%s, cut at %d: %q, want %q", tt.name, cut, s.kept.latest, want)
			}
			if len(all) == 0 || all[len(all)-1] == "" {
				continue
			}
			until := all[len(all)-1]
			s.begin(&transport.Stream{Events: tt.format, Keep: limit, Until: until}, false)
			s.take([]byte(tt.body[:cut]))
			s.take([]byte(tt.body[cut:]))
			s.endBody()
			if want := latest(slices.Index(all, until)); string(s.kept.latest) != want {
				t.Fatalf("%s until %q, cut at %d: %q, want %q", tt.name, until, cut, s.kept.latest, want)
			}
		}
	}
}

// Messages of WebSocket end where their client says, whatever comes in between, and a number of them may be the last.
func TestMessagesOfWebSocketAreEvents(t *testing.T) {
	for name, tt := range map[string]struct {
		stream transport.Stream
		want   string
	}{
		"any":      {transport.Stream{}, "1 2 3 4 false"},
		"until":    {transport.Stream{Until: "last"}, "1 2 3 3 true"},
		"two":      {transport.Stream{Count: 2}, "1 2 2 2 true"},
		"four":     {transport.Stream{Count: 4}, "1 2 3 4 true"},
		"whatever": {transport.Stream{Until: "last", Count: 2}, "1 2 2 2 true"},
	} {
		t.Run(name, func(t *testing.T) {
			tt.stream.Events = transport.WebSocketMessages
			var r Reader
			r.Begin(&transport.Request{Stream: &tt.stream}, 0)
			r.Header(101, true)
			got := ""
			for _, pieces := range [][]string{{"a", "b"}, nil, {"la", "st"}, {"c"}} {
				for _, p := range pieces {
					r.Body([]byte(p))
				}
				r.EndMessage()
				r.Tell(0)
				got += fmt.Sprint(r.Streamed().Events) + " "
			}
			if got += fmt.Sprint(r.Ended()); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}
