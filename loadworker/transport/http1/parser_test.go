package http1

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// outcome is the result of parsing some bytes.
type outcome struct {
	Status   int
	Body     string
	Reusable bool
	// Rest is the bytes that the parser did not take.
	Rest string
	// Err is the error's text, or where the bytes ended: "whole", "more".
	Err string
}

// feed passes a parser a text in pieces, each after the rest of the last, and ends the
// connection if the response is not whole.
func feed(pieces []string, head bool) outcome {
	var p parser
	p.begin(head, math.MaxInt, false)
	var held []byte
	for _, piece := range pieces {
		held = append(held, piece...)
		n, err := p.parse(held)
		held = held[n:]
		if err != nil {
			return outcome{Err: failure.Message(err, true)}
		}
	}
	err := p.end()
	if err != nil {
		return outcome{Err: err.Error()}
	}
	if r := p.response(); r.Size != int64(len(r.Body)) {
		return outcome{Err: fmt.Sprintf("size %d of a body of %d bytes", r.Size, len(r.Body))}
	}
	return outcome{Status: p.status, Body: string(p.response().Body), Reusable: p.reusable(), Rest: string(held)}
}

// complete is the outcome of a response of status 200 after which the connection is used again.
func complete(body string) outcome { return outcome{Status: 200, Body: body, Reusable: true} }

// malformedAs is the outcome of a text that is no part of a response of that kind.
func malformedAs(part, text string) outcome {
	return outcome{Err: fmt.Sprintf("malformed HTTP response: %s of %d bytes; the target sent %q", part, len(text), text)}
}

// lines joins lines as HTTP does.
func lines(l ...string) string { return strings.Join(l, "\r\n") }

const chunkedHeader = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

