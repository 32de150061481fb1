package draft_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/draft"
	"github.com/loadtest-dev/loadtest-operator/loadworker/message"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// set is a file with protobuf's own that it may import.
func set(file *descriptorpb.FileDescriptorProto) *descriptorpb.FileDescriptorSet {
	list := &descriptorpb.FileDescriptorSet{}
	for _, f := range []protoreflect.FileDescriptor{
		anypb.File_google_protobuf_any_proto, durationpb.File_google_protobuf_duration_proto, emptypb.File_google_protobuf_empty_proto,
		fieldmaskpb.File_google_protobuf_field_mask_proto, structpb.File_google_protobuf_struct_proto,
		timestamppb.File_google_protobuf_timestamp_proto, wrapperspb.File_google_protobuf_wrappers_proto,
	} {
		list.File = append(list.File, protodesc.ToFileDescriptorProto(f))
	}
	list.File = append(list.File, file)
	return list
}

// servicesOf are those of a file.
func servicesOf(t *testing.T, file *descriptorpb.FileDescriptorProto) (list []protoreflect.ServiceDescriptor) {
	t.Helper()
	files, err := protodesc.NewFiles(set(file))
	must.Succeed(t, err)
	f, err := files.FindFileByPath(file.GetName())
	must.Succeed(t, err)
	for i := range f.Services().Len() {
		list = append(list, f.Services().Get(i))
	}
	return list
}

// fromGRPC makes a draft of a file, checks that a worker can encode all of its messages, and
// returns it as the API has it.
func fromGRPC(t *testing.T, file *descriptorpb.FileDescriptorProto) (*v1beta1.LoadTest, string) {
	t.Helper()
	d, err := draft.FromGRPC(servicesOf(t, file))
	must.Succeed(t, err)
	d.Origin, d.Health = "http://shop:9090", true
	d.SetHeader("Authorization", "Bearer "+secret)
	lt, manifest := accepted(t, d, nil)
	encoded, err := proto.Marshal(set(file))
	must.Succeed(t, err)
	descriptors, err := message.Read(encoded)
	must.Succeed(t, err)
	for _, r := range lt.Spec.Requests {
		m, err := descriptors.Method(r.GRPC.Method)
		must.Succeed(t, err)
		for _, sent := range messagesOf(r.GRPC) {
			if _, err := m.Encode(nil, []byte(sent)); err != nil {
				t.Errorf("%s: %s %v", r.Name, sent, err)
			}
		}
	}
	return lt, manifest
}

func messagesOf(c *v1beta1.Call) (list []string) {
	if c.Message != nil {
		list = append(list, string(c.Message.Raw))
	}
	for _, m := range c.Messages {
		list = append(list, string(m.Raw))
	}
	return list
}

