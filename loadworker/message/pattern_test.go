package message

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// allKinds has a message with fields of every kind, of which each may hold a value that comes
// from a variable.
const allKinds = `
name: "kinds.proto" package: "kinds" syntax: "proto3"
dependency: ["google/protobuf/any.proto", "google/protobuf/duration.proto", "google/protobuf/field_mask.proto", "google/protobuf/struct.proto", "google/protobuf/wrappers.proto"]
message_type {
  name: "All"
  field { name: "message" number: 1 type: TYPE_MESSAGE type_name: ".kinds.All" label: LABEL_OPTIONAL }
  field { name: "string" number: 2 type: TYPE_STRING label: LABEL_OPTIONAL }
  field { name: "optional_string" number: 3 type: TYPE_STRING label: LABEL_OPTIONAL oneof_index: 1 proto3_optional: true }
  field { name: "strings" number: 4 type: TYPE_STRING label: LABEL_REPEATED }
  field { name: "messages" number: 50000 type: TYPE_MESSAGE type_name: ".kinds.All" label: LABEL_REPEATED }
  field { name: "choice_string" number: 6 type: TYPE_STRING label: LABEL_OPTIONAL oneof_index: 0 }
  field { name: "choice_int" number: 7 type: TYPE_INT32 label: LABEL_OPTIONAL oneof_index: 0 }
  field { name: "map" number: 8 type: TYPE_MESSAGE type_name: ".kinds.All.MapEntry" label: LABEL_REPEATED }
  field { name: "bytes" number: 9 type: TYPE_BYTES label: LABEL_OPTIONAL }
  field { name: "int32" number: 10 type: TYPE_INT32 label: LABEL_OPTIONAL }
  field { name: "int64" number: 11 type: TYPE_INT64 label: LABEL_OPTIONAL }
  field { name: "uint32" number: 12 type: TYPE_UINT32 label: LABEL_OPTIONAL }
  field { name: "uint64" number: 13 type: TYPE_UINT64 label: LABEL_OPTIONAL }
  field { name: "sint32" number: 14 type: TYPE_SINT32 label: LABEL_OPTIONAL }
  field { name: "sint64" number: 15 type: TYPE_SINT64 label: LABEL_OPTIONAL }
  field { name: "fixed32" number: 16 type: TYPE_FIXED32 label: LABEL_OPTIONAL }
  field { name: "fixed64" number: 17 type: TYPE_FIXED64 label: LABEL_OPTIONAL }
  field { name: "double" number: 18 type: TYPE_DOUBLE label: LABEL_OPTIONAL }
  field { name: "float" number: 19 type: TYPE_FLOAT label: LABEL_OPTIONAL }
  field { name: "bool" number: 20 type: TYPE_BOOL label: LABEL_OPTIONAL }
  field { name: "enum" number: 21 type: TYPE_ENUM type_name: ".kinds.Enum" label: LABEL_OPTIONAL }
  field { name: "packed" number: 22 type: TYPE_INT32 label: LABEL_REPEATED }
  field { name: "unpacked" number: 23 type: TYPE_INT64 label: LABEL_REPEATED options { packed: false } }
  field { name: "optional_int" number: 24 type: TYPE_INT64 label: LABEL_OPTIONAL oneof_index: 2 proto3_optional: true }
  field { name: "any" number: 25 type: TYPE_MESSAGE type_name: ".google.protobuf.Any" label: LABEL_OPTIONAL }
  field { name: "duration" number: 26 type: TYPE_MESSAGE type_name: ".google.protobuf.Duration" label: LABEL_OPTIONAL }
  field { name: "mask" number: 27 type: TYPE_MESSAGE type_name: ".google.protobuf.FieldMask" label: LABEL_OPTIONAL }
  field { name: "struct" number: 28 type: TYPE_MESSAGE type_name: ".google.protobuf.Struct" label: LABEL_OPTIONAL }
  field { name: "wrapped" number: 29 type: TYPE_MESSAGE type_name: ".google.protobuf.Int64Value" label: LABEL_OPTIONAL }
  oneof_decl { name: "choice" } oneof_decl { name: "_optional_string" } oneof_decl { name: "_optional_int" }
  nested_type {
    name: "MapEntry" options { map_entry: true }
    field { name: "key" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL }
    field { name: "value" number: 2 type: TYPE_STRING label: LABEL_OPTIONAL }
  }
}
enum_type { name: "Enum" value { name: "NONE" number: 0 } value { name: "ONE" number: 1 } }
service { name: "S" method { name: "M" input_type: ".kinds.All" output_type: ".kinds.All" } }
`

