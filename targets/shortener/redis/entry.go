package redis

import (
	"encoding/binary"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
)

// An entry of the cache is one of
//
//	"-" generation               the code has no link, while that is the generation
//	                             of negative entries
//	"?"                          it may have had none when it was looked up, which is
//	                             not to be remembered
//	"+" created expires url      it has; the instants are 8 bytes each, the
//	                             microseconds since 1970, big-endian
//
// Microseconds are what the store keeps. JSON would cost a redirect more time
// than all else that the cache does for it.
const (
	negative   = "-"
	doubtful   = "?"
	positive   = '+'
	headerSize = 1 + 8 + 8
)

func encodeEntry(l shortener.Link) []byte {
	b := make([]byte, 0, headerSize+len(l.URL))
	b = append(b, positive)
	b = binary.BigEndian.AppendUint64(b, uint64(l.CreatedAt.UnixMicro()))
	b = binary.BigEndian.AppendUint64(b, uint64(l.ExpiresAt.UnixMicro()))
	return append(b, l.URL...)
}

// decodeEntry returns the link of a positive entry. What cannot be read, an
// entry of another version for one, is not ok.
func decodeEntry(code, entry string) (l shortener.Link, ok bool) {
	if len(entry) < headerSize || entry[0] != positive {
		return shortener.Link{}, false
	}
	return shortener.Link{
		Code:      code,
		URL:       entry[headerSize:],
		CreatedAt: instant(entry[1:9]),
		ExpiresAt: instant(entry[9:17]),
	}, true
}

func instant(micros string) time.Time {
	return time.UnixMicro(int64(binary.BigEndian.Uint64([]byte(micros)))).UTC()
}
