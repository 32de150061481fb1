package assemble

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/interop/grpc_testing"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

// callsTo is an assignment of calls, with a message each.
func callsTo(t *testing.T, url string, step *workerv1.Step, messages ...string) *workerv1.Assignment {
	t.Helper()
	a := workertest.Assignment(url, step)
	a.Target.Protocol = workerv1.Protocol_PROTOCOL_HTTP2
	a.Target.DescriptorsFile = file(t, string(workertest.Descriptors(t)))
	a.Requests = nil
	for i, m := range messages {
		a.Requests = append(a.Requests, &workerv1.Request{
			Name: fmt.Sprint("call ", i), Type: "Call", Weight: 1, Call: &workerv1.Call{Method: workertest.UnaryCall, Messages: [][]byte{[]byte(m)}},
		})
	}
	return a
}

// rated is a step of n calls, of half a second. Its window does not close before run cuts it.
func rated(n int64) *workerv1.Step {
	return &workerv1.Step{
		Share: &workerv1.Share{Stride: 1, Count: n}, Total: n,
		Load: &workerv1.Step_Arrivals{Arrivals: &workerv1.Arrivals{TotalRateMicros: n * 2e6, DurationNanos: int64(time.Hour)}},
	}
}

func answering(status int) string { return fmt.Sprintf(`{"responseStatus": {"code": %d}}`, status) }

// counted are the status codes of all requests.
func counted(m *measure.Measurement) map[codes.Code]int64 {
	all := map[codes.Code]int64{}
	for i := range m.Requests {
		for status, n := range m.Requests[i].StatusCodes {
			all[codes.Code(status)] += n
		}
	}
	return all
}

func TestCallsOverTLS(t *testing.T) {
	authority := newAuthority(t)
	pair, _, _ := authority.sign(t, "shop.test")
	server := workertest.ServeCalls(t, grpc.Creds(credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12})))
	a := callsTo(t, strings.Replace(server.URL, "http:", "https:", 1), workertest.Burst(0, 3, 10), `{}`)
	a.Target.Tls = &workerv1.TLS{CaFile: authority.file, ServerName: "shop.test"}
	got := run(t, prepared(t, a, testConfig(), ignore))
	if q := got.Requests[0]; q.Outcomes[measure.Success] != 30 || server.Statuses()[codes.OK] != 30 {
		t.Errorf("%v of 30, the target answered %v; %v", q.Outcomes, server.Statuses(), errorsOf(got))
	}
}

func TestCallHasMetadataAndADeadline(t *testing.T) {
	server := workertest.ServeCalls(t)
	left := make(chan time.Duration, 1)
	server.Handle = func(ctx context.Context, _ *grpc_testing.SimpleRequest) (*grpc_testing.SimpleResponse, error) {
		deadline, _ := ctx.Deadline()
		left <- time.Until(deadline)
		return &grpc_testing.SimpleResponse{}, nil
	}
	a := callsTo(t, server.URL, workertest.Burst(0, 1, 1), `{}`)
	a.Target.TimeoutNanos = int64(20 * time.Second)
	a.Requests[0].Headers = []*workerv1.Header{{Name: "X-User", Value: "u${user}"}, {Name: "x-id-bin", Value: "aGk="}}
	run(t, prepared(t, a, testConfig(), ignore))
	if d := <-left; d <= 0 || d > 20*time.Second {
		t.Errorf("the target has %v to answer, want nearly 20s", d)
	}
	md := server.Metadata()[0]
	for name, want := range map[string]string{"x-user": "u0", "x-id-bin": "hi", "content-type": "application/grpc", "user-agent": "loadtest-operator/test"} {
		if got := md.Get(name); !slices.Equal(got, []string{want}) {
			t.Errorf("%s is %v, want %s", name, got, want)
		}
	}
	if got := md.Get("content-length"); got != nil {
		t.Errorf("content-length is %v", got)
	}
}

