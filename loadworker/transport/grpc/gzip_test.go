package grpc

import (
	"bytes"
	"compress/gzip"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// text is what a message is when it is decompressed, within most bytes.
func text(message []byte, most int) (got []byte, err error) {
	err = Decompress(message, most, func(text []byte) error {
		got = bytes.Clone(text)
		return nil
	})
	return got, err
}

func TestCompressedMessageIsDecompressed(t *testing.T) {
	for _, want := range []string{"", "a", strings.Repeat("some text ", 20_000)} {
		compressed := Compress([]byte("before"), []byte(want))
		compressed, found := bytes.CutPrefix(compressed, []byte("before"))
		got, err := text(compressed, len(want))
		if err != nil || string(got) != want || !found {
			t.Errorf("%d bytes are %d, %v", len(want), len(got), err)
		}
		r, err := gzip.NewReader(bytes.NewReader(compressed))
		must.Succeed(t, err)
		if got, err := io.ReadAll(r); err != nil || string(got) != want {
			t.Errorf("compress/gzip: %d bytes are %d, %v", len(want), len(got), err)
		}
	}
}

func TestMessageThatIsNotGzipIsAnErrorWithoutItsText(t *testing.T) {
	whole := Compress(nil, bytes.Repeat([]byte("secret"), 100))
	tests := map[string]struct {
		message []byte
		want    string
	}{
		"empty":               {nil, "a message of 0 bytes that are not gzip"},
		"text":                {[]byte("secret"), "a message of 6 bytes that are not gzip"},
		"cut short":           {whole[:len(whole)-1], "that are not gzip"},
		"another sum":         {append(bytes.Clone(whole[:len(whole)-8]), make([]byte, 8)...), "that are not gzip"},
		"text behind":         {append(bytes.Clone(whole), "secret"...), "that are not gzip"},
		"one byte too many":   {Compress(nil, make([]byte, 601)), "more than 600 bytes of text"},
		"a bomb":              {Compress(nil, make([]byte, 64<<20)), "more than 600 bytes of text"},
		"too much in several": {slices.Concat(whole, Compress(nil, []byte("x"))), "more than 600 bytes of text"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got, err := text(tt.message, 600); err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%d bytes, %v; want %q", len(got), err, tt.want)
			}
		})
	}
	if got, err := text(whole, 600); err != nil || len(got) != 600 {
		t.Errorf("after errors: %d bytes, %v", len(got), err)
	}
}

// A small message that expands a thousandfold does not take the memory of its text.
func TestBombIsNotDecompressedWhole(t *testing.T) {
	const most = 256 << 10
	var d decompressor
	if _, err := d.decompress(Compress(nil, make([]byte, 64<<20)), most); err == nil || d.text.Cap() > 4*most {
		t.Errorf("%v, and %d bytes are kept", err, d.text.Cap())
	}
}

// FuzzDecompress: whatever a target sends, what is made of it is no more than may be, and the
// next message is read as if it had been the first.
func FuzzDecompress(f *testing.F) {
	f.Add(Compress(nil, []byte("hello")), 5)
	f.Add(Compress(nil, make([]byte, 100_000)), 1000)
	f.Add([]byte{0x1f, 0x8b, 8, 0xff}, 0)
	f.Fuzz(func(t *testing.T, message []byte, most int) {
		most = int(uint(most) % (1 << 16))
		got, err := text(message, most)
		if err != nil && got != nil || len(got) > most {
			t.Fatalf("%d bytes, at most %d; %v", len(got), most, err)
		}
		if got, err := text(Compress(nil, message), len(message)); err != nil || !bytes.Equal(got, message) {
			t.Fatalf("the next one is %q, %v", got, err)
		}
	})
}

func BenchmarkCompress(b *testing.B) {
	message := []byte(strings.Repeat("some text of a few words ", 8))
	var to []byte
	b.ReportAllocs()
	for b.Loop() {
		to = Compress(to[:0], message)
	}
}

func BenchmarkDecompress(b *testing.B) {
	message := Compress(nil, []byte(strings.Repeat("some text of a few words ", 8)))
	b.ReportAllocs()
	for b.Loop() {
		must.Succeed(b, Decompress(message, 1000, func([]byte) error { return nil }))
	}
}