func kindsMethod(t testing.TB) *Method {
	t.Helper()
	file := &descriptorpb.FileDescriptorProto{}
	must.Succeed(t, prototext.Unmarshal([]byte(allKinds), file))
	set, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{
		protodesc.ToFileDescriptorProto(anypb.File_google_protobuf_any_proto), protodesc.ToFileDescriptorProto(durationpb.File_google_protobuf_duration_proto),
		protodesc.ToFileDescriptorProto(fieldmaskpb.File_google_protobuf_field_mask_proto), protodesc.ToFileDescriptorProto(structpb.File_google_protobuf_struct_proto),
		protodesc.ToFileDescriptorProto(wrapperspb.File_google_protobuf_wrappers_proto), file,
	}})
	must.Succeed(t, err)
	d, err := Read(set)
	must.Succeed(t, err)
	return methodOf(t, d, "kinds.S/M")
}

// filled is JSON in which each % stands for a variable.
func filled(json string) (n int, fill func(*Values) []byte) {
	parts := strings.Split(json, "%")
	return len(parts) - 1, func(v *Values) []byte {
		var b strings.Builder
		for i, p := range parts {
			b.WriteString(p)
			if i < len(parts)-1 {
				b.WriteString(quoted(v.At(i)))
			}
		}
		return []byte(b.String())
	}
}