// parses are responses, each with the bytes that follow it on the connection.
var parses = map[string]struct {
	text string
	head bool
	want outcome
}{
	"a body of known length": {text: lines("HTTP/1.1 200 OK", "Content-Length: 5", "", "hello"), want: complete("hello")},
	"a body of length 0": {
		text: lines("HTTP/1.1 200 OK", "Content-Length: 0", "", "GARBAGE"),
		want: outcome{Status: 200, Reusable: true, Rest: "GARBAGE"},
	},
	"garbage after the body": {
		text: lines("HTTP/1.1 404 Not Found", "content-length:\t2 ", "", "noGARBAGE"),
		want: outcome{Status: 404, Body: "no", Reusable: true, Rest: "GARBAGE"},
	},
	"no reason": {text: lines("HTTP/1.1 200", "Content-Length: 0", "", ""), want: complete("")},
	"an empty reason, and bytes beyond ASCII": {
		text: lines("HTTP/1.1 599 ", "X: \xc3\xa9", "Content-Length: 0", "", ""),
		want: outcome{Status: 599, Reusable: true},
	},
	"lines that end in LF":  {text: "HTTP/1.1 200 OK\nContent-Length: 2\n\nok", want: complete("ok")},
	"the same length twice": {text: lines("HTTP/1.1 200 OK", "Content-Length: 2", "Content-Length: 2", "", "ok"), want: complete("ok")},
	"two lengths": {
		text: lines("HTTP/1.1 200 OK", "Content-Length: 2", "Content-Length: 3", "", "ok"),
		want: outcome{Err: `malformed HTTP response: Content-Length of 1 bytes is empty, or not the one before; the target sent "3"`},
	},
	"a list of lengths": {text: lines("HTTP/1.1 200 OK", "Content-Length: 2, 2", "", "ok"), want: malformedAs("Content-Length", "2, 2")},
	"an empty length": {
		text: lines("HTTP/1.1 200 OK", "Content-Length:", "", ""),
		want: outcome{Err: `malformed HTTP response: Content-Length of 0 bytes is empty, or not the one before; the target sent ""`},
	},
	"a negative length": {text: lines("HTTP/1.1 200 OK", "Content-Length: -1", "", ""), want: malformedAs("Content-Length", "-1")},
	"a length beyond 63 bits": {
		text: lines("HTTP/1.1 200 OK", "Content-Length: 9223372036854775808", "", ""),
		want: malformedAs("Content-Length", "9223372036854775808"),
	},
	"until the connection closes": {text: lines("HTTP/1.1 200 OK", "X: y", "", "all of it"), want: outcome{Status: 200, Body: "all of it"}},
	"chunks with extensions and trailers": {
		text: chunkedHeader + lines("4;name=value", "Wiki", "A \t", "pedia in c", "000;last", "Digest: x", "X: y", "", "GARBAGE"),
		want: outcome{Status: 200, Body: "Wikipedia in c", Reusable: true, Rest: "GARBAGE"},
	},
	"no chunk": {text: chunkedHeader + lines("0", "", "GARBAGE"), want: outcome{Status: 200, Reusable: true, Rest: "GARBAGE"}},
	"chunks beside a length": {
		text: lines("HTTP/1.1 200 OK", "Content-Length: 7", "transfer-encoding: CHUNKED", "", "2", "ok", "0", "", ""),
		want: outcome{Status: 200, Body: "ok"},
	},
	"a chunk size that is none":    {text: chunkedHeader + "2g\r\nok\r\n", want: malformedAs("chunk size", "2g\r")},
	"an empty chunk size":          {text: chunkedHeader + ";x\r\n", want: malformedAs("chunk size", ";x\r")},
	"a chunk size beyond 60 bits":  {text: chunkedHeader + "1000000000000000\r\n", want: malformedAs("chunk size", "1000000000000000\r")},
	"a chunk size that ends in LF": {text: chunkedHeader + "2\nok\r\n", want: malformedAs("chunk size", "2")},
	"a chunk that is too long":     {text: chunkedHeader + "2\r\nok!\r\n", want: malformedAs("chunk end", "!\r")},
	"a trailer that is none":       {text: chunkedHeader + "0\r\nno trailer\r\n", want: malformedAs("header", "no trailer")},
	"a trailer that ends in LF":    {text: chunkedHeader + "0\r\n\n", want: malformedAs("trailer", "")},
	"an unknown coding": {
		text: lines("HTTP/1.1 200 OK", "Transfer-Encoding: gzip, chunked", "", ""),
		want: malformedAs("transfer coding", "gzip, chunked"),
	},
	"chunked twice": {
		text: lines("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "Transfer-Encoding: chunked", "", ""),
		want: malformedAs("transfer coding", "chunked"),
	},
	"chunks in HTTP/1.0": {
		text: lines("HTTP/1.0 200 OK", "Transfer-Encoding: chunked", "", ""),
		want: outcome{Err: "malformed HTTP response: transfer coding in HTTP/1.0"},
	},
	"interim responses": {
		text: lines("HTTP/1.1 100 Continue", "", "HTTP/1.1 103 Early Hints", "Content-Length: 9", "Connection: close", "",
			"HTTP/1.1 201 Created", "Content-Length: 2", "", "ok"),
		want: outcome{Status: 201, Body: "ok", Reusable: true},
	},
	"another protocol": {text: lines("HTTP/1.1 101 Switching Protocols", "", "bytes"), want: outcome{Status: 101, Rest: "bytes"}},
	"204 has no body": {
		text: lines("HTTP/1.1 204 No Content", "Content-Length: 3", "", "HTT"),
		want: outcome{Status: 204, Reusable: true, Rest: "HTT"},
	},
	"304 has no body":                       {text: lines("HTTP/1.1 304 Not Modified", "Transfer-Encoding: chunked", "", ""), want: outcome{Status: 304, Reusable: true}},
	"the answer to HEAD has no body":        {text: lines("HTTP/1.1 200 OK", "Content-Length: 300", "", ""), head: true, want: complete("")},
	"the answer to HEAD in chunks has none": {text: lines("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "", ""), head: true, want: complete("")},
	"the server will close": {
		text: lines("HTTP/1.1 200 OK", "Connection: upgrade , Close", "Content-Length: 2", "", "ok"),
		want: outcome{Status: 200, Body: "ok"},
	},
	"HTTP/1.0":                  {text: lines("HTTP/1.0 200 OK", "Content-Length: 2", "", "ok"), want: outcome{Status: 200, Body: "ok"}},
	"HTTP/1.0 that is kept":     {text: lines("HTTP/1.0 200 OK", "Content-Length: 2", "Connection: Keep-Alive", "", "ok"), want: complete("ok")},
	"another server":            {text: "SSH-2.0-OpenSSH_9.2\r\n", want: malformedAs("status line", "SSH-2.0-OpenSSH_9.2")},
	"another version":           {text: "HTTP/2.0 200 OK\r\n", want: malformedAs("status line", "HTTP/2.0 200 OK")},
	"a status of two digits":    {text: "HTTP/1.1 20\r\n", want: malformedAs("status line", "HTTP/1.1 20")},
	"a status of four digits":   {text: "HTTP/1.1 2000 OK\r\n", want: malformedAs("status line", "HTTP/1.1 2000 OK")},
	"a status of letters":       {text: "HTTP/1.1 2x0 OK\r\n", want: malformedAs("status line", "HTTP/1.1 2x0 OK")},
	"a status below 100":        {text: "HTTP/1.1 099 Low\r\n", want: outcome{Err: "response status is not within 100 to 999"}},
	"a CR within a line":        {text: "HTTP/1.1 200 O\rK\r\n", want: malformedAs("status line", "HTTP/1.1 200 O\rK")},
	"a folded line":             {text: lines("HTTP/1.1 200 OK", "X: a", " b: c", ""), want: malformedAs("header", " b: c")},
	"a header without a colon":  {text: lines("HTTP/1.1 200 OK", "X", ""), want: malformedAs("header", "X")},
	"a header without a name":   {text: lines("HTTP/1.1 200 OK", ": x", ""), want: malformedAs("header", ": x")},
	"a space before the colon":  {text: lines("HTTP/1.1 200 OK", "X : x", ""), want: malformedAs("header", "X : x")},
	"a control in a value":      {text: lines("HTTP/1.1 200 OK", "X: \x00", ""), want: malformedAs("header", "X: \x00")},
	"nothing":                   {text: "", want: outcome{Err: "unexpected EOF"}},
	"half a status line":        {text: "HTTP/1.1 2", want: outcome{Err: "unexpected EOF"}},
	"half a header":             {text: "HTTP/1.1 200 OK\r\n", want: outcome{Err: "unexpected EOF"}},
	"half a body":               {text: lines("HTTP/1.1 200 OK", "Content-Length: 4", "", "ok"), want: outcome{Err: "unexpected EOF"}},
	"half a chunk":              {text: chunkedHeader + "4\r\nok", want: outcome{Err: "unexpected EOF"}},
	"chunks without an end":     {text: chunkedHeader + "2\r\nok\r\n", want: outcome{Err: "unexpected EOF"}},
	"trailers without an end":   {text: chunkedHeader + "0\r\nX: y\r\n", want: outcome{Err: "unexpected EOF"}},
	"interim responses only":    {text: "HTTP/1.1 100 Continue\r\n\r\n", want: outcome{Err: "unexpected EOF"}},
	"a long line that is wrong": {text: strings.Repeat("x", 100) + "\n", want: outcome{Err: fmt.Sprintf("malformed HTTP response: status line of 100 bytes; the target sent %q", strings.Repeat("x", 77)+"…")}},
}

func TestParseFramesResponses(t *testing.T) {
	for name, tt := range parses {
		t.Run(name, func(t *testing.T) {
			same.As(t, "in one piece", tt.want, feed([]string{tt.text}, tt.head))
			same.As(t, "byte by byte", tt.want, feed(strings.Split(tt.text, ""), tt.head))
			for i := range tt.text {
				same.As(t, fmt.Sprintf("in two pieces, %d and %d bytes", i, len(tt.text)-i), tt.want, feed([]string{tt.text[:i], tt.text[i:]}, tt.head))
			}
		})
	}
}

func TestParseKeepsAsMuchAsIsAsked(t *testing.T) {
	const text = chunkedHeader + "4\r\nWiki\r\n5\r\npedia\r\n0\r\n\r\n"
	tests := map[int]string{0: "", 1: "W", 4: "Wiki", 6: "Wikipe", 9: "Wikipedia", 10: "Wikipedia"}
	for keep, want := range tests {
		var p parser
		p.begin(false, keep, false)
		if _, err := p.parse([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if r := p.response(); string(r.Body) != want || r.Size != 9 || r.Status != 200 {
			t.Errorf("keep %d: %d, %q of %d bytes; want %q of 9", keep, r.Status, r.Body, r.Size, want)
		}
	}
}

func TestParseBoundsTheHeader(t *testing.T) {
	tests := map[string]struct {
		start, again string
		want         error
	}{
		"a status line without an end":     {"HTTP/1.1 200 ", "x", errLineTooLong},
		"a field without an end":           {"HTTP/1.1 200 OK\r\nX: ", "x", errLineTooLong},
		"a chunk extension without an end": {chunkedHeader + "1;", "x", errLineTooLong},
		"headers without an end":           {"HTTP/1.1 200 OK\r\n", "X: y\r\n", errHeaderTooLarge},
		"interim responses":                {"", "HTTP/1.1 100 Continue\r\n\r\n", errHeaderTooLarge},
		"chunk extensions":                 {chunkedHeader, "1;extension\r\nx\r\n", errHeaderTooLarge},
		"short chunk extensions":           {chunkedHeader, "1;x\r\nx\r\n", errHeaderTooLarge},
		"trailers":                         {chunkedHeader + "0\r\n", "X: y\r\n", errHeaderTooLarge},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var p parser
			p.begin(false, 0, false)
			again := strings.Repeat(tt.again, 4096/len(tt.again))
			held, maxShown, err := []byte(tt.start), 0, error(nil)
			for err == nil && maxShown < 4*transport.MaxHeader {
				held = append(held, again...)
				maxShown += len(again)
				var n int
				n, err = p.parse(held)
				held = held[n:]
			}
			if !errors.Is(err, tt.want) {
				t.Errorf("after %d bytes: %v, want %v", maxShown, err, tt.want)
			}
		})
	}
}

// No byte is searched twice: a line that arrives byte by byte would otherwise cost the
// square of its length.
func TestParseLooksAtEachByteOnce(t *testing.T) {
	var p parser
	p.begin(false, 0, false)
	if _, err := p.parse([]byte("HTTP/1.1 200 ")); err != nil {
		t.Fatal(err)
	}
	// A second search would find a line end in the bytes that were searched.
	if n, err := p.parse([]byte("HTTP/1.1\n200 OK")); n != 0 || err != nil {
		t.Errorf("took %d bytes, %v; want none", n, err)
	}
}

func TestParserAllocatesNothing(t *testing.T) {
	text := []byte(lines("HTTP/1.1 200 OK", "Date: Fri, 20 Nov 2026 10:00:00 GMT", "Content-Type: text/plain",
		"Transfer-Encoding: chunked", "Connection: keep-alive", "", "5", "hello", "0", "", ""))
	var p parser
	got := testing.AllocsPerRun(100, func() {
		p.begin(false, 64, false)
		if _, err := p.parse(text); err != nil || !p.reusable() {
			t.Errorf("reusable %v, %v", p.reusable(), err)
		}
	})
	if got != 0 {
		t.Errorf("%v allocations for a response, want 0", got)
	}
}

func BenchmarkParse(b *testing.B) {
	text := []byte(lines("HTTP/1.1 200 OK", "Server: nginx", "Date: Fri, 20 Nov 2026 10:00:00 GMT",
		"Content-Type: application/json", "Content-Length: 27", "Connection: keep-alive", "", `{"id":"42","name":"a name"}`))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	var p parser
	for b.Loop() {
		p.begin(false, 0, false)
		if n, err := p.parse(text); n != len(text) || err != nil {
			b.Fatal(n, err)
		}
	}
}
