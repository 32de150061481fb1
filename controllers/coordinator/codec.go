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

// What may be in a message. An empty message within it takes two bytes on the wire and
// hundreds in memory, an empty text two and 16, a number one and eight: a message at its
// bound could take a hundred times of it.
const (
	// maxNested is how many messages: a snapshot of 32 requests and as many journeys has
	// some 800.
	maxNested = 2000
	// maxTexts is how many texts and entries of maps: a snapshot of 32 requests has 900
	// status codes of each, and as many names of clients as there is room for, at most
	// 46,000.
	maxTexts = 100_000
	// maxNumbers is how many numbers of lists: ledgers have seven for each of 174,000
	// slices (measure.MaxLedgerBytes).
	maxNumbers = 1_500_000
)

// codec is gRPC's, and counts the parts of a message before it is decoded.
type codec struct{ encoding.CodecV2 }

func newCodec() codec { return codec{encoding.GetCodecV2(encodingproto.Name)} }

// Unmarshal decodes a message.
func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	m, ok := v.(proto.Message)
	if !ok {
		return c.CodecV2.Unmarshal(data, v)
	}
	whole := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer whole.Free()
	if err := (&parts{}).count(whole.ReadOnlyData(), m.ProtoReflect().Descriptor()); err != nil {
		return err
	}
	return c.CodecV2.Unmarshal(mem.BufferSlice{whole}, v)
}

// parts are those of an encoded message, as far as it was looked at.
type parts struct{ nested, texts, numbers int }

func (p *parts) check() error {
	if p.nested > maxNested || p.texts > maxTexts || p.numbers > maxNumbers {
		return fmt.Errorf("the message has too many parts: more than %d messages, %d texts or %d numbers", maxNested, maxTexts, maxNumbers)
	}
	return nil
}

// count adds those of an encoded message of that kind.
func (p *parts) count(b []byte, kind protoreflect.MessageDescriptor) error {
	for len(b) > 0 {
		number, wire, n := protowire.ConsumeTag(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		size := protowire.ConsumeFieldValue(number, wire, b[n:])
		if size < 0 {
			return protowire.ParseError(size)
		}
		if field := kind.Fields().ByNumber(number); field != nil {
			if err := p.field(field, wire, b[n:n+size]); err != nil {
				return err
			}
		}
		b = b[n+size:]
	}
	return nil
}

func (p *parts) field(field protoreflect.FieldDescriptor, wire protowire.Type, b []byte) error {
	value, _ := protowire.ConsumeBytes(b) // none of a number
	switch {
	case wire != protowire.BytesType: // a list may have its numbers one by one
		p.numbers++
	case field.IsPacked():
		p.numbers += packed(value)
	case field.Message() == nil || field.IsMap():
		p.texts++
	default:
		p.nested++
	}
	if err := p.check(); err != nil || wire != protowire.BytesType || field.Message() == nil {
		return err
	}
	return p.count(value, field.Message())
}

// packed is how many numbers a packed list has: each ends with a byte whose highest bit
// is not set.
func packed(b []byte) (n int) {
	for _, c := range b {
		if c < 0x80 {
			n++
		}
	}
	return n
}