func TestFromGRPC(t *testing.T) {
	file := &descriptorpb.FileDescriptorProto{}
	must.Succeed(t, prototext.Unmarshal(read(t, "shop.txtpb"), file))
	lt, manifest := fromGRPC(t, file)
	hides(t, manifest, "authorization")
	got := map[string]string{}
	for _, r := range lt.Spec.Requests {
		weight := int32(1)
		if r.Weight != nil {
			weight = *r.Weight
		}
		got[r.Name] = fmt.Sprintf("%s %d %s", r.GRPC.Method, weight, strings.Join(messagesOf(r.GRPC), " "))
	}
	want := map[string]string{
		"Add": `shop.v1.Cart/Add 1 {"cart_id":"cart_id-${seq}","gift":false,"item":{"count":1,"sku":"sku-${seq}"},"mail":"mail-${seq}",` +
			`"note":"note-${seq}","photo":"dGV4dA==","prices":{"key":1},"state":"OPEN","states":{"1":"OPEN"},"tags":["tags-${seq}"],"weight":1}`,
		"ListItems":        "shop.v1.Cart/ListItems 4 ",
		"Import":           `shop.v1.Cart/Import 1 {"count":1,"sku":"sku-${seq}"}`,
		"Chat":             "shop.v1.Cart/Chat 1 {}",
		"BatchDeleteItems": "shop.v1.Cart/BatchDeleteItems 0 ",
		"Known": `shop.v1.Cart/Known 4 {"any_value":"any_value-${seq}","at":"2026-01-31T12:00:00Z","empty":{},"every":["1s"],` +
			`"more":{"key":"more-${seq}"},"nick":"nick-${seq}","size":1,"values":["values-${seq}"]}`,
		"Anything": `shop.v1.Cart/Anything 1 {"key":"text-${seq}"}`,
	}
	same.As(t, "requests", want, got)
	spec := lt.Spec
	if spec.Target.Protocol != v1beta1.ProtocolHTTP2 || spec.Target.GRPC != nil || spec.Target.URL != "http://shop:9090" || len(spec.Target.Headers) != 1 {
		t.Errorf("target %+v", spec.Target)
	}
	if len(spec.Preflight) != 1 || spec.Preflight[0].GRPCHealth == nil {
		t.Errorf("preflight %+v, want that the target's health is asked for", spec.Preflight)
	}
	for _, want := range []string{"Left out: 2 methods", "# It returns a stream of replies.", "# It takes a stream of messages.\n", "# It takes a stream of messages, and returns one of replies."} {
		if !strings.Contains(manifest, want) {
			t.Errorf("the manifest does not say %q:\n%s", want, manifest)
		}
	}
}

// made is a file of messages whose fields are made by a function, and a service whose method M
// takes the first.
func made(messages int, fields func(i int) []*descriptorpb.FieldDescriptorProto) *descriptorpb.FileDescriptorProto {
	file := &descriptorpb.FileDescriptorProto{Name: proto.String("a.proto"), Package: proto.String("a"), Syntax: proto.String("proto3"), Service: []*descriptorpb.ServiceDescriptorProto{{
		Name:   proto.String("S"),
		Method: []*descriptorpb.MethodDescriptorProto{{Name: proto.String("M"), InputType: proto.String(".a.T0"), OutputType: proto.String(".a.T0")}},
	}}}
	for i := range messages {
		file.MessageType = append(file.MessageType, &descriptorpb.DescriptorProto{Name: proto.String(fmt.Sprint("T", i)), Field: fields(i)})
	}
	return file
}

// fieldOf is a field; a type of "" is a string.
func fieldOf(name string, number int, typeName string, label descriptorpb.FieldDescriptorProto_Label) *descriptorpb.FieldDescriptorProto {
	f := &descriptorpb.FieldDescriptorProto{Name: &name, Number: proto.Int32(int32(number)), Label: &label, Type: descriptorpb.FieldDescriptorProto_TYPE_STRING.Enum()}
	if typeName != "" {
		f.Type, f.TypeName = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum(), &typeName
	}
	return f
}

