package assemble

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/stats"
	"google.golang.org/protobuf/proto"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	wire "github.com/loadtest-dev/loadtest-operator/loadworker/transport/grpc"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

// calling is an assignment of calls of several methods.
func calling(t *testing.T, url string, step *workerv1.Step, calls ...*workerv1.Call) *workerv1.Assignment {
	t.Helper()
	a := callsTo(t, url, step)
	for i, c := range calls {
		a.Requests = append(a.Requests, &workerv1.Request{Name: fmt.Sprint("call ", i), Type: "Call", Weight: 1, Call: c})
	}
	return a
}

func messages(texts ...string) (list [][]byte) {
	for _, text := range texts {
		list = append(list, []byte(text))
	}
	return list
}

// output asks for a stream of replies of such sizes, which ends with a status.
func output(status int, sizes ...int) *workerv1.Call {
	return &workerv1.Call{Method: workertest.StreamingOutputCall, Messages: messages(outputMessage(status, sizes...))}
}

func outputMessage(status int, sizes ...int) string {
	parameters := make([]string, len(sizes))
	for i, size := range sizes {
		parameters[i] = fmt.Sprintf(`{"size": %d}`, size)
	}
	return fmt.Sprintf(`{"responseParameters": [%s], "responseStatus": {"code": %d}}`, strings.Join(parameters, ", "), status)
}

func payload(body string) string { return fmt.Sprintf(`{"payload": {"body": %q}}`, body) }

// Whatever sends the calls, each status is counted as often as grpc-go answered with it. Whatever the streams of
// a call, it is one request with one status.
func TestCallsAreCountedByTheStatusOfTheTarget(t *testing.T) {
	ways := map[string]struct {
		step   *workerv1.Step
		change func(*workerv1.Assignment)
	}{
		"users":                      {workertest.Burst(0, 5, 46), func(*workerv1.Assignment) {}},
		"a rate":                     {rated(230), func(*workerv1.Assignment) {}},
		"a connection for each call": {workertest.Burst(0, 2, 46), func(a *workerv1.Assignment) { a.Target.DisableKeepAlive = true }},
		"in gzip": {workertest.Burst(0, 5, 46), func(a *workerv1.Assignment) {
			for _, r := range a.Requests {
				r.Call.Gzip = true
			}
		}},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			server := workertest.ServeCalls(t)
			calls := []*workerv1.Call{
				output(0, 3, 0, 1000),
				output(0),
				output(5, 1, 2),
				{Method: workertest.StreamingInputCall, Messages: messages(payload("YW5u"), payload("Ym9i"), "{}")},
				{Method: workertest.FullDuplexCall, Messages: messages(outputMessage(0, 1, 2), `{"payload": {"body": "AAAA"}, "responseParameters": [{"size": "${user}"}]}`, outputMessage(0))},
				{Method: workertest.FullDuplexCall, Messages: messages(slices.Repeat([]string{outputMessage(8, 1)}, 100)...)},
			}
			statuses := []int{0, 0, 5, 0, 0, 8}
			for status := range measure.MaxGRPC + 1 {
				statuses = append(statuses, status)
				calls = append(calls, &workerv1.Call{Method: workertest.UnaryCall, Messages: messages(answering(status))})
			}
			a := calling(t, server.URL, way.step, calls...)
			a.Requests[3].ExpectedJson = []*workerv1.ExpectedValue{{Path: ".aggregatedPayloadSize", Equals: "6"}}
			a.Requests[4].MinReplies, a.Requests[4].MaxReplies = 3, 3
			way.change(a)
			got := run(t, prepared(t, a, testConfig(), ignore))
			each := got.Requests[0].Sent
			want := map[codes.Code]int64{}
			for i, status := range statuses {
				class := measure.ClassifyStatus(status, status == measure.GRPCOK)
				if q := &got.Requests[i]; q.Outcomes[class] != q.Sent || q.Sent != each || each == 0 {
					t.Errorf("call %d: %v of %d sent, want %v; %v", i, q.Outcomes, q.Sent, class, errorsOf(got))
				}
				want[codes.Code(status)] += each
			}
			if answered := server.Statuses(); !maps.Equal(answered, want) {
				t.Errorf("the target answered %v, want %v", answered, want)
			}
			delete(want, codes.DeadlineExceeded) // a timeout is no response
			if all := counted(got); !maps.Equal(all, want) {
				t.Errorf("counted %v, the target %v", all, want)
			}
			if n := server.Messages(); n != 7*each {
				t.Errorf("the target got %d messages of streams, want %d", n, 7*each)
			}
			if want := `request "call 20": status 14 UNAVAILABLE`; errorsOf(got)[measure.ServerError] == "" || errorsOf(got)[measure.Timeout] != `request "call 10": status 4 DEADLINE_EXCEEDED` {
				t.Errorf("errors %v, want such as %q", errorsOf(got), want)
			}
		})
	}
}