// quoted is what stands for a text within a string of JSON.
func quoted(text []byte) string {
	var b strings.Builder
	for _, c := range text {
		if c < ' ' || c == '"' || c == '\\' {
			fmt.Fprintf(&b, `\u%04x`, c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func texts(values ...string) *Values {
	return valuesOf(len(values), func(i int) string { return values[i] })
}

// someValues are of all sorts: integers at and beyond the limits of each kind, other forms of
// numbers, and texts.
var someValues = []string{
	"", "0", "1", "-1", "-0", "00", "01", "+1", "1.0", "1e3", " 1", "1 ", "0x1", "127", "128", "2147483647", "2147483648", "-2147483648", "-2147483649",
	"4294967295", "4294967296", "999999999999999999", "-999999999999999999", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
	"18446744073709551615", "18446744073709551616", "1234567800", "1234567801", "text", "fooBar", "\"", "\\", "\\u0041", "\n\x00\x7f", "é", "\u2028\U0001f600", "\xff", "\xed\xa0\x80",
	"NONE", "true", "null", "1s", strings.Repeat("x", 200), strings.Repeat("y", 20000),
}

// sameAsEncode compares a pattern with the library, which decides. used says that it gave the
// message.
func sameAsEncode(t *testing.T, m *Method, p *Pattern, fill func(*Values) []byte, v *Values) (used bool) {
	t.Helper()
	const before = "before"
	got, used := p.Append([]byte(before), v)
	want, err := m.Encode([]byte(before), fill(v))
	if used && (err != nil || !bytes.Equal(got, want)) {
		t.Fatalf("%q is\n%q by the pattern,\n%q by protojson, %v", fill(v), got, want, err)
	}
	if !bytes.HasPrefix(got, []byte(before)) {
		t.Fatalf("%q lost what was before: %q", fill(v), got)
	}
	return used
}

func TestPatternGivesTheBytesOfTheLibrary(t *testing.T) {
	m := kindsMethod(t)
	for _, json := range []string{
		`{"string": "%"}`, `{"string": "a%b"}`, `{"string": "%%"}`, `{"optionalString": "%"}`, `{"strings": ["%", "", "x%", "y"]}`, `{"choiceString": "%"}`, `{"choiceInt": "%"}`,
		`{"int32": "%"}`, `{"int64": "%"}`, `{"uint32": "%"}`, `{"uint64": "%"}`, `{"int64": %}`, `{"int64": "%.0"}`, `{"unpacked": ["%", 5]}`, `{"optionalInt": "%"}`,
		`{"string": "%", "int32": 5, "enum": "ONE", "duration": "3s", "map": {"b": "c", "a": "d"}, "struct": {"x": [1]}}`,
		`{"message": {"string": "%"}}`, `{"message": {"message": {"message": {"string": "%", "int32": 7}}, "int64": "%"}, "string": "%"}`,
		`{"messages": [{"string": "%"}, {}, {"string": "same"}, {"int32": "%"}], "string": "\u0041\"%\\"}`,
	} {
		t.Run(json, func(t *testing.T) {
			n, fill := filled(json)
			p := m.Pattern(n, fill)
			if p == nil {
				t.Fatal("there is no pattern")
			}
			times := 0
			for i, value := range someValues {
				values := []string{value, someValues[(i+7)%len(someValues)], someValues[(i+20)%len(someValues)]}
				if sameAsEncode(t, m, p, fill, texts(values[:n]...)) {
					times++
				}
			}
			if times == 0 {
				t.Error("the pattern fits no value")
			}
		})
	}
}

// What the library does with a value is not known here for these.
func TestMessagesThatAreNotAsTheirJSONHaveNoPattern(t *testing.T) {
	m := kindsMethod(t)
	for _, json := range []string{
		`{"map": {"a": "%"}}`, `{"map": {"%": "a"}}`, `{"bytes": "%ab"}`, `{"bytes": "%"}`, `{"sint32": "%"}`, `{"sint64": "%"}`, `{"fixed32": "%"}`, `{"fixed64": "%"}`,
		`{"double": "%"}`, `{"float": "%"}`, `{"bool": "%"}`, `{"enum": "%"}`, `{"packed": ["%"]}`, `{"any": {"@type": "type.googleapis.com/kinds.All", "string": "%"}}`,
		`{"duration": "%s"}`, `{"mask": "%"}`, `{"struct": {"a": "%"}}`, `{"wrapped": "%"}`, `{"string": "\u00%"}`, `{"string": "\ud83d%"}`, `{"%": 1}`, `{"int32": "-%"}`, `{"int64": "%e1"}`,
		`{"string": "%", "double": "%"}`, `{"double": "%", "string": "1234567800"}`, `{"double": "%", "int64": 1234567800}`, `{"string": "%", "strings": ["1234567800"]}`,
		`{"string": "1234567800%"}`, `{"none": "%"}`, `{`, `{"strings": ["` + strings.Repeat("%", maxVariables+1) + `"]}`,
	} {
		n, fill := filled(json)
		if p := m.Pattern(n, fill); p != nil {
			t.Errorf("%s has the pattern %+v", json, p)
		}
	}
	if _, ok := (*Pattern)(nil).Append(nil, &Values{}); ok {
		t.Error("no pattern gives a message")
	}
}

// As many variables as there can be, of which a text has some next to each other.
func TestPatternOfManyVariables(t *testing.T) {
	m := kindsMethod(t)
	n, fill := filled(`{"strings": ["` + strings.Repeat("%", maxVariables/2) + `", "` + strings.Repeat("-%", maxVariables/2) + `"]}`)
	p := m.Pattern(n, fill)
	if p == nil || !sameAsEncode(t, m, p, fill, valuesOf(n, func(i int) string { return strings.Repeat("z", i) })) {
		t.Errorf("a message of %d variables has no pattern", n)
	}
}

// FuzzPattern: whatever a message and its values are, a pattern gives what the library does, or
// nothing.
func FuzzPattern(f *testing.F) {
	m := kindsMethod(f)
	for i, json := range []string{
		`{"string": "%", "int32": "%"}`, `{"message": {"strings": ["%", "%"]}}`, `{"messages": [{"int64": "%"}], "any": {"@type": "type.googleapis.com/kinds.All", "string": "%"}}`,
		`{"double": "%", "uint64": "%"}`, `{"mask": "%", "struct": {"a": "%"}}`, `{"string": "\u00%%"}`,
	} {
		f.Add(json, someValues[i], someValues[len(someValues)-1-i])
	}
	f.Fuzz(func(t *testing.T, json, a, b string) {
		n, fill := filled(json)
		if n == 0 || n > 10 {
			return
		}
		p := m.Pattern(n, fill)
		values := make([]string, n)
		for i := range values {
			values[i] = []string{a, b}[i%2]
		}
		sameAsEncode(t, m, p, fill, texts(values...))
	})
}

// FuzzPatternOfValues: values of any sort in one message of many fields.
func FuzzPatternOfValues(f *testing.F) {
	m := kindsMethod(f)
	n, fill := filled(`{"string": "<%>", "message": {"int32": "%", "uint64": "%", "strings": ["%", "-"]}, "optionalString": "%"}`)
	p := m.Pattern(n, fill)
	if p == nil {
		f.Fatal("there is no pattern")
	}
	f.Add("a", "1", "2", "b", "c")
	f.Add("", "0", "-0", "\xff", "\"")
	f.Add(strings.Repeat("x", 130), "-1", "18446744073709551615", "", "")
	f.Fuzz(func(t *testing.T, a, b, c, d, e string) {
		sameAsEncode(t, m, p, fill, texts(a, b, c, d, e))
	})
}
