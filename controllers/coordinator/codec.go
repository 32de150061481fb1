package coordinator

import (
	"fmt"

	"google.golang.org/grpc/encoding"
	encodingproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

const (
	// maxParts is how many messages and texts may be in a message. An empty one takes
	// two bytes on the wire and hundreds in memory: a message at its bound could take a
	// hundred times of it. A snapshot of 32 requests has 900 status codes of each, and
	// as many names of clients as there is room for, at most 46,000.
	maxParts = 100_000
	// smallMessage is too small to be checked for it.
	smallMessage = 64 << 10
)

// codec is gRPC's, and counts the parts of a message before it is decoded.
type codec struct{ encoding.CodecV2 }

func newCodec() codec { return codec{encoding.GetCodecV2(encodingproto.Name)} }

// Unmarshal decodes a message.
func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	m, ok := v.(proto.Message)
	if !ok || data.Len() < smallMessage {
		return c.CodecV2.Unmarshal(data, v)
	}
	whole := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer whole.Free()
	if _, err := countParts(whole.ReadOnlyData(), m.ProtoReflect().Descriptor(), maxParts); err != nil {
		return err
	}
	return c.CodecV2.Unmarshal(mem.BufferSlice{whole}, v)
}

// countParts returns how many parts are left of the most that an encoded message may
// have.
func countParts(b []byte, kind protoreflect.MessageDescriptor, left int) (int, error) {
	for len(b) > 0 {
		number, wire, n := protowire.ConsumeTag(b)
		if n < 0 {
			return 0, protowire.ParseError(n)
		}
		size := protowire.ConsumeFieldValue(number, wire, b[n:])
		if size < 0 {
			return 0, protowire.ParseError(size)
		}
		field := kind.Fields().ByNumber(number)
		if wire == protowire.BytesType && field != nil && !field.IsPacked() {
			if left--; left < 0 {
				return 0, fmt.Errorf("the message has more than %d parts", maxParts)
			}
			if nested := field.Message(); nested != nil {
				value, _ := protowire.ConsumeBytes(b[n:])
				var err error
				if left, err = countParts(value, nested, left); err != nil {
					return 0, err
				}
			}
		}
		b = b[n+size:]
	}
	return left, nil
}