// What is expected of replies is checked of each of them, and their number, compressed or
// not; maxBytes is about what was transferred.
func TestExpectationsOfAStream(t *testing.T) {
	value := func(path, equals string) []*workerv1.ExpectedValue {
		return []*workerv1.ExpectedValue{{Path: path, Equals: equals}}
	}
	tests := map[string]struct {
		call       *workerv1.Call
		expect     *workerv1.Request
		want, gzip string // the error; "": it is expected
	}{
		"a value of each":         {output(0, 1, 2, 3), &workerv1.Request{ExpectedJson: value(".payload.type", "COMPRESSABLE"), MinReplies: 3, MaxReplies: 3}, "", ""},
		"a later one lacks it":    {output(0, 1, 1), &workerv1.Request{ExpectedJson: value(".payload.body", "YQ==")}, `reply 2: .payload.body: a string of 4 bytes instead of "YQ=="`, "as without"},
		"none, where one may be":  {output(0), &workerv1.Request{ExpectedJson: value(".payload.body", "YQ==")}, "", ""},
		"none":                    {output(0), &workerv1.Request{MinReplies: 1}, "the call ends after 0 replies, at least 1 are expected", "as without"},
		"a value that it has not": {output(0, 1), &workerv1.Request{ExpectedJson: value(".more", "")}, `reply 1: .more: the reply's JSON of `, "as without"},
		"too few":                 {output(0, 1, 1), &workerv1.Request{MinReplies: 3}, "the call ends after 2 replies, at least 3 are expected", "as without"},
		"too many":                {output(0, 1, 1, 1), &workerv1.Request{MaxReplies: 2}, "3 replies, at most 2 are expected", "as without"},
		"too few, and an error":   {output(5, 1), &workerv1.Request{MinReplies: 2, ExpectedStatus: []int32{0, 5}}, "", ""},
		"all of them too large":   {output(0, 4000, 4000), &workerv1.Request{MaxBodyBytes: 8000}, "replies of 8012 bytes, at most 8000 are expected", ""},
		"one that is too large":   {output(0, 300_000), &workerv1.Request{ExpectedJson: value(".payload.type", "COMPRESSABLE")}, "reply 1: reply of 300008 bytes; the worker reads at most 262144", "which are more than 262144 bytes of text"},
		"all too large to look":   {output(0, slices.Repeat([]int{200_000}, 6)...), &workerv1.Request{ExpectedJson: value(".payload.type", "COMPRESSABLE")}, "replies of 1200078 bytes, of which the worker reads only 1048576", "reply 6: a message of"},
		"a large one, unlooked":   {output(0, 5<<20), &workerv1.Request{MinReplies: 1}, "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for _, gzip := range []bool{false, true} {
				want := tt.want
				if gzip && tt.gzip != "as without" {
					want = tt.gzip
				}
				server := workertest.ServeCalls(t)
				a := calling(t, server.URL, workertest.Burst(0, 2, 3), tt.call)
				proto.Merge(a.Requests[0], tt.expect)
				a.Requests[0].Call.Gzip = gzip
				got := run(t, prepared(t, a, testConfig(), ignore))
				class := measure.Success
				if want != "" {
					class = measure.BadResponse
				}
				if q := &got.Requests[0]; q.Sent != 6 || q.Outcomes[class] != 6 || !strings.Contains(errorsOf(got)[class], want) {
					t.Errorf("gzip %v: %v of %d: %v, want 6 of %v: %s", gzip, q.Outcomes, q.Sent, errorsOf(got), class, want)
				}
			}
		})
	}
}

// sizes are those of the messages that a target received and sent, as they are and as they
// were transferred.
type sizes struct{ in, inWire, out, outWire atomic.Int64 }

func (s *sizes) HandleRPC(_ context.Context, of stats.RPCStats) {
	switch of := of.(type) {
	case *stats.InPayload:
		s.in.Add(int64(of.Length))
		s.inWire.Add(int64(of.CompressedLength))
	case *stats.OutPayload:
		s.out.Add(int64(of.Length))
		s.outWire.Add(int64(of.CompressedLength))
	}
}

