package document

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// maxUnpacked bounds what a compressed file is unpacked to: the results of 128 steps, of
// 900 KiB each, are 160 MB.
const maxUnpacked = 256 << 20

// unpacked reads a file, which gzip may have compressed.
func unpacked(input io.Reader) ([]byte, error) {
	buffered := bufio.NewReader(input)
	if start, _ := buffered.Peek(2); !bytes.Equal(start, []byte{0x1f, 0x8b}) { // how gzip begins
		return io.ReadAll(buffered)
	}
	z, err := gzip.NewReader(buffered)
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	content, err := io.ReadAll(io.LimitReader(z, maxUnpacked+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("decompress: %w", err)
	case len(content) > maxUnpacked:
		return nil, errors.New("decompress: it has more than 256 MiB")
	}
	return content, nil
}
