package message

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

func unaryCall(t testing.TB) *Method {
	t.Helper()
	d, err := Read(workertest.Descriptors(t))
	must.Succeed(t, err)
	return methodOf(t, d, workertest.UnaryCall)
}

func methodOf(t testing.TB, d *Descriptors, name string) *Method {
	t.Helper()
	m, err := d.Method(name)
	must.Succeed(t, err)
	return m
}

// sentMethod is the method of files that a target sends.
func sentMethod(t testing.TB, files ...*descriptorpb.FileDescriptorProto) *Method {
	t.Helper()
	d, err := Sent(files)
	must.Succeed(t, err)
	return methodOf(t, d, "a.S/M")
}

func TestMessageIsEncodedByItsDescriptor(t *testing.T) {
	m := unaryCall(t)
	got, err := m.Encode([]byte("before"), []byte(`{"responseSize": "7", "payload": {"body": "aGk="}, "response_status": {"code": 5}}`))
	must.Succeed(t, err)
	var read grpc_testing.SimpleRequest
	must.Succeed(t, proto.Unmarshal(got[len("before"):], &read))
	want := &grpc_testing.SimpleRequest{
		ResponseSize: 7, Payload: &grpc_testing.Payload{Body: []byte("hi")}, ResponseStatus: &grpc_testing.EchoStatus{Code: 5},
	}
	if !proto.Equal(&read, want) || m.Path() != "/grpc.testing.TestService/UnaryCall" {
		t.Errorf("%v is sent to %s, want %v", &read, m.Path(), want)
	}
}

func TestErrorOfAMessageNamesTheFieldAndHidesTheValue(t *testing.T) {
	tests := map[string]struct{ json, want, hidden string }{
		"a value of another type": {`{"responseSize": "s3cret"}`, `field responseSize: "s3cret"`, "is not a grpc.testing.SimpleRequest: invalid value for int32 field responseSize"},
		"one that is too large":   {`{"responseSize": 5000000000}`, "field responseSize: 5000000000", "is not a grpc.testing.SimpleRequest: invalid value for int32 field responseSize"},
		"a name of an enum":       {`{"responseType": "s3cret"}`, `"s3cret"`, "is not a grpc.testing.SimpleRequest: invalid value for enum field responseType"},
		"within another":          {`{"responseStatus": {"code": "s3cret"}}`, `field code: "s3cret"`, "is not a grpc.testing.SimpleRequest: invalid value for int32 field code"},
		"a field that is not":     {`{"s3cret": 1}`, `unknown field "s3cret"`, "is not a grpc.testing.SimpleRequest"},
		"no JSON":                 {`{"responseSize`, "unexpected EOF", "is not a grpc.testing.SimpleRequest"},
		"no UTF-8":                {"{\"responseStatus\": {\"message\": \"s3cret\xff\"}}", "UTF-8", "is not a grpc.testing.SimpleRequest"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := unaryCall(t).Encode(nil, []byte(tt.json))
			var wrong *Error
			if !errors.As(err, &wrong) || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("%v, want %q", err, tt.want)
			}
			if got := wrong.Hidden().Error(); got != tt.hidden {
				t.Errorf("hidden %q, want %q", got, tt.hidden)
			}
			if got := wrong.IsUnknownField(); got != (name == "a field that is not") {
				t.Errorf("IsUnknownField() = %v", got)
			}
		})
	}
}