func (*sizes) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (*sizes) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (*sizes) HandleConn(context.Context, stats.ConnStats)                       {}

// What is sent in gzip is what was meant, constant or not, and so is what comes back.
func TestMessagesAreCompressedBothWays(t *testing.T) {
	long := strings.Repeat("YWFh", 3000) // 9000 times the letter a
	for name, text := range map[string]string{"constant": `{"payload": {"body": "` + long + `"}}`, "with a variable": `{"payload": {"body": "` + long + `"}, "responseSize": "${seq}"}`} {
		t.Run(name, func(t *testing.T) {
			var of sizes
			server := workertest.ServeCalls(t, grpc.StatsHandler(&of))
			a := callsTo(t, server.URL, workertest.Burst(0, 2, 5), text)
			a.Requests[0].Call.Gzip = true
			a.Requests[0].ExpectedJson = []*workerv1.ExpectedValue{{Path: ".payload.body", Equals: long}}
			got := run(t, prepared(t, a, testConfig(), ignore))
			if q := &got.Requests[0]; q.Outcomes[measure.Success] != 10 || server.Statuses()[codes.OK] != 10 {
				t.Errorf("%v of %d: %v", q.Outcomes, q.Sent, errorsOf(got))
			}
			if of.in.Load() < 10*9000 || of.inWire.Load() > of.in.Load()/10 || of.out.Load() < 10*18000 || of.outWire.Load() > of.out.Load()/10 {
				t.Errorf("%d bytes were received as %d, %d were sent as %d", of.in.Load(), of.inWire.Load(), of.out.Load(), of.outWire.Load())
			}
		})
	}
}

// Large replies on streams that share a connection do not hold one another up.
func TestStreamsOfAConnectionShareIt(t *testing.T) {
	server := workertest.ServeCalls(t)
	var at atomic.Int64
	all := make(chan struct{})
	server.HandleStream = func(_ *grpc_testing.StreamingOutputCallRequest, s grpc.ServerStreamingServer[grpc_testing.StreamingOutputCallResponse]) error {
		if at.Add(1) == 16 {
			close(all)
		}
		select {
		case <-all: // are in flight at one time
		case <-s.Context().Done():
			return s.Context().Err()
		}
		for range 4 {
			if err := s.Send(&grpc_testing.StreamingOutputCallResponse{Payload: &grpc_testing.Payload{Body: make([]byte, 256<<10)}}); err != nil {
				return err
			}
		}
		return nil
	}
	a := calling(t, server.URL, rated(16), output(0))
	a.Target.Http2Connections, a.Target.Http2Streams = 1, 16
	a.Requests[0].MinReplies, a.Requests[0].MaxReplies = 4, 4
	x := prepared(t, a, testConfig(), ignore)
	got := run(t, x)
	if q := &got.Requests[0]; q.Outcomes[measure.Success] != 16 || server.Statuses()[codes.OK] != 16 {
		t.Errorf("%v of %d, the target %v: %v", q.Outcomes, q.Sent, server.Statuses(), errorsOf(got))
	}
}

// A stream that goes on and on ends as a timeout, and is cancelled at the target.
func TestStreamWithoutAnEndIsATimeout(t *testing.T) {
	server := workertest.ServeCalls(t)
	server.HandleStream = func(_ *grpc_testing.StreamingOutputCallRequest, s grpc.ServerStreamingServer[grpc_testing.StreamingOutputCallResponse]) error {
		for s.Context().Err() == nil {
			if err := s.Send(&grpc_testing.StreamingOutputCallResponse{Payload: &grpc_testing.Payload{Body: make([]byte, 100)}}); err != nil {
				return err
			}
		}
		return s.Context().Err()
	}
	a := calling(t, server.URL, workertest.Burst(0, 4, 2), output(0))
	a.Target.TimeoutNanos = int64(20 * time.Millisecond)
	a.Requests[0].ExpectedJson = []*workerv1.ExpectedValue{{Path: ".payload.type", Equals: "COMPRESSABLE"}}
	got := run(t, prepared(t, a, testConfig(), ignore))
	if q := &got.Requests[0]; q.Outcomes[measure.Timeout] != 8 || q.Sent != 8 {
		t.Errorf("%v of %d: %v; want 8 timeouts", q.Outcomes, q.Sent, errorsOf(got))
	}
}

