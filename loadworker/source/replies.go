package source

import (
	"errors"
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/loadworker/message"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/grpc"
)

// The bounds of the replies of one call that are decoded, together: others wait in the same
// event loop meanwhile. maxBody bounds them as they are before compression.
const (
	maxReplies = 1000
	// maxJSON is in proportion to maxBody what message.MaxJSON is to message.MaxReply.
	maxJSON = maxBody / message.MaxReply * message.MaxJSON
)

// replies are those that were kept of a call.
type replies struct {
	call *call
	kept []byte
	text int // bytes that may yet be decompressed
	json int // that may yet be made
}

func (c *call) repliesOf(kept []byte) *replies { return &replies{c, kept, maxBody, maxJSON} }

// each hands check the replies, in their order.
func (r *replies) each(check func(Document) error) error {
	for n := 1; len(r.kept) > 0; n++ {
		if n > maxReplies {
			return fmt.Errorf("more than %d replies: the worker reads no more", maxReplies)
		}
		reply, err := r.decode(r.cut())
		if err == nil {
			err = check(reply)
		}
		if err != nil && r.call.method.ReturnsStream() {
			err = fmt.Errorf("reply %d: %w", n, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// last is the last of the replies.
func (r *replies) last() (reply Document, err error) {
	if len(r.kept) == 0 {
		return reply, errors.New("the call ended without a reply")
	}
	var m grpc.Message
	for len(r.kept) > 0 {
		m = r.cut()
	}
	return r.decode(m)
}

func (r *replies) cut() (m grpc.Message) {
	m, r.kept = grpc.Cut(r.kept)
	return m
}

func (r *replies) decode(m grpc.Message) (reply Document, err error) {
	if !m.Compressed {
		return r.document(m.Bytes)
	}
	err = grpc.Decompress(m.Bytes, min(r.text, message.MaxReply), func(text []byte) error {
		reply, err = r.document(text)
		return err
	})
	return reply, err
}

func (r *replies) document(text []byte) (Document, error) {
	r.text -= len(text)
	json, took, err := r.call.method.Decode(text, r.json)
	r.json -= took
	return Document{JSON: json, name: "reply's JSON"}, err
}