// Whatever the types of a server, a message is bounded, and says if it lacks something.
func TestMessagesOfHostileTypesAreBounded(t *testing.T) {
	const one, many = descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL, descriptorpb.FieldDescriptorProto_LABEL_REPEATED
	const said = "Fields of its message that are deep within others, or too many, are left out."
	for name, tt := range map[string]struct {
		file *descriptorpb.FileDescriptorProto
		cut  bool
	}{
		"a chain": {made(100, func(i int) []*descriptorpb.FieldDescriptorProto {
			if i == 99 {
				return nil
			}
			return []*descriptorpb.FieldDescriptorProto{fieldOf("next", 1, fmt.Sprint(".a.T", i+1), one)}
		}), true},
		"each type in every other": {made(40, func(int) (list []*descriptorpb.FieldDescriptorProto) {
			for i := range 40 {
				list = append(list, fieldOf(fmt.Sprint("f", i), i+1, fmt.Sprint(".a.T", i), many))
			}
			return list
		}), true},
		"many fields": {made(1, func(int) (list []*descriptorpb.FieldDescriptorProto) {
			for i := range 10000 {
				list = append(list, fieldOf(fmt.Sprint("f", i), i+1, "", one))
			}
			return list
		}), true},
		"long names": {made(1, func(int) (list []*descriptorpb.FieldDescriptorProto) {
			for i := range 100 {
				list = append(list, fieldOf(strings.Repeat("n", 490)+fmt.Sprint(i), i+1, "", one))
			}
			return list
		}), true},
		"itself": {made(1, func(int) []*descriptorpb.FieldDescriptorProto {
			return []*descriptorpb.FieldDescriptorProto{fieldOf("self", 1, ".a.T0", one), fieldOf("selves", 2, ".a.T0", many), fieldOf("name", 3, "", one)}
		}), false},
	} {
		t.Run(name, func(t *testing.T) {
			lt, manifest := fromGRPC(t, tt.file)
			sent := strings.Join(messagesOf(lt.Spec.Requests[0].GRPC), "")
			if len(sent) > 6<<10 || len(manifest) > 64<<10 {
				t.Errorf("a message of %d bytes, in a manifest of %d", len(sent), len(manifest))
			}
			if strings.Contains(manifest, said) != tt.cut {
				t.Errorf("the manifest says that fields are left out: %v, want %v", !tt.cut, tt.cut)
			}
			if name == "itself" && sent != `{"name":"name-${seq}"}` {
				t.Errorf("message %s", sent)
			}
		})
	}
}

// A oneof whose first field cannot be written has the next.
func TestAOneofThatBeginsWithItsOwnTypeHasItsNextField(t *testing.T) {
	const one = descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL
	file := made(1, func(int) []*descriptorpb.FieldDescriptorProto {
		list := []*descriptorpb.FieldDescriptorProto{fieldOf("not", 1, ".a.T0", one), fieldOf("term", 2, "", one), fieldOf("phrase", 3, "", one)}
		for _, f := range list {
			f.OneofIndex = proto.Int32(0)
		}
		return list
	})
	file.MessageType[0].OneofDecl = []*descriptorpb.OneofDescriptorProto{{Name: proto.String("kind")}}
	lt, _ := fromGRPC(t, file)
	if got := string(lt.Spec.Requests[0].GRPC.Message.Raw); got != `{"term":"term-${seq}"}` {
		t.Errorf("message %s", got)
	}
}

// Files of proto2 have required fields, and groups.
func TestMessagesOfProto2AreComplete(t *testing.T) {
	file := &descriptorpb.FileDescriptorProto{}
	if err := prototext.Unmarshal([]byte(`name: "b.proto" package: "b" syntax: "proto2"
		message_type {
		  name: "Q"
		  field { name: "id" number: 1 label: LABEL_REQUIRED type: TYPE_FIXED64 }
		  field { name: "result" number: 2 label: LABEL_REPEATED type: TYPE_GROUP type_name: ".b.Q.Result" }
		  field { name: "kind" number: 4 label: LABEL_REQUIRED type: TYPE_ENUM type_name: ".b.Q.Kind" default_value: "ONLY" }
		  nested_type { name: "Result" field { name: "url" number: 3 label: LABEL_REQUIRED type: TYPE_STRING default_value: "a\nb" } }
		  enum_type { name: "Kind" value { name: "ONLY" number: 0 } }
		  extension_range { start: 100 end: 200 }
		}
		extension { name: "more" number: 100 label: LABEL_OPTIONAL type: TYPE_STRING extendee: ".b.Q" }
		service { name: "S" method { name: "M" input_type: ".b.Q" output_type: ".b.Q" } }`), file); err != nil {
		t.Fatal(err)
	}
	lt, _ := fromGRPC(t, file)
	same.As(t, "message", `{"id":1,"kind":"ONLY","result":[{"url":"url-${seq}"}]}`, string(lt.Spec.Requests[0].GRPC.Message.Raw))
}