// A server that stops ends the streams that it took, and refuses others.
func TestTargetThatDrainsEndsItsStreams(t *testing.T) {
	server := workertest.ServeCalls(t)
	var calls atomic.Int64
	closed := make(chan struct{}) // the port, which is what stopping begins with
	server.HandleStream = func(_ *grpc_testing.StreamingOutputCallRequest, s grpc.ServerStreamingServer[grpc_testing.StreamingOutputCallResponse]) error {
		call := calls.Add(1)
		for i := range 3 {
			if err := s.Send(&grpc_testing.StreamingOutputCallResponse{}); err != nil {
				return err
			}
			if call == 50 && i == 1 {
				go server.Server.GracefulStop()
				go func() {
					defer close(closed)
					await.True(t, "the port is closed", func() bool {
						conn, err := net.Dial("tcp", strings.TrimPrefix(server.URL, "http://"))
						if err == nil {
							_ = conn.Close()
						}
						return err != nil
					})
				}()
			}
			if call > 50 { // so many are in flight that the others find no room before the server stops
				<-closed
			}
		}
		return nil
	}
	a := calling(t, server.URL, rated(400), output(0))
	a.Requests[0].MinReplies, a.Requests[0].MaxReplies = 3, 3
	got := run(t, prepared(t, a, testConfig(), ignore))
	q := got.Requests[0]
	if answered := server.Statuses()[codes.OK]; q.Outcomes[measure.Success] != answered || q.Outcomes[measure.Success]+q.Outcomes[measure.Refused] != q.Sent || q.Outcomes[measure.Refused] == 0 {
		t.Errorf("%v of %d sent, the target answered %d; %v", q.Outcomes, q.Sent, answered, errorsOf(got))
	}
}

// bomb is a message in gzip with 64 MiB of text, in its frame.
func bomb() []byte {
	framed := wire.Compress(make([]byte, wire.PrefixSize), make([]byte, 64<<20))
	wire.Frame(framed, true)
	return framed
}

// What a stream must not have is a bad response, and a stream that is torn off is broken off.
func TestStreamsOfAnotherKind(t *testing.T) {
	begin := func(w http.ResponseWriter, encoding string) {
		w.Header().Set("Content-Type", "application/grpc")
		w.Header().Set("Trailer", "Grpc-Status")
		if encoding != "" {
			w.Header().Set("Grpc-Encoding", encoding)
		}
	}
	reply := []byte{0, 0, 0, 0, 2, 0x0a, 0} // an empty payload
	packed := bomb()
	answer := func(encoding string, body ...byte) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			begin(w, encoding)
			_, _ = w.Write(body)
			w.Header().Set("Grpc-Status", "0")
		}
	}
	tests := map[string]struct {
		answer http.HandlerFunc
		looked bool
		want   measure.Outcome
		says   string
	}{
		"replies":                  {answer("", slices.Repeat(reply, 3)...), true, measure.Success, ""},
		"more than are looked at":  {answer("", slices.Repeat(reply, 1001)...), true, measure.BadResponse, "more than 1000 replies: the worker reads no more"},
		"as many, unlooked":        {answer("", slices.Repeat(reply, 1001)...), false, measure.Success, ""},
		"a reply cut short":        {answer("", 0, 0, 0, 0, 9, 'x'), false, measure.BadResponse, "the message ends 8 bytes before its length of 9"},
		"a bomb":                   {answer("gzip", packed...), true, measure.BadResponse, "which are more than 262144 bytes of text"},
		"a bomb that is unlooked":  {answer("gzip", packed...), false, measure.Success, ""},
		"text that is no gzip":     {answer("gzip", 1, 0, 0, 0, 1, 'x'), true, measure.BadResponse, "reply 1: a message of 1 bytes that are not gzip"},
		"gzip without an encoding": {answer("", packed...), false, measure.BadResponse, "its grpc-encoding is not gzip"},
		"torn off": {func(w http.ResponseWriter, _ *http.Request) {
			begin(w, "")
			_, _ = w.Write(reply)
			_ = http.NewResponseController(w).Flush() // what follows tells
			panic(http.ErrAbortHandler)
		}, true, measure.BrokenOff, "INTERNAL_ERROR"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			server := workertest.Serve(t, tt.answer, workertest.OverHTTP2)
			for _, each := range []bool{false, true} {
				a := calling(t, server.URL, workertest.Burst(0, 2, 3), output(0))
				a.Target.DisableKeepAlive, a.Requests[0].Call.Gzip = each, true
				if tt.looked {
					a.Requests[0].ExpectedJson = []*workerv1.ExpectedValue{{Path: ".payload.type", Equals: "COMPRESSABLE"}}
				}
				got := run(t, prepared(t, a, testConfig(), ignore))
				if q := got.Requests[0]; q.Sent != 6 || q.Outcomes[tt.want] != 6 || !strings.Contains(errorsOf(got)[tt.want], tt.says) {
					t.Errorf("%v of %d: %v, want 6 of %v: %s", q.Outcomes, q.Sent, errorsOf(got), tt.want, tt.says)
				}
			}
		})
	}
}

