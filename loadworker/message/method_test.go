package message

import (
	"errors"
	"strings"
	"testing"

	"google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

func unaryCall(t testing.TB) *Method {
	t.Helper()
	d, err := Read(workertest.Descriptors(t))
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.Method(workertest.UnaryCall)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMessageIsEncodedByItsDescriptor(t *testing.T) {
	m := unaryCall(t)
	got, err := m.Encode([]byte("before"), []byte(`{"responseSize": "7", "payload": {"body": "aGk="}, "response_status": {"code": 5}}`))
	if err != nil {
		t.Fatal(err)
	}
	var read grpc_testing.SimpleRequest
	if err := proto.Unmarshal(got[len("before"):], &read); err != nil {
		t.Fatal(err)
	}
	want := &grpc_testing.SimpleRequest{
		ResponseSize: 7, Payload: &grpc_testing.Payload{Body: []byte("hi")}, ResponseStatus: &grpc_testing.EchoStatus{Code: 5},
	}
	if !proto.Equal(&read, want) || m.Path() != "/grpc.testing.TestService/UnaryCall" {
		t.Errorf("%v is sent to %s, want %v", &read, m.Path(), want)
	}
}

func TestErrorOfAMessageNamesTheFieldAndHidesTheValue(t *testing.T) {
	tests := map[string]struct{ json, want, hidden string }{
		"a value of another type": {`{"responseSize": "s3cret"}`, `field responseSize: "s3cret"`, "is no grpc.testing.SimpleRequest: invalid value for int32 field responseSize"},
		"one that is too large":   {`{"responseSize": 5000000000}`, "field responseSize: 5000000000", "is no grpc.testing.SimpleRequest: invalid value for int32 field responseSize"},
		"a name of an enum":       {`{"responseType": "s3cret"}`, `"s3cret"`, "is no grpc.testing.SimpleRequest: invalid value for enum field responseType"},
		"within another":          {`{"responseStatus": {"code": "s3cret"}}`, `field code: "s3cret"`, "is no grpc.testing.SimpleRequest: invalid value for int32 field code"},
		"a field that is not":     {`{"s3cret": 1}`, `unknown field "s3cret"`, "is no grpc.testing.SimpleRequest"},
		"no JSON":                 {`{"responseSize`, "unexpected EOF", "is no grpc.testing.SimpleRequest"},
		"no UTF-8":                {"{\"responseStatus\": {\"message\": \"s3cret\xff\"}}", "UTF-8", "is no grpc.testing.SimpleRequest"},
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
	if err != nil {
		t.Fatal(err)
	}
	got, err := unaryCall(t).Decode(reply)
	if err != nil {
		t.Fatal(err)
	}
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
		"no protobuf":   {[]byte("s3cret"), "the reply of 6 bytes is no grpc.testing.SimpleResponse: its bytes are not in protobuf's format"},
		"no UTF-8":      {[]byte{0x12, 1, 0xff}, "the reply of 3 bytes is no grpc.testing.SimpleResponse"},
		"cut short":     {[]byte{0x12, 5, 'a'}, "the reply of 3 bytes is no grpc.testing.SimpleResponse"},
		"a group alone": {[]byte{0x0c}, "the reply of 1 bytes is no grpc.testing.SimpleResponse"},
		"deep groups":   {[]byte(strings.Repeat("\x0b", MaxReply)), "is no grpc.testing.SimpleResponse"},
		"too long":      {make([]byte, MaxReply+1), "reply of 262145 bytes, at most 262144 are looked at"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := unaryCall(t).Decode(tt.reply)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(failure.Message(err, false), "s3cret") {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

// FuzzDecode: whatever a target sends is JSON or an error.
func FuzzDecode(f *testing.F) {
	m := unaryCall(f)
	f.Add([]byte{})
	f.Add([]byte{0x12, 1, 'a'})
	f.Add([]byte{0x0a, 2, 8, 0})
	f.Add([]byte{0x0b, 0x0c})
	f.Fuzz(func(t *testing.T, reply []byte) {
		got, err := m.Decode(reply)
		if (err == nil) != (len(got) > 0) {
			t.Errorf("%q, %v", got, err)
		}
	})
}

func TestDescriptorsThatAreNoneAreRefused(t *testing.T) {
	set := workertest.Descriptors(t)
	without := func() []byte {
		var list descriptorpb.FileDescriptorSet
		if err := proto.Unmarshal(set, &list); err != nil {
			t.Fatal(err)
		}
		list.File = list.GetFile()[len(list.GetFile())-1:]
		rest, err := proto.Marshal(&list)
		if err != nil {
			t.Fatal(err)
		}
		return rest
	}
	for name, tt := range map[string]struct {
		set  []byte
		want string
	}{
		"empty":           {nil, "is no descriptor set of protobuf: it must be binary"},
		"a source":        {[]byte(`syntax = "proto3";`), "is no descriptor set of protobuf: it must be binary"},
		"cut short":       {set[:len(set)-1], "is no descriptor set of protobuf"},
		"without imports": {without(), `is no complete descriptor set: could not resolve import "grpc/testing/empty.proto": not found; protoc must have --include_imports`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Read(tt.set); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

func TestMethodIsUnaryAndThere(t *testing.T) {
	d, err := Read(workertest.Descriptors(t))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"UnaryCall":                                    `"UnaryCall" is no method such as shop.v1.Cart/Add`,
		"grpc.testing.Other/UnaryCall":                 "the descriptors have no service grpc.testing.Other, but grpc.testing.HookService, grpc.testing.LoadBalancerStatsService, grpc.testing.ReconnectService, grpc.testing.TestService, ",
		"grpc.testing.SimpleRequest/UnaryCall":         "the descriptors have no service grpc.testing.SimpleRequest",
		"grpc.testing.TestService/Call":                "service grpc.testing.TestService has no method Call, but CacheableUnaryCall, EmptyCall, FullDuplexCall",
		"grpc.testing.TestService/StreamingOutputCall": "is a method of streams; only unary calls can be sent",
		"grpc.testing.TestService/StreamingInputCall":  "is a method of streams",
		"grpc.testing.TestService/UnaryCall/":          "has no method UnaryCall/",
	} {
		if _, err := d.Method(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}
