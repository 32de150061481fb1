package source

import (
	"errors"
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/loadworker/message"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/grpc"
)

// maxReplies bounds the replies of one call that are decoded, and maxBody all of them
// together, as they are before compression: others wait in the same event loop meanwhile.
const maxReplies = 1000

// each hands check the replies that were kept, as JSON, in their order.
func (c *call) each(kept []byte, check func(json []byte) error) error {
	left := maxBody
	for n := 1; len(kept) > 0; n++ {
		if n > maxReplies {
			return fmt.Errorf("more than %d replies: no more are looked at", maxReplies)
		}
		var m grpc.Message
		m, kept = grpc.Cut(kept)
		json, size, err := c.decode(m, min(left, message.MaxReply))
		if left -= size; err == nil {
			err = check(json)
		}
		if err != nil && c.method.ReturnsStream() {
			err = fmt.Errorf("reply %d: %w", n, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// last is the last of the replies that were kept, as JSON.
func (c *call) last(kept []byte) ([]byte, error) {
	if len(kept) == 0 {
		return nil, errors.New("the call ended without a reply")
	}
	var m grpc.Message
	for len(kept) > 0 {
		m, kept = grpc.Cut(kept)
	}
	json, _, err := c.decode(m, message.MaxReply)
	return json, err
}

// decode returns a reply as JSON, and its size before compression. At most so many bytes are
// decompressed.
func (c *call) decode(m grpc.Message, most int) (json []byte, size int, err error) {
	if m.Compressed {
		return c.decompress(m.Bytes, most)
	}
	json, err = c.method.Decode(m.Bytes)
	return json, len(m.Bytes), err
}

func (c *call) decompress(b []byte, most int) (json []byte, size int, err error) {
	err = grpc.Decompress(b, most, func(text []byte) (err error) {
		size = len(text)
		json, err = c.method.Decode(text)
		return err
	})
	return json, size, err
}