// A journey has a value of the last reply of a stream in its next call.
func TestJourneyCapturesOfTheLastReply(t *testing.T) {
	for _, gzip := range []bool{false, true} {
		server := workertest.ServeCalls(t)
		a := calling(t, server.URL, workertest.Burst(0, 3, 8), output(0, 1, 2, 3),
			&workerv1.Call{Method: workertest.UnaryCall, Messages: messages(payload("${last}"))}, output(0))
		for _, r := range a.Requests {
			r.Weight, r.Call.Gzip = 0, gzip
		}
		a.Requests[1].ExpectedJson = []*workerv1.ExpectedValue{{Path: ".username", Equals: "ccc"}}
		a.Journeys = []*workerv1.Journey{{Name: "j", Weight: 1, Steps: []*workerv1.JourneyStep{
			{Request: 0, Times: 1, Capture: map[string]string{"last": ".payload.body"}},
			{Request: 1, Times: 1},
			{Request: 2, Times: 1, Capture: map[string]string{"none": ".payload.body"}},
			{Request: 1, Times: 1},
		}}}
		got := run(t, prepared(t, a, testConfig(), ignore))
		if a, b, c := &got.Requests[0], &got.Requests[1], &got.Requests[2]; a.Outcomes[measure.Success] != a.Sent || b.Outcomes[measure.Success] != b.Sent || b.Sent == 0 || c.Outcomes[measure.BadResponse] != c.Sent || c.Sent == 0 {
			t.Errorf("%v, %v, %v: %v", a.Outcomes, b.Outcomes, c.Outcomes, errorsOf(got))
		}
		if want := `request "call 2": capture: the call ended without a reply`; errorsOf(got)[measure.BadResponse] != want {
			t.Errorf("%v, want %s", errorsOf(got), want)
		}
	}
}

func TestMessagesAndRepliesThatAMethodDoesNotHaveAreRefused(t *testing.T) {
	two := messages("{}", "{}")
	of := func() *workerv1.Assignment { return callsTo(t, "http://127.0.0.1:1", rated(2), `{}`) }
	wantInvalid(t, of, map[string]invalid{
		"messages of a unary call": {func(a *workerv1.Assignment) { a.Requests[0].Call.Messages = two }, `request "call 0": grpc.messages: has 2 messages, and grpc.testing.TestService/UnaryCall takes one`},
		"messages of a stream back": {func(a *workerv1.Assignment) {
			a.Requests[0].Call = &workerv1.Call{Method: workertest.StreamingOutputCall, Messages: two}
		}, "grpc.messages: has 2 messages, and grpc.testing.TestService/StreamingOutputCall takes one"},
		"replies of a unary call":   {func(a *workerv1.Assignment) { a.Requests[0].MinReplies = 2 }, "expect.replies: must not be set, as grpc.testing.TestService/UnaryCall returns one reply and no stream"},
		"one reply of a unary call": {func(a *workerv1.Assignment) { a.Requests[0].MinReplies = 1 }, "expect.replies: must not be set, as grpc.testing.TestService/UnaryCall returns one reply and no stream"},
		"replies of a stream to it": {func(a *workerv1.Assignment) {
			a.Requests[0].Call.Method, a.Requests[0].MaxReplies = workertest.StreamingInputCall, 2
		}, "expect.replies: must not be set, as grpc.testing.TestService/StreamingInputCall"},
		"a field of a later one": {func(a *workerv1.Assignment) {
			a.Requests[0].Call = &workerv1.Call{Method: workertest.FullDuplexCall, Messages: messages("{}", `{"x": 1}`)}
		}, `request "call 0": messages[1]: is not a grpc.testing.StreamingOutputCallRequest: (line 1:2): unknown field "x"`},
	})
}