// Names that YAML takes for something else, in one of its versions, stay names.
func TestNamesOfYAMLAreFieldsAndValues(t *testing.T) {
	names := []string{"y", "N", "yes", "No", "on", "OFF", "true", "null", "_1", "e1", "inf", "nan"}
	want := map[string]string{}
	file := made(1, func(int) (list []*descriptorpb.FieldDescriptorProto) {
		for i, name := range names {
			f := fieldOf(name, i+1, "", descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL)
			f.Type, f.TypeName = descriptorpb.FieldDescriptorProto_TYPE_ENUM.Enum(), proto.String(fmt.Sprintf(".a.H%d.E", i))
			list, want[name] = append(list, f), name
		}
		return list
	})
	// Values of an enumeration are names beside its own: each is within a message.
	for i, name := range names {
		e := &descriptorpb.EnumDescriptorProto{Name: proto.String("E"), Value: []*descriptorpb.EnumValueDescriptorProto{
			{Name: proto.String("ZERO"), Number: proto.Int32(0)}, {Name: proto.String(name), Number: proto.Int32(1)},
		}}
		file.MessageType = append(file.MessageType, &descriptorpb.DescriptorProto{Name: proto.String(fmt.Sprint("H", i)), EnumType: []*descriptorpb.EnumDescriptorProto{e}})
	}
	lt, manifest := fromGRPC(t, file)
	got := map[string]string{}
	if err := json.Unmarshal(lt.Spec.Requests[0].GRPC.Message.Raw, &got); err != nil {
		t.Fatalf("%v:\n%s", err, manifest)
	}
	same.As(t, "message", want, got)
	d, err := draft.FromCurl([]string{"http://shop/", "-d", "no"})
	if lt, _ := accepted(t, d, err); lt.Spec.Requests[0].HTTP.Body != "no" {
		t.Errorf("body %q, want no", lt.Spec.Requests[0].HTTP.Body)
	}
}

// More methods than a LoadTest may have requests: those that delete are left out first.
func TestTooManyMethods(t *testing.T) {
	file := made(1, func(int) []*descriptorpb.FieldDescriptorProto { return nil })
	file.Service[0].Method = nil
	for i := range 40 {
		name := fmt.Sprint("Put", i)
		if i < 10 {
			name = fmt.Sprint("Delete", i)
		}
		file.Service[0].Method = append(file.Service[0].Method, &descriptorpb.MethodDescriptorProto{Name: &name, InputType: proto.String(".a.T0"), OutputType: proto.String(".a.T0")})
	}
	lt, manifest := fromGRPC(t, file)
	deletes := 0
	for _, r := range lt.Spec.Requests {
		if strings.HasPrefix(r.Name, "Delete") {
			deletes++
		}
	}
	if len(lt.Spec.Requests) != 32 || deletes != 2 || !strings.Contains(manifest, "Left out: 8 of 40 requests") {
		t.Errorf("%d requests, %d of them delete:\n%s", len(lt.Spec.Requests), deletes, manifest)
	}
}

// Methods of several services have the names of theirs.
func TestRequestsOfSeveralServicesAreNamedByThem(t *testing.T) {
	file := made(1, func(int) []*descriptorpb.FieldDescriptorProto { return nil })
	other := proto.Clone(file.Service[0]).(*descriptorpb.ServiceDescriptorProto)
	other.Name = proto.String(strings.Repeat("Long", 40))
	file.Service = append(file.Service, other)
	lt, _ := fromGRPC(t, file)
	if got := []string{lt.Spec.Requests[0].Name, lt.Spec.Requests[1].Name}; got[0] != "S/M" || !strings.HasPrefix(got[1], "LongLong") || len(got[1]) != 63 {
		t.Errorf("requests %q", got)
	}
}

func TestGRPCRefusesServicesWithoutMethods(t *testing.T) {
	file := made(1, func(int) []*descriptorpb.FieldDescriptorProto { return nil })
	file.Service[0].Method[0].Options = &descriptorpb.MethodOptions{Deprecated: proto.Bool(true)}
	_, err := draft.FromGRPC(servicesOf(t, file))
	must.Say(t, err, "have no methods that can be called; left out are 1 that are deprecated")
}
