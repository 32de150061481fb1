package message

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/anypb"
)

// MaxJSON bounds the JSON of a reply, in bytes. Every message in it has all its fields there,
// and names are as long as the target's descriptors say: without a bound two bytes could
// become any number.
const MaxJSON = 16 * MaxReply

// overhead is the most that stands around a value and its name (quotes, a colon, a comma and
// brackets), with a number of at most 24 digits.
const overhead = 32

var errNoForm = errors.New("it has no form in JSON")

// measure counts how many bytes the JSON of a message may have: too many rather than too few.
// It ends with an error as soon as there are more than most.
func measure(m protoreflect.Message, types *dynamicpb.Types, most int) (size int, err error) {
	s := measured{types: types, left: most}
	switch {
	case s.message(m):
	case s.left < 0:
		err = fmt.Errorf("as JSON it may have more than %d bytes", most)
	default:
		err = errNoForm
	}
	return most - s.left, err
}

// measured is what is left of the bound. Its methods return false if nothing is, or if there is
// no JSON.
type measured struct {
	types *dynamicpb.Types
	left  int
}

func (s *measured) take(n int) bool {
	s.left -= n
	return s.left >= 0
}

func (s *measured) message(m protoreflect.Message) bool {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		n := len(f.JSONName()) + overhead
		if e := f.Enum(); e != nil && e.Values().Len() > 0 {
			n += len(e.Values().Get(0).Name())
		}
		if !s.take(n) {
			return false
		}
	}
	if m.Descriptor().FullName() == (&anypb.Any{}).ProtoReflect().Descriptor().FullName() {
		return s.any(m)
	}
	fit := true
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		fit = s.field(f, v)
		return fit
	})
	return fit
}

func (s *measured) field(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
	// An extension is no field of its message, and has its full name in JSON.
	if f.IsExtension() && !s.take(len(f.FullName())+overhead) {
		return false
	}
	switch {
	case f.IsList():
		for i := range v.List().Len() {
			if !s.value(f, v.List().Get(i)) {
				return false
			}
		}
		return true
	case f.IsMap():
		fit := true
		v.Map().Range(func(key protoreflect.MapKey, v protoreflect.Value) bool {
			fit = s.value(f.MapKey(), key.Value()) && s.value(f.MapValue(), v)
			return fit
		})
		return fit
	}
	return s.value(f, v)
}

func (s *measured) value(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
	n := overhead
	switch {
	case f.Message() != nil:
		return s.take(n) && s.message(v.Message())
	case f.Enum() != nil:
		if e := f.Enum().Values().ByNumber(v.Enum()); e != nil {
			n += len(e.Name())
		}
	case f.Kind() == protoreflect.StringKind:
		n += 6 * len(v.String()) // \u001f
	case f.Kind() == protoreflect.BytesKind:
		n += 2 * len(v.Bytes()) // base64
	}
	return s.take(n)
}

// any is a google.protobuf.Any, whose JSON is that of the message which it holds. What
// cannot be read has no JSON, and neither has what is deeper than replies may be: the library
// would go deeper. As it does, any leaves the required fields unchecked.
func (s *measured) any(m protoreflect.Message) bool {
	fields := m.Descriptor().Fields()
	name, encoded := m.Get(fields.ByNumber(1)).String(), m.Get(fields.ByNumber(2)).Bytes()
	// One may hold another, and so on: each has a copy of all that is in it.
	if !s.take(6*len(name) + len(encoded)) {
		return false
	}
	if name == "" && len(encoded) == 0 {
		return true
	}
	t, err := s.types.FindMessageByURL(name)
	if err != nil {
		return false
	}
	held := t.New()
	options := proto.UnmarshalOptions{AllowPartial: true, Resolver: s.types, RecursionLimit: maxDepth}
	return options.Unmarshal(encoded, held.Interface()) == nil && s.message(held)
}
