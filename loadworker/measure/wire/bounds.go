package wire

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/loadtest-dev/loadtest-operator/loadworker/measure"
)

// MaxHistogramBytes bounds an encoded histogram: 23,552 counts of at most 9
// bytes each, which do not get shorter when they are random, in base64.
const MaxHistogramBytes = 288 << 10

// Where the V2 encoding has what decides how much memory decoding takes.
const (
	compressedHeader = 8  // cookie, length
	header           = 32 // cookie, length, offset, digits, lowest, highest
	digitsAt         = 12
	lowestAt         = 16
	highestAt        = 24
)

var errBounds = fmt.Errorf("bounds differ from %v, %v, %d digits", measure.Lowest, measure.Highest, measure.SignificantDigits)

// checkBounds reads only the header of an encoded histogram: the library makes
// room for whatever bounds a header claims, up to 50 MB, before package measure
// can compare them with its own.
func checkBounds(encoded string) error {
	if len(encoded) > MaxHistogramBytes {
		return fmt.Errorf("%d bytes, more than %d", len(encoded), MaxHistogramBytes)
	}
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return err
	}
	if len(raw) < compressedHeader {
		return errors.New("truncated")
	}
	z, err := zlib.NewReader(bytes.NewReader(raw[compressedHeader:]))
	if err != nil {
		return err
	}
	var b [header]byte
	if _, err := io.ReadFull(z, b[:]); err != nil {
		return fmt.Errorf("truncated: %w", err)
	}
	digits := binary.BigEndian.Uint32(b[digitsAt:])
	lowest := binary.BigEndian.Uint64(b[lowestAt:])
	highest := binary.BigEndian.Uint64(b[highestAt:])
	if digits != measure.SignificantDigits || lowest != 1 || highest != uint64(measure.Highest/measure.Lowest) {
		return errBounds
	}
	return nil
}
