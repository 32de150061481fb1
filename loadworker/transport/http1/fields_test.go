package http1

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// Names and values are those of RFC 9110, no more and no less. A field whose name
// resembles one that frames the body does not frame it.
func TestParseAcceptsTheNamesOfTheRFC(t *testing.T) {
	const length = "Content-Length: 2"
	tests := map[string]struct {
		text string
		want outcome
	}{
		"every byte of a name":                     {text: lines("HTTP/1.1 200 OK", "azAZ09!#$%&'*+-.^_`|~: x", length, "", "ok"), want: complete("ok")},
		"none of a name":                           {text: lines("HTTP/1.1 200 OK", "x(y): x", ""), want: malformedAs("header", "x(y): x")},
		"one beyond ASCII":                         {text: lines("HTTP/1.1 200 OK", "\xc3\xa9: x", ""), want: malformedAs("header", "é: x")},
		"a tab in a value":                         {text: lines("HTTP/1.1 200 OK", "X:\ta\tb", length, "", "ok"), want: complete("ok")},
		"a tab behind a length":                    {text: lines("HTTP/1.1 200 OK", length+"\t", "", "ok"), want: complete("ok")},
		"the highest byte before the last control": {text: lines("HTTP/1.1 200 OK", "X: ~\x80", length, "", "ok"), want: complete("ok")},
		"that control":                             {text: lines("HTTP/1.1 200 OK", "X: \x7f", ""), want: malformedAs("header", "X: \x7f")},
		"the control before the space":             {text: lines("HTTP/1.1 200 OK", "X: \x1f", ""), want: malformedAs("header", "X: \x1f")},
		"names as long as those that matter": {
			text: lines("HTTP/1.1 200 OK", "Connectiom: close", "Content-Lengthy: 9", "Content-Lengtj: 9", "Transfer-Encodinh: gzip", length, "", "ok"),
			want: complete("ok"),
		},
		"options as long as those that matter": {
			text: lines("HTTP/1.1 200 OK", "Connection: clos\xe5, clear,closed", length, "", "ok"),
			want: complete("ok"),
		},
		"an offer as long as that to keep it": {
			text: lines("HTTP/1.0 200 OK", "Connection: keep_alive", length, "", "ok"),
			want: outcome{Status: 200, Body: "ok"},
		},
		"a coding as long as the one that is known": {
			text: lines("HTTP/1.1 200 OK", "Transfer-Encoding: chunkey", "", ""),
			want: malformedAs("transfer coding", "chunkey"),
		},
		"the last of several options": {
			text: lines("HTTP/1.1 200 OK", "Connection: a,,\tcLOSe ", length, "", "ok"),
			want: outcome{Status: 200, Body: "ok"},
		},
		"all digits of a chunk's size": {
			text: chunkedHeader + lines("000000000000001", "x", "A", "0123456789", "a", "0123456789", "F", "0123456789abcde", "f", "0123456789abcde", "0", "", ""),
			want: complete("x0123456789" + "0123456789" + "0123456789abcde" + "0123456789abcde"),
		},
		"a letter before the first":     {text: chunkedHeader + "@\r\n", want: malformedAs("chunk size", "@\r")},
		"a letter after the last":       {text: chunkedHeader + "G\r\n", want: malformedAs("chunk size", "G\r")},
		"a byte before the first digit": {text: chunkedHeader + "/\r\n", want: malformedAs("chunk size", "/\r")},
		"a byte after the last digit":   {text: chunkedHeader + ":\r\n", want: malformedAs("chunk size", ":\r")},
		"the largest length": {
			text: lines("HTTP/1.1 204 No Content", "Content-Length: 9223372036854775799", "", ""),
			want: outcome{Status: 204, Reusable: true},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			same.As(t, "outcome", tt.want, feed([]string{tt.text}, false))
		})
	}
}

// A header may be exactly as long as the bound, in any pieces, and so may a line.
func TestParseTakesTheLongestHeader(t *testing.T) {
	const start, end = "HTTP/1.1 200 OK\r\n", "\r\nContent-Length: 0\r\n\r\n"
	field := "X: " + strings.Repeat("y", maxLine/2-5) + "\r\n"
	fields := strings.Repeat(field, 2*transport.MaxHeader/maxLine-1)
	last := transport.MaxHeader - len(start) - len(fields) - len(end)
	for name, tt := range map[string]struct {
		text string
		want outcome
	}{
		"the longest header": {start + fields + "X:" + strings.Repeat("y", last-2) + end, complete("")},
		"a longer one":       {start + fields + "X:" + strings.Repeat("y", last-1) + end, outcome{Err: errHeaderTooLarge.Error()}},
		"the longest line":   {start + "X:" + strings.Repeat("y", maxLine-4) + end, complete("")},
		"a longer line":      {start + "X:" + strings.Repeat("y", maxLine-3) + end, outcome{Err: errLineTooLong.Error()}},
	} {
		for _, cut := range []int{0, len(start), len(tt.text) / 2, len(tt.text) - len(end), len(tt.text) - len(end) + 1, len(tt.text) - 1} {
			if diff := cmp.Diff(tt.want, feed([]string{tt.text[:cut], tt.text[cut:]}, false)); diff != "" {
				t.Errorf("%s: %d bytes, cut at %d (-want +got):\n%s", name, len(tt.text), cut, diff)
			}
		}
	}
}

// Bytes are looked at eight at a time: what each of them means depends neither on where it
// is nor on its neighbours.
func TestValuesAreOfTheSameBytesEverywhere(t *testing.T) {
	for _, around := range []byte{' ', 'a', '\t', 0x80, 0xff} {
		for c := range 256 {
			for at := range 17 {
				value := bytes.Repeat([]byte{around}, 17)
				value[at] = byte(c)
				if got := isValue(value); got != valueBytes[c] {
					t.Errorf("%#02x at %d between %#02x: %v, want %v", c, at, around, got, !got)
				}
			}
		}
	}
}