// The target's own deadline and ours are one: whichever is noticed first, it is a timeout.
func TestDeadlineIsATimeout(t *testing.T) {
	server := workertest.ServeCalls(t)
	server.Handle = func(ctx context.Context, _ *grpc_testing.SimpleRequest) (*grpc_testing.SimpleResponse, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	a := callsTo(t, server.URL, workertest.Burst(0, 8, 3), `{}`)
	of := func(target, own time.Duration) {
		a.Target.TimeoutNanos, a.Requests[0].TimeoutNanos = int64(target), int64(own)
		got := run(t, prepared(t, a, testConfig(), ignore))
		if q := got.Requests[0]; q.Outcomes[measure.Timeout] != 24 || q.Sent != 24 || len(q.StatusCodes) != 0 {
			t.Errorf("%v of %d, status codes %v; want 24 timeouts", q.Outcomes, q.Sent, q.StatusCodes)
		}
	}
	of(20*time.Millisecond, 0)
	of(time.Hour, 20*time.Millisecond)
}

func TestExpectationsOfACall(t *testing.T) {
	server := workertest.ServeCalls(t)
	a := callsTo(t, server.URL, workertest.Burst(0, 1, 4), `{"payload": {"body": "YW5u"}}`, `{"payload": {"body": "Ym9i"}}`, answering(5), answering(8))
	for _, r := range a.Requests {
		r.ExpectedJson = []*workerv1.ExpectedValue{{Path: ".username", Equals: "ann"}, {Path: ".serverId", Equals: ""}}
		r.ExpectedStatus = []int32{0, 5, 8}
	}
	got := run(t, prepared(t, a, testConfig(), ignore))
	for i, want := range []measure.Outcome{measure.Success, measure.BadResponse, measure.Success, measure.RateLimited} {
		if q := &got.Requests[i]; q.Sent != 1 || q.Outcomes[want] != 1 {
			t.Errorf("call %d: %v, want %v", i, q.Outcomes, want)
		}
	}
	if want := `request "call 1": .username: a string of 3 bytes instead of "ann"`; errorsOf(got)[measure.BadResponse] != want {
		t.Errorf("%q, want %q", errorsOf(got)[measure.BadResponse], want)
	}
}

// A server that stops sends its clients elsewhere: what it took it answers, what it
// did not is refused, and nothing is sent twice. From the 50th call on, it answers when it listens no more.
func TestTargetThatDrainsLosesAndDoublesNoCall(t *testing.T) {
	server := workertest.ServeCalls(t)
	var calls atomic.Int64
	server.Handle = func(ctx context.Context, _ *grpc_testing.SimpleRequest) (*grpc_testing.SimpleResponse, error) {
		n := calls.Add(1)
		if n == 50 {
			go server.Server.GracefulStop()
		}
		if n < 50 {
			return &grpc_testing.SimpleResponse{}, nil
		}
		return &grpc_testing.SimpleResponse{}, await.Try(ctx, func(ctx context.Context) error {
			var dialer net.Dialer
			if c, err := dialer.DialContext(ctx, "tcp", strings.TrimPrefix(server.URL, "http://")); err == nil {
				return errors.Join(errors.New("it listens"), c.Close())
			}
			return nil
		})
	}
	got := run(t, prepared(t, callsTo(t, server.URL, workertest.Burst(0, 5, 80), `{}`), testConfig(), ignore))
	q := got.Requests[0]
	if answered := server.Statuses()[codes.OK]; q.Outcomes[measure.Success] != answered || q.Outcomes[measure.Success]+q.Outcomes[measure.Refused] != q.Sent || q.Outcomes[measure.Refused] == 0 {
		t.Errorf("%v of %d sent, the target answered %d; %v", q.Outcomes, q.Sent, answered, errorsOf(got))
	}
}

// An answer that is no response of gRPC is a bad one, in one class and with the reason.
func TestAnswerOfAnotherKindIsABadResponse(t *testing.T) {
	tests := map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"a proxy that has no target": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, "status 503 of HTTP, where a call is answered by 200"},
		"a page":                     {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }, "the content type is not application/grpc"},
		"half a message": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/grpc")
			w.Header().Set("Trailer", "Grpc-Status")
			_, _ = w.Write([]byte{0, 0, 0, 0, 9, 'x'})
			w.Header().Set("Grpc-Status", "0")
		}, "the message ends 8 bytes before its length of 9"},
		"no status": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/grpc")
			_, _ = w.Write([]byte{0, 0, 0, 0, 0})
		}, "the response ends without grpc-status"},
		"messages without an end": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/grpc")
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1000)); err != nil {
					return
				}
			}
		}, "a second message in the response to a call that has one reply"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			server := workertest.Serve(t, tt.answer, workertest.OverHTTP2)
			for _, each := range []bool{false, true} {
				a := callsTo(t, server.URL, workertest.Burst(0, 2, 3), `{}`)
				a.Target.DisableKeepAlive = each
				got := run(t, prepared(t, a, testConfig(), ignore))
				q := got.Requests[0]
				if want := "read: malformed gRPC: " + tt.want; q.Sent != 6 || q.Outcomes[measure.BadResponse] != 6 || errorsOf(got)[measure.BadResponse] != want {
					t.Errorf("%v of %d: %v, want 6 of %s", q.Outcomes, q.Sent, errorsOf(got), want)
				}
			}
		})
	}
}

