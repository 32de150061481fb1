package archive

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
)

const (
	// Key is that of a ConfigMap's binaryData.
	Key = "step.json.gz"
	// MaxBytes is how much a step takes at most: a ConfigMap holds 1 MiB, and an
	// object in transit a third more than its data.
	MaxBytes = 900 << 10
	// maxJSON bounds what is unpacked. Histograms are compressed already: what has
	// MaxBytes unpacks to twice of it, and points to 20 times of their 20 KB.
	maxJSON = 8 << 20
	// maxRequests is how many requests a plan has at most.
	maxRequests = 32
)

// Encode is the step as it is kept, the same bytes for the same step. What does not fit
// into MaxBytes is left out, and named in Omitted: the service times of all requests,
// then the times without the generator's delay, those of events, and the response times.
func Encode(step Step) ([]byte, error) {
	step.Format = Format
	b, err := pack(&step)
	for _, omit := range []struct {
		what string
		from func(*Request)
	}{
		{"requests.service", func(r *Request) { r.Service = nil }},
		{OmittedWithoutGenerator, func(r *Request) { r.WithoutGenerator = nil }},
		{"requests.streams.times", func(r *Request) { r.Streams = r.Streams.withoutTimes() }},
		{"requests.response", func(r *Request) { r.Response = nil }},
	} {
		if err != nil || len(b) <= MaxBytes {
			return b, err
		}
		step.Omitted = append(step.Omitted[:len(step.Omitted):len(step.Omitted)], omit.what)
		step.Requests = append([]Request(nil), step.Requests...)
		for i := range step.Requests {
			omit.from(&step.Requests[i])
		}
		b, err = pack(&step)
	}
	if err == nil && len(b) > MaxBytes {
		return nil, fmt.Errorf("encode step: %d bytes, at most %d", len(b), MaxBytes)
	}
	return b, err
}

// Sum is the SHA-256 of an encoded step, in hexadecimal: by it a reader checks that the step
// is the one that was stored.
func Sum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func pack(step *Step) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if err := json.NewEncoder(z).Encode(step); err != nil {
		return nil, fmt.Errorf("encode step: %w", err)
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("compress step: %w", err)
	}
	return b.Bytes(), nil
}

// Decode reads what Encode wrote. It refuses what is too large, is of another format, or
// does not add up.
func Decode(b []byte) (*Step, error) {
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("decompress step: %w", err)
	}
	raw, err := io.ReadAll(io.LimitReader(z, maxJSON+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("decompress step: %w", err)
	case len(raw) > maxJSON:
		return nil, fmt.Errorf("decompress step: more than %d bytes", maxJSON)
	}
	if err := checkBounds(raw); err != nil {
		return nil, fmt.Errorf("decode step: %w", err)
	}
	step := &Step{}
	if err := json.Unmarshal(raw, step); err != nil {
		return nil, fmt.Errorf("decode step: %w", err)
	}
	if err := step.check(); err != nil {
		return nil, fmt.Errorf("decode step: %w", err)
	}
	return step, nil
}
