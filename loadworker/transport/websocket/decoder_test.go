package websocket

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// frame is a frame of a server.
func frame(first byte, payload string) string {
	b := []byte{first}
	switch n := len(payload); {
	case n < length16:
		b = append(b, byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, length16), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, length64), uint64(n))
	}
	return string(b) + payload
}

// First bytes of frames.
const (
	wholeText   = final | byte(text)
	wholeBinary = final | byte(binaryData)
	beginText   = byte(text)
	beginBinary = byte(binaryData)
	goesOn      = byte(continuation)
	lastOne     = final | byte(continuation)
	aPing       = final | byte(ping)
	aPong       = final | byte(pong)
	aClose      = final | byte(closing)
)

func closeWith(code uint16, reason string) string {
	return frame(aClose, string(binary.BigEndian.AppendUint16(nil, code))+reason)
}

// decoded is what the bytes of a server are, in words: messages in quotation marks, and what else there is.
func decoded(pieces ...string) string {
	var d decoder
	var said []string
	message := ""
	for _, p := range pieces {
		b := []byte(p)
		for {
			found, rest, err := d.next(b)
			if v, ok := errors.AsType[*violation](err); ok {
				return strings.Join(append(said, fmt.Sprint(v.code)), " ")
			}
			if found.kind == more {
				break
			}
			b = rest
			switch found.kind {
			case payload:
				message += string(found.data)
			case whole:
				said = append(said, shorter(message))
				message = ""
			case pinged:
				said = append(said, "ping:"+shorter(string(found.data)))
			case ponged:
				said = append(said, "pong:"+shorter(string(found.data)))
			case closed:
				return strings.Join(append(said, fmt.Sprintf("close:%d%s", found.code, found.data)), " ")
			}
		}
	}
	return strings.Join(said, " ")
}

// shorter is a text that is long as its beginning and its length.
func shorter(s string) string {
	if len(s) > 20 {
		return fmt.Sprintf("%q*%d", s[:1], len(s))
	}
	return fmt.Sprintf("%q", s)
}

