package grpc

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Encoding is the only compression that calls may have, as grpc-encoding names it.
const Encoding = "gzip"

// A compressor takes 1.2 MB, and a decompressor up to half of that. There are as many as are
// in use at one time, however many users there are.
var (
	compressors   = sync.Pool{New: newCompressor}
	decompressors = sync.Pool{New: func() any { return &decompressor{} }}
)

type compressor struct {
	gzip *gzip.Writer
	out  appender
}

// appender appends what is written to it.
type appender struct{ bytes []byte }

func (a *appender) Write(b []byte) (int, error) {
	a.bytes = append(a.bytes, b...)
	return len(b), nil
}

// newCompressor returns one of the fastest level: the default one clears its tables for each
// message, and takes three times as long for one of 200 bytes.
func newCompressor() any {
	w, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is known
	}
	return &compressor{gzip: w}
}

// Compress appends a message in gzip.
func Compress(to, message []byte) []byte {
	c := compressors.Get().(*compressor)
	defer compressors.Put(c)
	c.out.bytes = to
	c.gzip.Reset(&c.out)
	_, err := c.gzip.Write(message)
	if err := errors.Join(err, c.gzip.Close()); err != nil {
		panic(err) // an appender does not fail
	}
	to, c.out.bytes = c.out.bytes, nil
	return to
}

type decompressor struct {
	in      bytes.Reader
	gzip    gzip.Reader
	limited io.LimitedReader
	text    bytes.Buffer
}

// Decompress hands use the text of a message in gzip, which is valid until use returns. A
// text of more than most bytes is an error, and no more than that is made of it.
func Decompress(message []byte, most int, use func(text []byte) error) error {
	d := decompressors.Get().(*decompressor)
	defer decompressors.Put(d)
	text, err := d.decompress(message, most)
	if err != nil {
		return err
	}
	return use(text)
}

func (d *decompressor) decompress(message []byte, most int) ([]byte, error) {
	d.in.Reset(message)
	defer d.in.Reset(nil)
	d.text.Reset()
	err := d.gzip.Reset(&d.in)
	if err == nil {
		d.limited = io.LimitedReader{R: &d.gzip, N: int64(most) + 1}
		_, err = d.text.ReadFrom(&d.limited)
	}
	switch {
	case d.text.Len() > most:
		return nil, fmt.Errorf("a message of %d bytes in gzip, which are more than %d bytes of text: the worker reads no more", len(message), most)
	case err != nil: // its text may show what the message has
		return nil, fmt.Errorf("a message of %d bytes that are not gzip, as its flag says", len(message))
	}
	return d.text.Bytes(), nil
}
