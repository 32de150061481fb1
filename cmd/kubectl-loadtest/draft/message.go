package draft

import (
	"slices"

	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/reflect/protoreflect"
)

const (
	// maxMessage bounds the JSON of a message that is made up, in bytes: kubectl apply keeps an
	// object, of at most 32 of them, in an annotation of at most 256 KiB.
	maxMessage = 6 << 10
	// around is the most that stands around a field's name and its value, with the text that
	// is made up behind the name.
	around = 32
)

// messageMaker makes up a message in protobuf's JSON.
type messageMaker struct {
	left int // of maxMessage
	// within are the types of the messages around.
	within []protoreflect.FullName
	// cut says that fields were left out, since they were too deep or too many.
	cut bool
}

// message has the fields of its type, but for deprecated ones, and one of each oneof. It is nil
// if the message is within one of its own type, or too deep.
func (m *messageMaker) message(d protoreflect.MessageDescriptor) *yaml.Node {
	if slices.Contains(m.within, d.FullName()) {
		return nil
	}
	if len(m.within) > deepest {
		m.cut = true
		return nil
	}
	m.within = append(m.within, d.FullName())
	defer func() { m.within = m.within[:len(m.within)-1] }()
	var fields []pair
	chosen := map[protoreflect.Name]bool{} // the oneofs
	for i := range d.Fields().Len() {
		f := d.Fields().Get(i)
		// What is left out in the end counts, too: it takes time.
		if m.left -= 2*len(f.Name()) + around; m.left < 0 {
			m.cut = true
			break
		}
		one := f.ContainingOneof()
		if isDeprecated(f) || one != nil && chosen[one.Name()] {
			continue
		}
		if value := m.field(f); value != nil {
			fields = append(fields, field(string(f.Name()), value))
			if one != nil {
				chosen[one.Name()] = true
			}
		}
	}
	return object(fields...)
}

// field is the value of a field, which has one element if it can have several; nil: none.
func (m *messageMaker) field(f protoreflect.FieldDescriptor) *yaml.Node {
	switch {
	case f.IsMap():
		if value := m.value(f.MapValue(), f.Name()); value != nil {
			return object(field(exampleKey(f.MapKey().Kind()), value))
		}
		return nil
	case f.IsList():
		if value := m.value(f, f.Name()); value != nil {
			return list(value)
		}
		return nil
	}
	return m.value(f, f.Name())
}

func exampleKey(k protoreflect.Kind) string {
	switch k {
	case protoreflect.StringKind:
		return "key"
	case protoreflect.BoolKind:
		return "true"
	}
	return "1"
}

// value is one value of a field, of which a text has a name; nil: none.
func (m *messageMaker) value(f protoreflect.FieldDescriptor, name protoreflect.Name) *yaml.Node {
	switch f.Kind() {
	case protoreflect.StringKind:
		return scalar(string(name) + "-${seq}")
	case protoreflect.BytesKind:
		return scalar("dGV4dA==") // text
	case protoreflect.BoolKind:
		return boolean(false)
	case protoreflect.EnumKind:
		return m.enum(f.Enum())
	case protoreflect.MessageKind, protoreflect.GroupKind:
		if value, ok := m.wellKnown(f.Message(), name); ok {
			return value
		}
		return m.message(f.Message())
	}
	return number(1)
}

// enum is the first value that is not 0, which by custom is that of no choice.
func (m *messageMaker) enum(d protoreflect.EnumDescriptor) *yaml.Node {
	if d.FullName() == "google.protobuf.NullValue" {
		return nil
	}
	var name protoreflect.Name
	for i := range d.Values().Len() {
		v := d.Values().Get(i)
		if i == 0 || v.Number() != 0 {
			name = v.Name()
		}
		if v.Number() != 0 {
			break
		}
	}
	m.left -= len(name)
	return scalar(string(name))
}

// wellKnown are messages that have a JSON of their own; not ok: d is none of them.
func (m *messageMaker) wellKnown(d protoreflect.MessageDescriptor, name protoreflect.Name) (value *yaml.Node, ok bool) {
	switch d.FullName() {
	case "google.protobuf.Any", "google.protobuf.FieldMask":
		return nil, true // that they are absent has a meaning, and others depend on the method
	case "google.protobuf.Timestamp":
		return scalar("2026-01-31T12:00:00Z"), true
	case "google.protobuf.Duration":
		return scalar("1s"), true
	case "google.protobuf.Struct":
		return object(field("key", scalar(string(name)+"-${seq}"))), true
	case "google.protobuf.Value":
		return scalar(string(name) + "-${seq}"), true
	case "google.protobuf.ListValue":
		return list(scalar(string(name) + "-${seq}")), true
	case "google.protobuf.StringValue", "google.protobuf.BytesValue", "google.protobuf.BoolValue",
		"google.protobuf.Int32Value", "google.protobuf.Int64Value", "google.protobuf.UInt32Value", "google.protobuf.UInt64Value",
		"google.protobuf.FloatValue", "google.protobuf.DoubleValue":
		if f := d.Fields().ByName("value"); f != nil && f.Message() == nil {
			return m.value(f, name), true
		}
	}
	return nil, false
}