// conformance has the cases of the Autobahn test suite for clients, by its numbers, with what a server sends; of
// performance (9) with smaller sizes. Those of compression (12, 13) are of an extension that is not offered.
var conformance = []struct{ name, sent, want string }{
	{"1.1.1", frame(wholeText, ""), `""`},
	{"1.1.2", frame(wholeText, strings.Repeat("*", 125)), `"*"*125`},
	{"1.1.3", frame(wholeText, strings.Repeat("*", 126)), `"*"*126`},
	{"1.1.4", frame(wholeText, strings.Repeat("*", 127)), `"*"*127`},
	{"1.1.5", frame(wholeText, strings.Repeat("*", 128)), `"*"*128`},
	{"1.1.6", frame(wholeText, strings.Repeat("*", 65535)), `"*"*65535`},
	{"1.1.7", frame(wholeText, strings.Repeat("*", 65536)), `"*"*65536`},
	{"1.2.1", frame(wholeBinary, ""), `""`},
	{"1.2.2", frame(wholeBinary, strings.Repeat("\xfe", 125)), `"\xfe"*125`},
	{"1.2.3", frame(wholeBinary, strings.Repeat("\xfe", 126)), `"\xfe"*126`},
	{"1.2.6", frame(wholeBinary, strings.Repeat("\xfe", 65535)), `"\xfe"*65535`},
	{"1.2.7", frame(wholeBinary, strings.Repeat("\xfe", 65536)), `"\xfe"*65536`},

	{"2.1", frame(aPing, ""), `ping:""`},
	{"2.2", frame(aPing, "Hello, world!"), `ping:"Hello, world!"`},
	{"2.3", frame(aPing, "\x00\xff\xfe\xfd\xfc\xfb\x00\xff"), `ping:"\x00\xff\xfe\xfd\xfc\xfb\x00\xff"`},
	{"2.4", frame(aPing, strings.Repeat("\xfe", 125)), `ping:"\xfe"*125`},
	{"2.5", frame(aPing, strings.Repeat("\xfe", 126)), "1002"},
	{"2.7", frame(aPong, ""), `pong:""`},
	{"2.8", frame(aPong, "unsolicited"), `pong:"unsolicited"`},
	{"2.9", frame(aPong, "unsolicited") + frame(aPing, "p"), `pong:"unsolicited" ping:"p"`},
	{"2.10", frame(aPing, "1") + frame(aPing, "2") + frame(aPing, "3"), `ping:"1" ping:"2" ping:"3"`},

	{"3.1", frame(wholeText|0x40, "a"), "1002"},
	{"3.2", frame(wholeText, "Hello") + frame(wholeText|0x20, "a") + frame(aPing, ""), `"Hello" 1002`},
	{"3.3", frame(wholeText, "Hello") + frame(wholeText|0x30, "a"), `"Hello" 1002`},
	{"3.4", frame(wholeText|0x10, "a"), "1002"},
	{"3.5", frame(wholeBinary|0x50, "a"), "1002"},
	{"3.6", frame(aPing|0x60, "a"), "1002"},
	{"3.7", frame(aClose|0x70, ""), "1002"},

	{"4.1.1", frame(final|3, ""), "1002"},
	{"4.1.2", frame(final|4, "reserved"), "1002"},
	{"4.1.3", frame(wholeText, "Hello") + frame(final|5, "") + frame(aPing, ""), `"Hello" 1002`},
	{"4.1.4", frame(wholeText, "Hello") + frame(final|6, "reserved"), `"Hello" 1002`},
	{"4.1.5", frame(wholeText, "Hello") + frame(final|7, ""), `"Hello" 1002`},
	{"4.2.1", frame(final|11, ""), "1002"},
	{"4.2.2", frame(final|12, "reserved"), "1002"},
	{"4.2.3", frame(wholeText, "Hello") + frame(final|13, ""), `"Hello" 1002`},
	{"4.2.4", frame(wholeText, "Hello") + frame(final|14, ""), `"Hello" 1002`},
	{"4.2.5", frame(wholeText, "Hello") + frame(final|15, ""), `"Hello" 1002`},

	{"5.1", frame(byte(ping), "a") + frame(lastOne, "b"), "1002"},
	{"5.2", frame(byte(pong), "a") + frame(lastOne, "b"), "1002"},
	{"5.3", frame(beginText, "frag") + frame(lastOne, "ment"), `"fragment"`},
	{"5.6", frame(beginText, "frag") + frame(aPing, "p") + frame(lastOne, "ment"), `ping:"p" "fragment"`},
	{"5.9", frame(lastOne, "non-cont") + frame(wholeText, "Hello"), "1002"},
	{"5.12", frame(goesOn, "non-cont") + frame(wholeText, "Hello"), "1002"},
	{"5.15", frame(beginText, "a") + frame(lastOne, "b") + frame(goesOn, "c") + frame(wholeText, "d"), `"ab" 1002`},
	{"5.18", frame(beginText, "a") + frame(wholeText, "b"), "1002"},
	{"5.19", frame(beginText, "a") + frame(goesOn, "b") + frame(aPing, "1") + frame(goesOn, "c") + frame(goesOn, "d") + frame(aPing, "2") + frame(lastOne, "e"), `ping:"1" ping:"2" "abcde"`},
	{"5.20, empty fragments", frame(beginBinary, "") + frame(goesOn, "") + frame(lastOne, ""), `""`},

	{"6.1.1", frame(wholeText, ""), `""`},
	{"6.1.2", frame(beginText, "") + frame(goesOn, "") + frame(lastOne, ""), `""`},
	{"6.1.3", frame(beginText, "") + frame(goesOn, "middle") + frame(lastOne, ""), `"middle"`},
	{"6.2.1", frame(wholeText, "H-µ@ßöäüàá"), `"H-µ@ßöäüàá"`},
	{"6.2.2", frame(beginText, "Hello-µ") + frame(lastOne, "@ßö"), `"Hello-µ@ßö"`},
	{"6.2.3, byte by byte", frame(beginText, "\xce") + frame(goesOn, "\xba") + frame(goesOn, "\xe1") + frame(goesOn, "\xbd") + frame(lastOne, "\xb9"), "\"\u03ba\u1f79\""},
	{"6.3.1", frame(wholeText, "κόσμε\xed\xa0\x80edited"), "1007"},
	{"6.3.2", frame(beginText, "κό\xed") + frame(lastOne, "\xa0\x80"), "1007"},
	{"6.4.1", frame(beginText, "κόσμε") + frame(goesOn, "\xf4\x90\x80\x80") + frame(lastOne, "edited"), "1007"},
	{"6.5", frame(wholeText, "\xce") + frame(wholeText, "\xba"), "1007"},
	{"6.6.1", frame(wholeText, "\xce"), "1007"},
	{"6.6.2", frame(wholeText, "\xce\xba"), `"κ"`},
	{"6.6.3", frame(wholeText, "\xce\xba\xe1"), "1007"},
	{"6.6.4", frame(wholeText, "\xce\xba\xe1\xbd"), "1007"},
	{"6.7.1", frame(wholeText, "\x00"), `"\x00"`},
	{"6.7.4", frame(wholeText, "\xf0\x90\x80\x80"), `"𐀀"`},
	{"6.9.3", frame(wholeText, "\xef\xbf\xbf"), `"\uffff"`},
	{"6.9.4", frame(wholeText, "\xf4\x8f\xbf\xbf"), `"\U0010ffff"`},
	{"6.10.1", frame(wholeText, "\xf7\xbf\xbf\xbf"), "1007"},
	{"6.10.2", frame(wholeText, "\xfb\xbf\xbf\xbf\xbf"), "1007"},
	{"6.10.3", frame(wholeText, "\xfd\xbf\xbf\xbf\xbf\xbf"), "1007"},
	{"6.12.1", frame(wholeText, "\x80"), "1007"},
	{"6.13", frame(wholeText, "\xc0 \xc1 "), "1007"},
	{"6.14", frame(wholeText, "\xe0\x80"), "1007"},
	{"6.18.1, overlong", frame(wholeText, "\xc1\xbf"), "1007"},
	{"6.19, overlong", frame(wholeText, "\xe0\x80\x80"), "1007"},
	{"6.20, a surrogate", frame(wholeText, "\xed\xbf\xbf"), "1007"},
	{"6.22, U+FFFD", frame(wholeText, "\xef\xbf\xbd"), `"�"`},
	{"6, not of binary messages", frame(beginBinary, "\xff") + frame(lastOne, "\xed\xa0"), `"\xff\xed\xa0"`},

	{"7.1.1", frame(wholeText, "Hello") + frame(aClose, ""), `"Hello" close:1005`},
	{"7.1.4, a close within a message", frame(beginText, "frag") + frame(aClose, ""), `close:1005`},
	{"7.3.1", frame(aClose, ""), "close:1005"},
	{"7.3.2", frame(aClose, "\x03"), "1002"},
	{"7.3.3", closeWith(1000, ""), "close:1000"},
	{"7.3.4", closeWith(1000, "Hello World!"), "close:1000Hello World!"},
	{"7.3.5", closeWith(1000, strings.Repeat("*", 123)), "close:1000" + strings.Repeat("*", 123)},
	{"7.3.6", closeWith(1000, strings.Repeat("*", 124)), "1002"},
	{"7.5.1", closeWith(1000, "κόσμε\xed\xa0\x80"), "1007"},
	{"7.7.1", closeWith(1000, ""), "close:1000"},
	{"7.7.2", closeWith(1001, ""), "close:1001"},
	{"7.7.3", closeWith(1002, ""), "close:1002"},
	{"7.7.4", closeWith(1003, ""), "close:1003"},
	{"7.7.5", closeWith(1007, ""), "close:1007"},
	{"7.7.9", closeWith(1011, ""), "close:1011"},
	{"7.7.10", closeWith(3000, ""), "close:3000"},
	{"7.7.13", closeWith(4999, ""), "close:4999"},
	{"7.9.1", closeWith(0, ""), "1002"},
	{"7.9.2", closeWith(999, ""), "1002"},
	{"7.9.3", closeWith(1004, ""), "1002"},
	{"7.9.4", closeWith(1005, ""), "1002"},
	{"7.9.5", closeWith(1006, ""), "1002"},
	{"7.9.6", closeWith(1016, ""), "1002"},
	{"7.9.7", closeWith(1100, ""), "1002"},
	{"7.9.8", closeWith(2000, ""), "1002"},
	{"7.9.9", closeWith(2999, ""), "1002"},
	{"7.13.1", closeWith(5000, ""), "1002"},
	{"7.13.2", closeWith(65535, ""), "1002"},

	{"9.1, smaller", frame(wholeText, strings.Repeat("*", 100_000)), `"*"*100000`},
	{"9.3, smaller", frame(beginText, strings.Repeat("*", 4096)) + strings.Repeat(frame(goesOn, strings.Repeat("*", 4096)), 8) + frame(lastOne, ""), `"*"*36864`},

	{"a masked frame", "\x81\x81abcd" + "e", "1002"},
	{"a masked close", "\x88\x80abcd", "1002"},
	{"a message of 8 exabytes", "\x82\x7f\x7f\xff\xff\xff\xff\xff\xff\xff", "1009"},
	{"the highest bit of a length", "\x82\x7f\x80\x00\x00\x00\x00\x00\x00\x00", "1009"},
	{"fragments that are too long together", "\x02\x7f\x00\x00\x00\x00\x04\x00\x00\x00", ""},
	{"a length of two bytes that needs one", "\x82\x7e\x00\x7d", "1002"},
	{"a length of eight bytes that needs two", "\x82\x7f\x00\x00\x00\x00\x00\x00\xff\xff", "1002"},
}

