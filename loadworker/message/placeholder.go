package message

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

const (
	// maxVariables is how many placeholders there are.
	maxVariables = 100
	// firstPlaceholder has as many digits as all others, and can be the value of any integer.
	// Placeholders that stand next to each other contain no other one, since 12345678 is only
	// at their beginnings.
	firstPlaceholder = 1_234_567_800
	placeholderSize  = 10
)

func placeholder(i int) string { return strconv.Itoa(firstPlaceholder + i) }

// valuesOf are n values.
func valuesOf(n int, value func(int) string) *Values {
	v := &Values{}
	for i := range n {
		v.Text = append(v.Text, value(i)...)
		v.Ends = append(v.Ends, len(v.Text))
	}
	return v
}

// Pattern finds the pattern of messages with n variables; json is their JSON with values. It is
// nil if there is none, since some variable is neither in a string of a message nor an integer:
// such messages have to be encoded one by one.
func (m *Method) Pattern(n int, json func(*Values) []byte) *Pattern {
	if n > maxVariables {
		return nil
	}
	encoded, err := m.Encode(nil, json(valuesOf(n, placeholder)))
	if err != nil {
		return nil
	}
	s := search{found: make([]int, n)}
	p := &Pattern{pieces: s.pieces(encoded, m.request)}
	if slices.ContainsFunc(s.found, func(times int) bool { return times != 1 }) || !m.holds(p, n, json) {
		return nil
	}
	return p
}

// holds reports whether a pattern gives what Encode does for some values: a placeholder that
// was found could be a text of the message that looks like one.
func (m *Method) holds(p *Pattern, n int, json func(*Values) []byte) bool {
	for _, value := range []func(int) string{
		func(int) string { return "0" },
		strconv.Itoa,
		func(int) string { return "" },
		func(i int) string { return "\"fooBar\\ é_" + strconv.Itoa(i) },
	} {
		v := valuesOf(n, value)
		got, ok := p.Append(nil, v)
		if !ok {
			continue
		}
		if want, err := m.Encode(nil, json(v)); err != nil || !bytes.Equal(got, want) {
			return false
		}
	}
	return true
}

// search finds placeholders in encoded messages, and counts how often.
type search struct{ found []int }

// pieces takes an encoded message apart.
func (s *search) pieces(encoded []byte, d protoreflect.MessageDescriptor) (list []piece) {
	start, at := 0, 0
	for at < len(encoded) {
		number, kind, tag := protowire.ConsumeTag(encoded[at:])
		size := protowire.ConsumeFieldValue(number, kind, encoded[at+tag:])
		next := at + tag + size
		if p, ok := s.field(encoded[at+tag:next], kind, d.Fields().ByNumber(number)); ok {
			p.before, p.tag = encoded[start:at:at], encoded[at:at+tag:at+tag]
			list = append(list, p)
			start = next
		}
		at = next
	}
	return append(list, piece{before: encoded[start:]})
}

// field finds placeholders in the value of a field; none are found where JSON is no direct
// form of it: in maps, and in messages that have a form of their own in JSON.
func (s *search) field(value []byte, kind protowire.Type, d protoreflect.FieldDescriptor) (p piece, ok bool) {
	if d == nil || d.IsMap() || strings.HasPrefix(string(d.ContainingMessage().FullName()), "google.protobuf.") {
		return p, false
	}
	p.implicit = !d.HasPresence() && !d.IsList()
	switch {
	case kind == protowire.BytesType && d.Kind() == protoreflect.StringKind:
		content, _ := protowire.ConsumeBytes(value)
		p.kind, p.segments = ofText, s.segments(string(content))
		return p, len(p.segments) > 1
	case kind == protowire.BytesType && d.Kind() == protoreflect.MessageKind:
		content, _ := protowire.ConsumeBytes(value)
		p.kind, p.message = ofMessage, s.pieces(content, d.Message())
		return p, len(p.message) > 1
	case kind == protowire.VarintType:
		content, _ := protowire.ConsumeVarint(value)
		p.kind = ofInteger
		p.number, ok = s.number(content, d.Kind())
		return p, ok
	}
	return p, false
}

// segments takes a text apart at placeholders.
func (s *search) segments(content string) (list []segment) {
	start := 0
	for at := 0; at+placeholderSize <= len(content); {
		i, ok := s.placeholder(content[at : at+placeholderSize])
		if !ok {
			at++
			continue
		}
		s.found[i]++
		list = append(list, segment{content[start:at], i})
		at += placeholderSize
		start = at
	}
	return append(list, segment{content[start:], -1})
}

func (s *search) placeholder(content string) (i int, ok bool) {
	n, err := strconv.Atoi(content)
	i = n - firstPlaceholder
	return i, err == nil && i >= 0 && i < len(s.found)
}

// number is the variable of an integer that is a placeholder.
func (s *search) number(content uint64, kind protoreflect.Kind) (n number, ok bool) {
	i := int64(content) - firstPlaceholder
	if i < 0 || i >= int64(len(s.found)) {
		return n, false
	}
	n.value = int(i)
	switch kind {
	case protoreflect.Int32Kind:
		n.low, n.high = math.MinInt32, math.MaxInt32
	case protoreflect.Int64Kind:
		n.low, n.high = math.MinInt64, math.MaxInt64
	case protoreflect.Uint32Kind:
		n.high = math.MaxUint32
	case protoreflect.Uint64Kind:
		n.high = math.MaxInt64 // which has more digits than are read here
	default:
		return n, false
	}
	s.found[n.value]++
	return n, true
}
