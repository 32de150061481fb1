package wire

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// The layout of an HdrHistogram of package measure's bounds. Values up to 2047
// have a slot each; above, each doubling has 1024 slots.
const (
	// slots is how many there are: 2048, and 1024 for each of the 21 doublings
	// from 2^11 us until 3.6e9 us, an hour, is covered.
	slots = 2048 + 21*1024
	// lastSlot is the one of measure.Highest: the last doubling goes on for a
	// while, in steps of 2^21 us.
	lastSlot = 2048 + 20*1024 + int64(measure.Highest/measure.Lowest)>>21 - 1024
	// maxPayload is the longest list of counts: 9 bytes each.
	maxPayload = 9 * slots
	// MaxHistogramBytes bounds an encoded histogram: the longest payload, which
	// does not get shorter if it is random, its headers, and base64.
	MaxHistogramBytes = maxPayload*4/3 + 1024
)

// The V2 encoding: a cookie and a length, then, deflated, a header and the counts.
const (
	compressedCookie = 0x1c849304 | 0x10
	compressedHeader = 8

	cookie = 0x1c849303 | 0x10
	header = 40
	// Offsets in the header.
	lengthAt, digitsAt, lowestAt, highestAt, ratioAt = 4, 12, 16, 24, 32

	// cookieMask leaves out the word size, which readers ignore.
	cookieMask = ^uint32(0xf0)
)

// histogram is a validated histogram as it came, inflated: a list of counts in
// slot order, zig-zag variable-length integers of which a negative one is a run
// of zeros. A dense one is 190 KB whatever is in it, this is 1 to 20.
type histogram struct {
	payload []byte
	count   int64
	clamped int64
}

// readHistogram inflates and validates; sent is the most it may count. The
// library's own decoder is not for hostile input: it makes room for whatever
// bounds the header claims before anyone can object.
func readHistogram(m *workerv1.Histogram, sent int64) (histogram, error) {
	if m == nil {
		return histogram{}, nil
	}
	payload, err := inflate(m.GetEncoded())
	if err != nil {
		return histogram{}, err
	}
	h := histogram{payload: payload, clamped: m.GetClamped()}
	if h.count, err = checkPayload(payload, sent); err != nil {
		return histogram{}, err
	}
	return h, within("clamped", h.clamped, "count", h.count)
}

var (
	errTruncated = errors.New("truncated")
	errBounds    = fmt.Errorf("bounds differ from %v, %v, %d digits", measure.Lowest, measure.Highest, measure.SignificantDigits)
)

// inflaters are kept because each is 40 KB, and there are thousands of
// histograms a second.
var inflaters sync.Pool

func inflater(r io.Reader) (io.ReadCloser, error) {
	if z, ok := inflaters.Get().(io.ReadCloser); ok {
		return z, z.(zlib.Resetter).Reset(r, nil)
	}
	return zlib.NewReader(r)
}

// inflate returns the counts of an encoded histogram of the right bounds.
func inflate(encoded string) ([]byte, error) {
	if len(encoded) > MaxHistogramBytes {
		return nil, fmt.Errorf("%d bytes, more than %d", len(encoded), MaxHistogramBytes)
	}
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, err
	}
	if len(raw) < compressedHeader {
		return nil, errTruncated
	}
	if binary.BigEndian.Uint32(raw)&cookieMask != compressedCookie&cookieMask {
		return nil, errors.New("not in HdrHistogram's V2 compressed encoding")
	}
	if n := binary.BigEndian.Uint32(raw[4:]); uint64(n) != uint64(len(raw)-compressedHeader) {
		return nil, fmt.Errorf("%d compressed bytes, the header says %d", len(raw)-compressedHeader, n)
	}
	z, err := inflater(bytes.NewReader(raw[compressedHeader:]))
	if err != nil {
		return nil, fmt.Errorf("inflate: %w", err)
	}
	defer inflaters.Put(z)
	return readPayload(z)
}