func TestReplyIsJSONWithFieldsOfTheDefaultValue(t *testing.T) {
	reply, err := proto.Marshal(&grpc_testing.SimpleResponse{Payload: &grpc_testing.Payload{Body: []byte("hi")}})
	must.Succeed(t, err)
	got, _, err := unaryCall(t).Decode(reply, MaxJSON)
	must.Succeed(t, err)
	want := `{"payload":{"type":"COMPRESSABLE","body":"aGk="},"username":"","oauthScope":"","serverId":"","grpclbRouteType":"GRPCLB_ROUTE_TYPE_UNKNOWN","hostname":""}`
	if strings.ReplaceAll(string(got), " ", "") != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A target can send anything in place of a reply.
func TestReplyThatIsNoneIsAnErrorWithoutItsText(t *testing.T) {
	tests := map[string]struct {
		reply []byte
		want  string
	}{
		"no protobuf":   {[]byte("s3cret"), "the reply of 6 bytes is not a grpc.testing.SimpleResponse: its bytes are not in protobuf's format"},
		"no UTF-8":      {[]byte{0x12, 1, 0xff}, "the reply of 3 bytes is not a grpc.testing.SimpleResponse"},
		"cut short":     {[]byte{0x12, 5, 'a'}, "the reply of 3 bytes is not a grpc.testing.SimpleResponse"},
		"a group alone": {[]byte{0x0c}, "the reply of 1 bytes is not a grpc.testing.SimpleResponse"},
		"deep groups":   {[]byte(strings.Repeat("\x0b", MaxReply)), "is not a grpc.testing.SimpleResponse"},
		"too long":      {make([]byte, MaxReply+1), "reply of 262145 bytes; the worker reads at most 262144"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, err := unaryCall(t).Decode(tt.reply, MaxJSON)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(failure.Message(err, false), "s3cret") {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

// FuzzEncode: whatever is JSON of the type is the message that generated code reads of it,
// behind what was there; anything else is an error and appends nothing.
func FuzzEncode(f *testing.F) {
	m := unaryCall(f)
	for _, seed := range []string{
		`{}`, `{"fillUsername": true, "responseSize": 7}`, `{"payload": {"body": "aGk="}}`, `{"response_size": "7"}`,
		`{"responseType": "RANDOM"}`, `{"responseSize": 1e400}`, `{"a": 1}`, `{"payload": {"payload": {}}}`, `[]`, `"\ud800"`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		const before = "before"
		got, err := m.Encode([]byte(before), text)
		var want grpc_testing.SimpleRequest
		if wrong := protojson.Unmarshal(text, &want); (wrong == nil) != (err == nil) {
			t.Fatalf("%q: %v, generated code says %v", text, err, wrong)
		}
		message, ok := bytes.CutPrefix(got, []byte(before))
		if !ok || err != nil && len(message) > 0 {
			t.Fatalf("%q: %q, %v", text, got, err)
		}
		var read grpc_testing.SimpleRequest
		if err := proto.Unmarshal(message, &read); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if err == nil && !bytes.Equal(deterministic(t, &read), deterministic(t, &want)) {
			t.Fatalf("%q is encoded as %v, want %v", text, &read, &want)
		}
	})
}

func deterministic(t *testing.T, m proto.Message) []byte {
	t.Helper()
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	must.Succeed(t, err)
	return b
}

// FuzzRead: each method that is found in any bytes encodes and decodes, or says why not.
func FuzzRead(f *testing.F) {
	set, err := proto.Marshal(&descriptorpb.FileDescriptorSet{ // a small one: most of the changes then mean something
		File: []*descriptorpb.FileDescriptorProto{protodesc.ToFileDescriptorProto(grpc_health_v1.File_grpc_health_v1_health_proto)},
	})
	must.Succeed(f, err)
	f.Add(set)
	f.Add(set[:len(set)/2])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, set []byte) {
		d, err := Read(set)
		if err != nil {
			return
		}
		var list descriptorpb.FileDescriptorSet
		must.Succeed(t, proto.Unmarshal(set, &list))
		for _, file := range list.GetFile() {
			for _, service := range file.GetService() {
				for _, method := range service.GetMethod() {
					m, err := d.Method(strings.TrimPrefix(file.GetPackage()+".", ".") + service.GetName() + "/" + method.GetName())
					if err != nil {
						continue // of streams
					}
					_, _ = m.Encode(nil, []byte(`{}`)) // neither panics: a field may be required
					_, _, _ = m.Decode(nil, MaxJSON)
				}
			}
		}
	})
}

// FuzzDecode: whatever a target sends is JSON or an error.
func FuzzDecode(f *testing.F) {
	m := unaryCall(f)
	f.Add([]byte{})
	f.Add([]byte{0x12, 1, 'a'})
	f.Add([]byte{0x0a, 2, 8, 0})
	f.Add([]byte{0x0b, 0x0c})
	f.Fuzz(func(t *testing.T, reply []byte) {
		got, _, err := m.Decode(reply, MaxJSON)
		if (err == nil) != (len(got) > 0) {
			t.Errorf("%q, %v", got, err)
		}
	})
}

func TestDescriptorsThatAreNoneAreRefused(t *testing.T) {
	set := workertest.Descriptors(t)
	without := func() []byte {
		var list descriptorpb.FileDescriptorSet
		must.Succeed(t, proto.Unmarshal(set, &list))
		list.File = list.GetFile()[len(list.GetFile())-1:]
		rest, err := proto.Marshal(&list)
		must.Succeed(t, err)
		return rest
	}
	for name, tt := range map[string]struct {
		set  []byte
		want string
	}{
		"empty":           {nil, "is not a descriptor set of protobuf: it must be binary"},
		"a source":        {[]byte(`syntax = "proto3";`), "is not a descriptor set of protobuf: it must be binary"},
		"cut short":       {set[:len(set)-1], "is not a descriptor set of protobuf"},
		"without imports": {without(), `is not a complete descriptor set: could not resolve import "grpc/testing/empty.proto": not found; give protoc the flag --include_imports`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Read(tt.set); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

func TestMethodIsOfMessagesOrOfStreams(t *testing.T) {
	d, err := Read(workertest.Descriptors(t))
	must.Succeed(t, err)
	for name, want := range map[string][2]bool{
		workertest.UnaryCall: {false, false}, workertest.StreamingOutputCall: {false, true},
		workertest.StreamingInputCall: {true, false}, workertest.FullDuplexCall: {true, true},
	} {
		m := methodOf(t, d, name)
		if m.Name() != name || m.TakesStream() != want[0] || m.ReturnsStream() != want[1] {
			t.Errorf("%s takes a stream: %v, returns one: %v; want %v", m.Name(), m.TakesStream(), m.ReturnsStream(), want)
		}
	}
}

func TestMethodThatIsNotThereIsRefused(t *testing.T) {
	d, err := Read(workertest.Descriptors(t))
	must.Succeed(t, err)
	for name, want := range map[string]string{
		"UnaryCall":                            `"UnaryCall" is not a method such as shop.v1.Cart/Add`,
		"grpc.testing.Other/UnaryCall":         "the descriptors have no service grpc.testing.Other, but grpc.testing.HookService, grpc.testing.LoadBalancerStatsService, grpc.testing.ReconnectService, grpc.testing.TestService, ",
		"grpc.testing.SimpleRequest/UnaryCall": "the descriptors have no service grpc.testing.SimpleRequest",
		"grpc.testing.TestService/Call":        "service grpc.testing.TestService has no method Call, but CacheableUnaryCall, EmptyCall, FullDuplexCall",
		"grpc.testing.TestService/UnaryCall/":  "has no method UnaryCall/",
	} {
		if _, err := d.Method(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

func TestDigestIsOfTheFilesAlone(t *testing.T) {
	read := func(change func(*descriptorpb.FileDescriptorSet)) string {
		var list descriptorpb.FileDescriptorSet
		must.Succeed(t, proto.Unmarshal(workertest.Descriptors(t), &list))
		change(&list)
		d, err := Sent(list.GetFile())
		must.Succeed(t, err)
		return d.Digest()
	}
	given, err := Read(workertest.Descriptors(t))
	must.Succeed(t, err)
	for name, tt := range map[string]struct {
		change func(*descriptorpb.FileDescriptorSet)
		same   bool
	}{
		"as they are":      {func(*descriptorpb.FileDescriptorSet) {}, true},
		"in another order": {func(s *descriptorpb.FileDescriptorSet) { slices.Reverse(s.File) }, true},
		"with comments":    {func(s *descriptorpb.FileDescriptorSet) { s.File[0].SourceCodeInfo = &descriptorpb.SourceCodeInfo{} }, true},
		"another field": {func(s *descriptorpb.FileDescriptorSet) {
			s.File[1].MessageType[0].Field[0].Name = proto.String("other")
		}, false},
		"one file more": {func(s *descriptorpb.FileDescriptorSet) {
			s.File = append(s.File, &descriptorpb.FileDescriptorProto{Name: proto.String("a")})
		}, false},
		"an unknown option": {func(s *descriptorpb.FileDescriptorSet) { s.File[0].ProtoReflect().SetUnknown([]byte{0xf8, 0x7f, 1}) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := read(tt.change); (got == given.Digest()) != tt.same || len(got) != len("sha256:")+64 {
				t.Errorf("%s, of the files as they are %s", got, given.Digest())
			}
		})
	}
}

// file is one of a target with a unary method that takes and returns a message.
func file(messages ...*descriptorpb.DescriptorProto) *descriptorpb.FileDescriptorProto {
	return &descriptorpb.FileDescriptorProto{
		Name: proto.String("a.proto"), Package: proto.String("a"), Syntax: proto.String("proto3"), MessageType: messages,
		Service: []*descriptorpb.ServiceDescriptorProto{{Name: proto.String("S"), Method: []*descriptorpb.MethodDescriptorProto{
			{Name: proto.String("M"), InputType: proto.String(".a.Q"), OutputType: proto.String(".a.Q")},
		}}},
	}
}

// repeated is a field of any number of values.
func repeated(name string, number int32, kind descriptorpb.FieldDescriptorProto_Type, message string) *descriptorpb.FieldDescriptorProto {
	f := field(name, number, kind, message)
	f.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
	return f
}

func field(name string, number int32, kind descriptorpb.FieldDescriptorProto_Type, message string) *descriptorpb.FieldDescriptorProto {
	f := &descriptorpb.FieldDescriptorProto{Name: proto.String(name), Number: proto.Int32(number), Type: kind.Enum(), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()}
	if message != "" {
		f.TypeName = proto.String(message)
	}
	return f
}

// The library panics over a Timestamp with other fields.
func TestWellKnownMessagesHaveTheirFields(t *testing.T) {
	const whole, text, message = descriptorpb.FieldDescriptorProto_TYPE_INT64, descriptorpb.FieldDescriptorProto_TYPE_STRING, descriptorpb.FieldDescriptorProto_TYPE_MESSAGE
	for name, fields := range map[string][]*descriptorpb.FieldDescriptorProto{
		"none":           nil,
		"of other types": {field("seconds", 1, text, ""), field("nanos", 2, text, "")},
		"others beside":  {field("seconds", 1, whole, ""), field("nanos", 2, descriptorpb.FieldDescriptorProto_TYPE_INT32, ""), field("more", 3, text, "")},
	} {
		t.Run(name, func(t *testing.T) {
			timestamp := &descriptorpb.FileDescriptorProto{
				Name: proto.String("t.proto"), Package: proto.String("google.protobuf"), Syntax: proto.String("proto3"),
				MessageType: []*descriptorpb.DescriptorProto{{Name: proto.String("Timestamp"), Field: fields}},
			}
			f := file(&descriptorpb.DescriptorProto{Name: proto.String("Q"), Field: []*descriptorpb.FieldDescriptorProto{field("at", 1, message, ".google.protobuf.Timestamp")}})
			f.Dependency = []string{"t.proto"}
			_, err := Sent([]*descriptorpb.FileDescriptorProto{timestamp, f})
			if err == nil || failure.Message(err, false) != "is not a valid set of descriptors" || !strings.Contains(failure.Message(err, true), "google.protobuf.Timestamp is declared with other fields") {
				t.Errorf("%v", err)
			}
		})
	}
}

// A few bytes of a reply are no megabytes of JSON, whatever the target declared.
func TestJSONOfAReplyIsBounded(t *testing.T) {
	const number, message, text = descriptorpb.FieldDescriptorProto_TYPE_INT32, descriptorpb.FieldDescriptorProto_TYPE_MESSAGE, descriptorpb.FieldDescriptorProto_TYPE_STRING
	wide := &descriptorpb.DescriptorProto{Name: proto.String("Wide")}
	for i := range int32(1000) {
		wide.Field = append(wide.Field, field(fmt.Sprint("field", i), i+1, number, ""))
	}
	many := repeated("many", 1, message, ".a.Wide")
	m := sentMethod(t, file(wide, &descriptorpb.DescriptorProto{Name: proto.String("Q"), Field: []*descriptorpb.FieldDescriptorProto{many, field("text", 2, text, "")}}))
	for n, fit := range map[int]bool{1: true, 50: true, 1000: false, MaxReply / 2: false} {
		json, _, err := m.Decode([]byte(strings.Repeat("\x0a\x00", n)), MaxJSON)
		if (err == nil) != fit || len(json) > MaxJSON || err != nil && !strings.Contains(err.Error(), "as JSON it may have more than 4194304 bytes") {
			t.Errorf("%d empty messages: %d bytes of JSON, %v", n, len(json), err)
		}
	}
	long := append([]byte{0x12}, binary.AppendUvarint(nil, MaxReply-8)...)
	if json, _, err := m.Decode(append(long, strings.Repeat("\x1f", MaxReply-8)...), MaxJSON); err != nil || len(json) > MaxJSON {
		t.Errorf("the longest text: %d bytes of JSON, %v", len(json), err)
	}
}

// JSON has the full name of each extension, however short it is in a reply.
func TestJSONOfExtensionsIsBounded(t *testing.T) {
	const number, message = descriptorpb.FieldDescriptorProto_TYPE_INT32, descriptorpb.FieldDescriptorProto_TYPE_MESSAGE
	many := repeated("many", 1, message, ".a.Open")
	f := file(&descriptorpb.DescriptorProto{Name: proto.String("Q"), Field: []*descriptorpb.FieldDescriptorProto{many}}, &descriptorpb.DescriptorProto{
		Name: proto.String("Open"), ExtensionRange: []*descriptorpb.DescriptorProto_ExtensionRange{{Start: proto.Int32(1), End: proto.Int32(9)}},
	})
	extension := field(strings.Repeat("x", 500), 1, number, "")
	extension.Extendee = proto.String(".a.Open")
	f.Syntax, f.Extension = proto.String("proto2"), []*descriptorpb.FieldDescriptorProto{extension}
	m := sentMethod(t, f)
	if json, _, err := m.Decode([]byte(strings.Repeat("\x0a\x02\x08\x00", 100)), MaxJSON); err != nil || !strings.Contains(string(json), "[a.xxx") {
		t.Errorf("100 extensions: %d bytes of JSON, %v", len(json), err)
	}
	if json, _, err := m.Decode([]byte(strings.Repeat("\x0a\x02\x08\x00", 50_000)), MaxJSON); err == nil {
		t.Errorf("50,000 extensions: %d bytes of JSON", len(json))
	}
}

// methodOfAny is a method whose reply has a google.protobuf.Any, beside other messages.
func methodOfAny(t *testing.T, others ...*descriptorpb.DescriptorProto) *Method {
	t.Helper()
	reply := &descriptorpb.DescriptorProto{Name: proto.String("Q"), Field: []*descriptorpb.FieldDescriptorProto{
		field("any", 1, descriptorpb.FieldDescriptorProto_TYPE_MESSAGE, ".google.protobuf.Any"),
	}}
	f := file(append([]*descriptorpb.DescriptorProto{reply}, others...)...)
	f.Syntax, f.Dependency = proto.String("proto2"), []string{anypb.File_google_protobuf_any_proto.Path()}
	return sentMethod(t, protodesc.ToFileDescriptorProto(anypb.File_google_protobuf_any_proto), f)
}

// Each google.protobuf.Any within another has a copy of all that is in it.
func TestAnyWithinAnyIsBounded(t *testing.T) {
	m := methodOfAny(t)
	for n, fit := range map[int]bool{3: true, 5000: false} {
		held := []byte("\x0a\x04/a.Q") // an Any of an empty Q
		for range n {
			held = append(binary.AppendUvarint([]byte("\x0a\x14/google.protobuf.Any\x12"), uint64(len(held))), held...)
		}
		_, _, err := m.Decode(append(binary.AppendUvarint([]byte{0x0a}, uint64(len(held))), held...), MaxJSON)
		if (err == nil) != fit || err != nil && !strings.Contains(err.Error(), "as JSON it may have more than") {
			t.Errorf("%d of them: %v", n, err)
		}
	}
}

// The library leaves the required fields of what a google.protobuf.Any holds unchecked, and goes
// deeper into it than replies may be.
func TestWhatAnyHoldsIsBoundedAsTheLibraryReadsIt(t *testing.T) {
	const number, message = descriptorpb.FieldDescriptorProto_TYPE_INT32, descriptorpb.FieldDescriptorProto_TYPE_MESSAGE
	required := field("required", 1, number, "")
	required.Label = descriptorpb.FieldDescriptorProto_LABEL_REQUIRED.Enum()
	wide := &descriptorpb.DescriptorProto{Name: proto.String("Wide")}
	for i := range int32(1000) {
		wide.Field = append(wide.Field, repeated(fmt.Sprint("field", i), i+1, number, ""))
	}
	m := methodOfAny(t, &descriptorpb.DescriptorProto{Name: proto.String("Held"), Field: []*descriptorpb.FieldDescriptorProto{
		required, repeated("many", 2, message, ".a.Wide"), field("deeper", 3, message, ".a.Held"),
	}}, wide)
	deep := func(levels int) (held []byte) {
		for range levels {
			held = append(binary.AppendUvarint([]byte{0x1a}, uint64(len(held))), held...)
		}
		return held
	}
	for name, tt := range map[string]struct {
		held []byte
		want string // of the error
	}{
		"without what is required":    {bytes.Repeat([]byte{0x12, 0}, 3), ""},
		"too much":                    {bytes.Repeat([]byte{0x12, 0}, 1000), "as JSON it may have more than"},
		"deep":                        {deep(maxDepth - 1), ""},
		"too deep":                    {deep(maxDepth + 1), "it has no form in JSON"},
		"no message at all":           {[]byte{0xff}, "it has no form in JSON"},
		"too deep, and then too much": {append(deep(maxDepth+1), bytes.Repeat([]byte{0x12, 0}, 1000)...), "it has no form in JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			held := append(binary.AppendUvarint([]byte("\x0a\x07/a.Held\x12"), uint64(len(tt.held))), tt.held...)
			json, _, err := m.Decode(append(binary.AppendUvarint([]byte{0x0a}, uint64(len(held))), held...), MaxJSON)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%d bytes of JSON, %v; want %q", len(json), err, tt.want)
			}
		})
	}
}