func TestFramesAreDecodedAsTheStandardSays(t *testing.T) {
	for _, tt := range conformance {
		t.Run(tt.name, func(t *testing.T) {
			if got := decoded(tt.sent); got != tt.want {
				t.Fatalf("decoded as %s, want %s", got, tt.want)
			}
			for i := range min(len(tt.sent), 300) {
				k := i + (len(tt.sent)-i)/2
				if got := decoded(tt.sent[:i], tt.sent[i:k], tt.sent[k:]); got != tt.want {
					t.Fatalf("in pieces at %d and %d decoded as %s, want %s", i, k, got, tt.want)
				}
			}
			if len(tt.sent) < 1000 {
				var bytes []string
				for i := range len(tt.sent) {
					bytes = append(bytes, tt.sent[i:i+1])
				}
				if got := decoded(bytes...); got != tt.want {
					t.Fatalf("byte by byte decoded as %s, want %s", got, tt.want)
				}
			}
		})
	}
}

// A message whose fragments are too long together is refused with the fragment that makes it so.
func TestTheLengthOfFragmentsIsBoundedTogether(t *testing.T) {
	var d decoder
	chunk := []byte(frame(beginBinary, strings.Repeat("a", 1<<20)))
	for n := 1; ; n++ {
		for b := chunk; len(b) > 0; {
			_, rest, err := d.next(b)
			if err != nil {
				if want := MaxMessage>>20 + 1; n != want {
					t.Fatalf("refused with fragment %d, want %d: %v", n, want, err)
				}
				return
			}
			b = rest
		}
		chunk[0] = goesOn
	}
}

