package source

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/loadtest-dev/loadtest-operator/loadworker/message"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/grpc"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

// callOf is a request that is a call with a message.
func callOf(t testing.TB, text string) Request {
	t.Helper()
	return callTo(t, workertest.UnaryCall, text)
}

// callTo is a request that calls a method with messages.
func callTo(t testing.TB, method string, messages ...string) Request {
	t.Helper()
	d, err := message.Read(workertest.Descriptors(t))
	must.Succeed(t, err)
	m, err := d.Method(method)
	must.Succeed(t, err)
	return Request{Name: "call", Weight: 1, Call: &Call{Method: m, Messages: messages, Timeout: time.Second}}
}

// sentMessage is the message of a rendered call.
func sentMessage(t *testing.T, r *transport.Request) *grpc_testing.SimpleRequest {
	t.Helper()
	var m grpc_testing.SimpleRequest
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	must.Succeed(t, proto.Unmarshal(r.Body[grpc.PrefixSize:], &m))
	return &m
}

func TestCallIsAFramedMessageWithTheFieldsOfGRPC(t *testing.T) {
	for _, text := range []string{`{"fillUsername": true, "responseSize": 7}`, `{"fillUsername": true, "responseSize": "${seq}"}`} {
		r := callOf(t, text)
		r.Headers = []Header{{Name: "x-user", Value: "u${user}"}}
		s, err := New(Config{Requests: []Request{r}})
		must.Succeed(t, err)
		var b Buffer
		for range 2 { // into the same memory
			s.Render(&b, 0, Vars{User: 3, Seq: 7})
		}
		got := sentMessage(t, &b.Request)
		if !got.GetFillUsername() || got.GetResponseSize() != 7 || !b.Request.Call || b.Request.Method != "POST" || string(b.Request.Path) != "/grpc.testing.TestService/UnaryCall" {
			t.Errorf("%s: %+v, %v", text, b.Request, got)
		}
		if size := len(b.Request.Body) - grpc.PrefixSize; b.Request.Body[0] != 0 || b.Request.Body[4] != byte(size) || size != 4 {
			t.Errorf("%s: the prefix is %v of %d bytes", text, b.Request.Body[:grpc.PrefixSize], size)
		}
		var headers []string
		for _, h := range b.Request.Headers {
			headers = append(headers, h.Name+": "+string(h.Value))
		}
		if got, want := strings.Join(headers, ", "), "Te: trailers, Content-Type: application/grpc, Grpc-Timeout: 1000000u, X-User: u3"; got != want {
			t.Errorf("headers %s, want %s", got, want)
		}
	}
}

// A row cannot end the string that it stands in.
func TestRowOfDataStaysWithinItsString(t *testing.T) {
	const row = "\", \"fillUsername\": true, \"x\\\n\x01"
	data, err := NewTable("names", []string{"name"}, Sequential)
	must.Succeed(t, err)
	must.Succeed(t, data.Add([]string{row}))
	s, err := New(Config{Requests: []Request{callOf(t, `{"responseStatus": {"message": "$$ <${name}>"}}`)}, Tables: []*Table{data}})
	must.Succeed(t, err)
	var b Buffer
	s.Render(&b, 0, Vars{})
	if got := sentMessage(t, &b.Request); got.GetResponseStatus().GetMessage() != "$ <"+row+">" || got.GetFillUsername() {
		t.Errorf("the message is %v", got)
	}
}

