package sink

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
)

// Write writes a content. Each call writes the same bytes.
type Write func(context.Context, io.Writer) error

// Content is what is kept. It is never whole in memory: Write is called for its size, and
// again for each time that it is sent.
type Content struct {
	Size int64
	// SHA256 is in hexadecimal.
	SHA256 string
	Write  Write
}

// Store is where contents are kept.
type Store interface {
	// Put returns nil once the store has the content under its key, as was read back.
	Put(ctx context.Context, key string, c Content) error
	// Location is where people find it.
	Location(key string) string
}

// Measure finds the size and the sum of a content.
func Measure(ctx context.Context, write Write) (Content, error) {
	m := newMeter()
	if err := write(ctx, m); err != nil {
		return Content{}, err
	}
	return Content{Size: m.size, SHA256: m.sum(), Write: write}, nil
}

// is is nil if what is read is the content: no byte is missing or more.
func (c Content) is(r io.Reader) error {
	m := newMeter()
	if _, err := io.Copy(m, io.LimitReader(r, c.Size+1)); err != nil {
		return err
	}
	if m.size != c.Size || m.sum() != c.SHA256 {
		return errDiffers
	}
	return nil
}

// meter counts and sums up what is written to it.
type meter struct {
	size int64
	hash hash.Hash
}

func newMeter() *meter { return &meter{hash: sha256.New()} }

func (m *meter) Write(p []byte) (int, error) {
	m.size += int64(len(p))
	return m.hash.Write(p)
}

func (m *meter) sum() string { return hex.EncodeToString(m.hash.Sum(nil)) }