// A value that is no field's is the outcome of its own request, for which nothing is sent.
// The setup captures it of a reply.
func TestMessageThatCannotBeEncodedIsNotSent(t *testing.T) {
	for name, step := range map[string]*workerv1.Step{"users": workertest.Burst(0, 4, 2000), "a rate": rated(40)} {
		t.Run(name, func(t *testing.T) {
			server := workertest.ServeCalls(t)
			a := callsTo(t, server.URL, step, `{"payload": {"body": "bWFueQ=="}}`, `{"responseSize": "${name}"}`)
			a.Requests[0].Weight = 0
			a.Setup = &workerv1.Setup{Fill: &workerv1.Fill{Share: &workerv1.Share{Stride: 1, Count: 3}, Capture: map[string]string{"name": ".username"}}}
			got := run(t, prepared(t, a, testConfig(), ignore))
			want := `request "call 1": message: is not a grpc.testing.SimpleRequest: invalid value for int32 field responseSize`
			if q := got.Requests[1]; q.Sent != step.GetTotal()*max(1, int64(step.GetBurst().GetRequestsPerUser())) || q.Outcomes[measure.Other] != q.Sent || errorsOf(got)[measure.Other] != want {
				t.Errorf("%v of %d: %v", q.Outcomes, q.Sent, errorsOf(got))
			}
			if n := server.Statuses()[codes.OK]; n != 3 {
				t.Errorf("the target got %d calls, want the 3 of the setup", n)
			}
		})
	}
}

// What the setup cannot capture of a reply is said of the reply.
func TestFillSaysWhatAReplyLacks(t *testing.T) {
	server := workertest.ServeCalls(t)
	a := callsTo(t, server.URL, workertest.Burst(0, 1, 1), `{}`)
	a.Setup = &workerv1.Setup{Fill: &workerv1.Fill{Share: &workerv1.Share{Stride: 1, Count: 1}, Capture: map[string]string{"name": ".absent"}}}
	x, err := New(t.Context(), a, testConfig(), ignore)
	must.Succeed(t, err)
	const want = `setup.fill: request "call 0": status OK, capture of name: the reply's JSON of `
	if err := x.Prepare(t.Context(), ignore); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestCallsThatCannotBeSentAreRefused(t *testing.T) {
	wantInvalid(t, func() *workerv1.Assignment { return callsTo(t, "http://127.0.0.1:1", rated(2), `{}`) }, map[string]invalid{
		"HTTP/1.1":       {func(a *workerv1.Assignment) { a.Target.Protocol = workerv1.Protocol_PROTOCOL_HTTP1 }, "calls of gRPC need target.protocol HTTP/2"},
		"a proxy":        {func(a *workerv1.Assignment) { a.Target.ProxyUrl = "http://127.0.0.1:3128" }, "calls of gRPC do not go through target.proxy"},
		"vegeta":         {func(a *workerv1.Assignment) { a.Driver = workerv1.Driver_DRIVER_VEGETA }, "calls of gRPC are not sent by worker.driver Vegeta"},
		"no file":        {func(a *workerv1.Assignment) { a.Target.DescriptorsFile = "/nowhere" }, "target.grpc.descriptorsFrom: open /nowhere"},
		"other files":    {func(a *workerv1.Assignment) { a.Target.DescriptorsFile = file(t, "syntax") }, "is not a descriptor set of protobuf"},
		"another method": {func(a *workerv1.Assignment) { a.Requests[0].Call.Method = "a.B/C" }, `request "call 0": grpc.method: the descriptors have no service a.B`},
		"another field":  {func(a *workerv1.Assignment) { a.Requests[0].Call.Messages[0] = []byte(`{"x": 1}`) }, `request "call 0": message: is not a grpc.testing.SimpleRequest: (line 1:2): unknown field "x"`},
	})
}