// FuzzRowInMessage: any row of data is in the message as it is, or is no text of protobuf.
func FuzzRowInMessage(f *testing.F) {
	for _, seed := range []string{"", `"`, `\`, "\", \"fillUsername\": true", "${seq}", "$", "\x00\x1f\u2028", "\xff", "\xed\xa0\x80"} {
		f.Add(seed)
	}
	call := callOf(f, `{"responseStatus": {"message": "<${name}>"}}`)
	f.Fuzz(func(t *testing.T, row string) {
		data, err := NewTable("names", []string{"name"}, Sequential)
		must.Succeed(t, err)
		if err := data.Add([]string{row}); err != nil {
			return
		}
		s, err := New(Config{Requests: []Request{call}, Tables: []*Table{data}})
		if (err == nil) != utf8.ValidString(row) {
			t.Fatalf("%q: %v", row, err)
		}
		if err != nil {
			return
		}
		var b Buffer
		s.Render(&b, 0, Vars{})
		if got := sentMessage(t, &b.Request); got.GetResponseStatus().GetMessage() != "<"+row+">" || got.GetFillUsername() {
			t.Errorf("%q is %v", row, got)
		}
	})
}

func TestMessagesThatAreWrongAreRefusedBeforeTheRun(t *testing.T) {
	table := func(rows ...string) *Table {
		data, err := NewTable("sizes", []string{"size"}, Sequential)
		must.Succeed(t, err)
		for _, row := range rows {
			must.Succeed(t, data.Add([]string{row}))
		}
		return data
	}
	tests := map[string]struct {
		text string
		data *Table
		want string
	}{
		"a field that is not":        {`{"size": 1}`, nil, `request "call": message: is not a grpc.testing.SimpleRequest: (line 1:2): unknown field "size"`},
		"one beside a variable":      {`{"responseSize": "${seq}", "size": 1}`, nil, `unknown field "size"`},
		"one beside a row to come":   {`{"responseSize": "${size}", "sizes": 1}`, table(), `unknown field "sizes"`},
		"a value":                    {`{"responseSize": "many"}`, nil, `invalid value for int32 field responseSize: "many"`},
		"a variable of another type": {`{"responseSize": "${uuid}"}`, nil, "invalid value for int32 field responseSize"},
		"a row of another type":      {`{"responseSize": "${size}"}`, table("1", "2", "s3cret"), `sizes: request "call": message: is not a grpc.testing.SimpleRequest: invalid value for int32 field responseSize`},
		"a variable that is not":     {`{"responseSize": "${sise}"}`, nil, "message: unknown variable ${sise}"},
		"no JSON":                    {`{`, nil, "message: is not a grpc.testing.SimpleRequest: unexpected EOF"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := Config{Requests: []Request{callOf(t, tt.text)}}
			if tt.data != nil {
				c.Tables = append(c.Tables, tt.data)
			}
			if _, err := New(c); err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
	for _, name := range []string{"te", "Content-Type", "grpc-timeout", "Grpc-Encoding"} {
		r := callOf(t, "{}")
		r.Headers = []Header{{Name: name, Value: "x"}}
		if _, err := New(Config{Requests: []Request{r}}); err == nil || !strings.Contains(err.Error(), "follows from the call; leave it out") {
			t.Errorf("metadata %s: %v", name, err)
		}
	}
}

// What is known only while the run goes on is the request's outcome.
func TestValueThatFitsNoFieldIsTheOutcomeOfItsRequest(t *testing.T) {
	data, err := NewTable("setup.fill.capture", []string{"size"}, Sequential)
	must.Succeed(t, err)
	s, err := New(Config{Requests: []Request{callOf(t, `{"responseSize": "${size}"}`)}, Tables: []*Table{data}})
	must.Succeed(t, err)
	must.Succeed(t, data.Add([]string{"s3cret"}))
	must.Succeed(t, data.Add([]string{"7"}))
	var b Buffer
	s.Render(&b, 0, Vars{Order: Order{N: 0, Streams: 1}})
	want := `request "call": message: is not a grpc.testing.SimpleRequest: invalid value for int32 field responseSize`
	if b.Request.Err == nil || b.Request.Err.Error() != want {
		t.Errorf("%v, want %s", b.Request.Err, want)
	}
	s.Render(&b, 0, Vars{Order: Order{N: 1, Streams: 1}})
	if got := sentMessage(t, &b.Request); got.GetResponseSize() != 7 {
		t.Errorf("the next one is %v", got)
	}
}

func TestCallExpectsAStatusAndFieldsOfTheReply(t *testing.T) {
	const ok, notFound, exhausted = 0, 5, measure.GRPCResourceExhausted
	reply, err := proto.Marshal(&grpc_testing.SimpleResponse{Username: "ann"})
	must.Succeed(t, err)
	expecting := func(name string, e Expectation) Request {
		r := callOf(t, "{}")
		r.Name, r.Expect = name, e
		return r
	}
	s, err := New(Config{Requests: []Request{
		expecting("any reply", Expectation{}),
		expecting("no such", Expectation{Status: []int32{ok, notFound}, JSON: []ExpectedValue{{Path: ".username", Equals: "ann"}, {Path: ".serverId", Equals: ""}}}),
		expecting("bob", Expectation{JSON: []ExpectedValue{{Path: ".username", Equals: "bob"}}}),
	}})
	must.Succeed(t, err)
	tests := []struct {
		request, status int
		body            []byte
		want            string
	}{
		{0, ok, nil, ""},
		{0, ok, []byte("no message at all"), ""}, // which is not looked at
		{0, notFound, nil, "status 5 NOT_FOUND instead of OK"},
		{0, 200, nil, "status 200 OK instead of OK"},
		{1, ok, reply, ""},
		{1, notFound, nil, ""},
		{1, exhausted, nil, "status 8 RESOURCE_EXHAUSTED instead of OK or NOT_FOUND"},
		{1, ok, nil, `.username: a string of 0 bytes instead of "ann"`},
		{1, ok, []byte("x"), "the reply of 1 bytes is not a grpc.testing.SimpleResponse"},
		{2, ok, reply, `.username: a string of 3 bytes instead of "bob"`},
	}
	for _, tt := range tests {
		r := answered(tt.status, tt.body)
		err := s.CheckStatus(tt.request, tt.status)
		if err == nil {
			err = s.CheckBody(tt.request, r)
		}
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("request %d, status %d, %q: %v, want %q", tt.request, tt.status, tt.body, err, tt.want)
		}
	}
	if _, err := s.Document(1, &transport.Response{Status: notFound}); err == nil || err.Error() != "status 5 NOT_FOUND has no reply" {
		t.Errorf("the document of a failure: %v", err)
	}
}

// A target may declare so many fields that a few bytes of each reply take long to look at, even
// if the JSON is short. What all replies of a call take together has a bound.
func TestJSONOfAllRepliesIsBounded(t *testing.T) {
	const fields = 10_000
	wide := &descriptorpb.DescriptorProto{Name: proto.String("Wide")}
	for i := range int32(fields) {
		wide.Field = append(wide.Field, &descriptorpb.FieldDescriptorProto{
			Name: proto.String(fmt.Sprint("f", i)), Number: proto.Int32(i + 1),
			Type: descriptorpb.FieldDescriptorProto_TYPE_INT32.Enum(), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
		})
	}
	d, err := message.Sent([]*descriptorpb.FileDescriptorProto{{
		Name: proto.String("a.proto"), Package: proto.String("a"), MessageType: []*descriptorpb.DescriptorProto{wide},
		Service: []*descriptorpb.ServiceDescriptorProto{{Name: proto.String("S"), Method: []*descriptorpb.MethodDescriptorProto{{
			Name: proto.String("M"), InputType: proto.String(".a.Wide"), OutputType: proto.String(".a.Wide"), ServerStreaming: proto.Bool(true),
		}}}},
	}})
	must.Succeed(t, err)
	m, err := d.Method("a.S/M")
	must.Succeed(t, err)
	r := Request{Name: "call", Weight: 1, Call: &Call{Method: m, Messages: []string{"{}"}, Timeout: time.Second}}
	r.Expect.JSON = []ExpectedValue{{Path: ".f0", Equals: "1"}}
	s, err := New(Config{Requests: []Request{r}})
	must.Succeed(t, err)
	for n, fit := range map[int]bool{1: true, 20: true, 100: false} {
		err := s.CheckBody(0, answered(measure.GRPCOK, slices.Repeat([][]byte{{8, 1}}, n)...))
		if (err == nil) != fit || err != nil && !strings.Contains(err.Error(), "as JSON it may have more than") {
			t.Errorf("%d replies: %v", n, err)
		}
	}
	if _, err := s.Document(0, answered(measure.GRPCOK, slices.Repeat([][]byte{{8, 1}}, 100)...)); err != nil {
		t.Errorf("the last of 100 replies: %v", err)
	}
}

// answered is the response to a call with replies.
func answered(status int, replies ...[]byte) *transport.Response {
	r := &transport.Response{Status: status, Replies: int64(len(replies))}
	for _, m := range replies {
		framed := append(make([]byte, grpc.PrefixSize), m...)
		grpc.Frame(framed, false)
		r.Body = append(r.Body, framed...)
		r.Size += int64(len(m))
	}
	return r
}

// BenchmarkCheckReplies looks at as many replies as are decoded of one call.
func BenchmarkCheckReplies(b *testing.B) {
	reply, err := proto.Marshal(&grpc_testing.StreamingOutputCallResponse{Payload: &grpc_testing.Payload{Body: []byte("some text")}})
	must.Succeed(b, err)
	r := callTo(b, workertest.StreamingOutputCall, "{}")
	r.Expect.JSON = []ExpectedValue{{Path: ".payload.type", Equals: "COMPRESSABLE"}}
	s, err := New(Config{Requests: []Request{r}})
	must.Succeed(b, err)
	response := answered(measure.GRPCOK, slices.Repeat([][]byte{reply}, maxReplies)...)
	b.ReportAllocs()
	for b.Loop() {
		must.Succeed(b, s.CheckBody(0, response))
	}
}

func BenchmarkRenderCall(b *testing.B) {
	for name, text := range map[string]string{
		"constant":          `{"responseSize": 7, "responseStatus": {"message": "some text of a few words"}}`,
		"templated":         `{"responseSize": "${seq}", "responseStatus": {"message": "some text of ${user} words"}}`,
		"by protojson":      `{"responseSize": "${seq}", "responseStatus": {"message": "some text of ${user} words"}}`,
		"constant in gzip":  `{"responseSize": 7, "responseStatus": {"message": "some text of a few words"}}`,
		"templated in gzip": `{"responseSize": "${seq}", "responseStatus": {"message": "some text of ${user} words"}}`,
	} {
		b.Run(name, func(b *testing.B) {
			r := callOf(b, text)
			r.Call.Gzip = strings.Contains(name, "gzip")
			s, err := New(Config{Requests: []Request{r}})
			must.Succeed(b, err)
			if name == "by protojson" { // as what has no pattern
				s.requests[0].call.messages[0].pattern = nil
			}
			var buffer Buffer
			b.ReportAllocs()
			for i := range b.N {
				s.Render(&buffer, 0, Vars{Seq: int64(i), User: 3})
			}
		})
	}
}