func readPayload(z io.Reader) ([]byte, error) {
	var b [header]byte
	if _, err := io.ReadFull(z, b[:]); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	if binary.BigEndian.Uint32(b[:])&cookieMask != cookie&cookieMask {
		return nil, errors.New("not in HdrHistogram's V2 encoding")
	}
	if binary.BigEndian.Uint32(b[digitsAt:]) != measure.SignificantDigits ||
		binary.BigEndian.Uint64(b[lowestAt:]) != 1 ||
		binary.BigEndian.Uint64(b[highestAt:]) != uint64(measure.Highest/measure.Lowest) {
		return nil, errBounds
	}
	n := binary.BigEndian.Uint32(b[lengthAt:])
	if n > maxPayload {
		return nil, fmt.Errorf("%d bytes of counts, more than %d", n, maxPayload)
	}
	payload := make([]byte, n)
	if _, err := io.ReadFull(z, payload); err != nil {
		return nil, fmt.Errorf("counts: %w", err)
	}
	// Reading on to the end is what verifies the checksum.
	switch n, err := z.Read(b[:1]); {
	case n > 0:
		return nil, errors.New("counts: more than the header says")
	case err != io.EOF:
		return nil, fmt.Errorf("counts: %w", err)
	}
	return payload, nil
}

// checkPayload says how many values a payload counts, and that none is out of
// bounds.
func checkPayload(payload []byte, sent int64) (total int64, err error) {
	slot := int64(0)
	for len(payload) > 0 {
		v, n := readVarint(payload)
		if n == 0 {
			return 0, errTruncated
		}
		payload = payload[n:]
		if v < 0 {
			if v < -slots {
				return 0, fmt.Errorf("a run of %d zeros in %d slots", uint64(-v), slots)
			}
			slot -= v
		} else {
			slot++
			total += v
		}
		// Each v is checked before the next is added, so that total cannot overflow.
		if v > sent || total > sent {
			return 0, fmt.Errorf("count: more than sent, %d", sent)
		}
		if slot > slots {
			return 0, fmt.Errorf("counts for more than %d slots", slots)
		}
		if v > 0 && slot > lastSlot+1 {
			return 0, fmt.Errorf("counts a time longer than %v", measure.Highest)
		}
	}
	return total, nil
}

// addTo adds the counts to a dense histogram.
func (h histogram) addTo(dense []int64) {
	slot, payload := int64(0), h.payload
	for len(payload) > 0 {
		v, n := readVarint(payload)
		payload = payload[n:]
		if v < 0 {
			slot -= v
			continue
		}
		dense[slot] += v
		slot++
	}
}

// denseHistogram turns counts by slot into a histogram. It goes through the
// encoding because that is what package measure reads.
func denseHistogram(dense []int64, clamped int64) (*measure.Histogram, error) {
	payload := densePayload(dense)
	if len(payload) == 0 {
		return measure.NewHistogram(), nil
	}
	encoded, err := encode(payload)
	if err != nil {
		return nil, err
	}
	return measure.Decode(encoded, clamped)
}

// encode is the inverse of inflate, but that it does not compress.
func encode(payload []byte) (string, error) {
	b := make([]byte, header, header+len(payload))
	binary.BigEndian.PutUint32(b, cookie)
	binary.BigEndian.PutUint32(b[lengthAt:], uint32(len(payload)))
	binary.BigEndian.PutUint32(b[digitsAt:], measure.SignificantDigits)
	binary.BigEndian.PutUint64(b[lowestAt:], 1)
	binary.BigEndian.PutUint64(b[highestAt:], uint64(measure.Highest/measure.Lowest))
	binary.BigEndian.PutUint64(b[ratioAt:], math.Float64bits(1))
	return deflate(append(b, payload...))
}

func densePayload(dense []int64) []byte {
	var payload []byte
	zeros := int64(0)
	for _, n := range dense {
		if n == 0 {
			zeros++
			continue
		}
		if zeros > 0 {
			payload = appendVarint(payload, -zeros)
			zeros = 0
		}
		payload = appendVarint(payload, n)
	}
	return payload
}

// deflaters are kept because each is a megabyte. They do not compress, which the
// format permits: to inflate would be most of what a snapshot costs the operator.
var deflaters = sync.Pool{New: func() any {
	// The level is a valid one, so that this cannot fail.
	w, _ := zlib.NewWriterLevel(io.Discard, zlib.NoCompression)
	return w
}}

func deflate(b []byte) (string, error) {
	out := bytes.NewBuffer(make([]byte, compressedHeader))
	w := deflaters.Get().(*zlib.Writer)
	defer deflaters.Put(w)
	w.Reset(out)
	if _, err := w.Write(b); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	binary.BigEndian.PutUint32(out.Bytes(), compressedCookie)
	binary.BigEndian.PutUint32(out.Bytes()[4:], uint32(out.Len()-compressedHeader))
	return base64.StdEncoding.EncodeToString(out.Bytes()), nil
}
