package requestlog

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"
)

const (
	// maxText bounds the path and the error of a record.
	maxText = 4 << 10
	// maxRecord is more than a record takes: two texts, a method and ten numbers.
	maxRecord = 2*maxText + 256
)

// append appends a record: its length, and its fields.
func (r *Record) append(b []byte) []byte {
	start := len(b)
	b = append(b, 0, 0) // the length comes last
	b = binary.BigEndian.AppendUint32(b, uint32(r.Step))
	b = binary.BigEndian.AppendUint64(b, uint64(r.Sent.UnixNano()))
	for _, n := range [...]uint64{uint64(r.Latency), uint64(r.Code), uint64(r.BytesIn), uint64(r.BytesOut), uint64(r.Target)} {
		b = binary.AppendUvarint(b, n)
	}
	b = appendText(b, r.Method[:min(len(r.Method), 64)])
	b = appendText(b, r.Path[:min(len(r.Path), maxText)])
	b = appendText(b, r.Error[:min(len(r.Error), maxText)])
	binary.BigEndian.PutUint16(b[start:], uint16(len(b)-start-2))
	return b
}

func appendText[T string | []byte](b []byte, text T) []byte {
	b = binary.AppendUvarint(b, uint64(len(text)))
	return append(b, text...)
}

// raw is a record as it was appended, without its length.
type raw []byte

func (r raw) step() int32 { return int32(binary.BigEndian.Uint32(r)) }
func (r raw) sent() int64 { return int64(binary.BigEndian.Uint64(r[4:])) }

// record decodes a record.
func (r raw) record() (Record, error) {
	out := Record{Step: r.step(), Sent: time.Unix(0, r.sent())}
	rest := []byte(r[12:])
	number := func() uint64 {
		n, size := binary.Uvarint(rest)
		if size <= 0 {
			rest = nil
			return 0
		}
		rest = rest[size:]
		return n
	}
	text := func() []byte {
		n := min(number(), uint64(len(rest)))
		t := rest[:n]
		rest = rest[n:]
		return t
	}
	out.Latency, out.Code = time.Duration(number()), int(number())
	out.BytesIn, out.BytesOut, out.Target = int64(number()), int64(number()), int(number())
	out.Method, out.Path, out.Error = string(text()), text(), string(text())
	if rest == nil || len(rest) > 0 {
		return out, errors.New("a record of a request is damaged")
	}
	return out, nil
}

// reader reads the records of a worker, whose steps follow one another.
type reader struct {
	in   *bufio.Reader
	next raw // nil: there is no other
}

func newReader(in io.Reader) (*reader, error) {
	r := &reader{in: bufio.NewReaderSize(in, blockSize)}
	return r, r.advance()
}

// advance reads the next record. The last one may have been cut off, with its worker.
func (r *reader) advance() error {
	r.next = nil
	var length [2]byte
	if _, err := io.ReadFull(r.in, length[:]); err != nil {
		return ended(err)
	}
	next := make(raw, binary.BigEndian.Uint16(length[:]))
	if len(next) < 12 {
		return fmt.Errorf("a record of a request has %d bytes", len(next))
	}
	if _, err := io.ReadFull(r.in, next); err != nil {
		return ended(err)
	}
	r.next = next
	return nil
}

// ended is nil for the end of a file, wherever it is.
func ended(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}