// FuzzDecode: bytes are decoded alike in any pieces, a text message is what is UTF-8, in fragments, too, and what this side masks is what was meant.
func FuzzDecode(f *testing.F) {
	for _, tt := range conformance {
		if len(tt.sent) < 1000 {
			f.Add([]byte(tt.sent), uint8(3), uint8(1))
		}
	}
	f.Fuzz(func(t *testing.T, sent []byte, first, then uint8) {
		var pieces []string
		for rest, n := string(sent), int(first); rest != ""; n = int(then) {
			n = min(max(n, 1), len(rest))
			pieces = append(pieces, rest[:n])
			rest = rest[n:]
		}
		if one, many := decoded(string(sent)), decoded(pieces...); one != many {
			t.Errorf("decoded as %s at once, and as %s in pieces", one, many)
		}
		message, at := frame(wholeText, string(sent)), min(int(first), len(sent))
		fragments := []string{frame(beginText, string(sent[:at])), frame(lastOne, string(sent[at:]))}
		for name, got := range map[string]string{"one message": decoded(message), "fragments": decoded(fragments...)} {
			if isText := got != "1007"; isText != utf8.Valid(sent) {
				t.Errorf("%q in %s is decoded as %s", sent, name, got)
			}
		}
		if len(sent) > maxControl {
			return
		}
		got := appendFrame(nil, ping, sent)
		key := binary.LittleEndian.Uint32(got[2:])
		mask(got[6:], key)
		if string(got[6:]) != string(sent) || got[1] != masked|byte(len(sent)) {
			t.Errorf("%q is sent as %q", sent, got)
		}
	})
}

func TestLengthsOfFrames(t *testing.T) {
	for n, want := range map[int]int{0: 6, 125: 131, 126: 134, 65535: 65543, 65536: 65550} {
		if got := appendFrame(nil, text, make([]byte, n)); len(got) != want || got[0] != wholeText || got[1]&masked == 0 {
			t.Errorf("a message of %d bytes has a frame of %d bytes that begins with %x, want %d", n, len(got), got[:2], want)
		}
	}
}

// Nothing is kept of a message, however long.
func TestDecodingKeepsNothing(t *testing.T) {
	var d decoder
	b := []byte(frame(wholeText, strings.Repeat("a", 1<<16)))
	if n := testing.AllocsPerRun(10, func() {
		for rest := b; ; {
			p, r, err := d.next(rest)
			if err != nil || p.kind == more {
				return
			}
			rest = r
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
