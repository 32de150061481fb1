package assemble

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/setup"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

// asksByCall is an assignment whose preflight is a call with a message.
func asksByCall(t *testing.T, url, message string) *workerv1.Assignment {
	t.Helper()
	a := callsTo(t, url, workertest.Burst(0, 1, 1), `{}`)
	a.Preflight = []*workerv1.Request{{Name: "cart", Call: &workerv1.Call{Method: workertest.UnaryCall, Messages: [][]byte{[]byte(message)}}}}
	return a
}

// asksHealth is an assignment of requests of HTTP whose preflight is about a service's
// health: there are no descriptors.
func asksHealth(url string) *workerv1.Assignment {
	a := workertest.Assignment(url, workertest.Burst(0, 1, 1))
	a.Target.Protocol = workerv1.Protocol_PROTOCOL_HTTP2
	a.Preflight = []*workerv1.Request{{
		Name: "grpcHealth shop", Call: &workerv1.Call{Method: "grpc.health.v1.Health/Check", Messages: [][]byte{[]byte(`{"service": "shop"}`)}, Health: true},
	}}
	return a
}

func TestPreflightByACall(t *testing.T) {
	server := workertest.ServeCalls(t)
	a := asksByCall(t, server.URL, `{"payload": {"body": "bHVh"}, "responseSize": "${seq}"}`)
	a.Preflight[0].ExpectedJson = []*workerv1.ExpectedValue{{Path: ".username", Equals: "lua"}}
	a.Preflight = append(a.Preflight, &workerv1.Request{
		Name: "none", Call: &workerv1.Call{Method: workertest.UnaryCall, Messages: [][]byte{[]byte(answering(5))}}, ExpectedStatus: []int32{5},
		Headers: []*workerv1.Header{{Name: "x-key", ValueFile: file(t, "s3cret\n")}},
	})
	x := prepared(t, a, testConfig(), ignore)
	if n := x.PreflightAnswers(); n != 2 {
		t.Errorf("%d questions were answered, want 2", n)
	}
	if got := server.Statuses(); got[codes.OK] != 1 || got[codes.NotFound] != 1 {
		t.Errorf("the target answered %v, want each question once", got)
	}
	if got := server.Metadata()[1].Get("x-key"); len(got) != 1 || got[0] != "s3cret" {
		t.Errorf("the second question has x-key %q", got)
	}
}

func TestPreflightByACallJudgesTheAnswer(t *testing.T) {
	const label = "preflight: cart: grpc.method " + workertest.UnaryCall + ": "
	expecting := func(status ...int32) func(*workerv1.Assignment) {
		return func(a *workerv1.Assignment) { a.Preflight[0].ExpectedStatus = status }
	}
	tests := map[string]struct {
		message         string
		change          func(*workerv1.Assignment)
		reason, want    string
		exposed, hidden string
	}{
		"another status": {
			message: `{"responseStatus": {"code": 5, "message": "no c\u001b[31mart <b>s3cret</b>"}}`,
			reason:  "PreflightFailed", want: label + "status 5 NOT_FOUND instead of OK",
			exposed: `; the target sent "no c\x1b[31mart <b>s3cret</b>"`, hidden: "s3cret",
		},
		"without a name": {
			message: answering(5), reason: "PreflightFailed", want: "preflight: grpc.method " + workertest.UnaryCall + ": status 5 NOT_FOUND instead of OK",
			change: func(a *workerv1.Assignment) { a.Preflight[0].Name = workertest.UnaryCall },
		},
		"a long message": {
			message: `{"responseStatus": {"code": 13, "message": "` + strings.Repeat("x", 5000) + `"}}`,
			reason:  "PreflightFailed", want: label + "status 13 INTERNAL instead of OK",
			exposed: `; the target sent "` + strings.Repeat("x", 77) + `…"`,
		},
		"OK, which is not expected": {
			message: `{}`, change: expecting(5), reason: "PreflightFailed", want: label + "status 0 OK instead of NOT_FOUND",
		},
		"UNAVAILABLE": {
			message: answering(14), reason: "TargetUnreachable", want: label + "status 14 UNAVAILABLE instead of OK: the target is not ready",
		},
		"UNAVAILABLE, with a message": {
			message: `{"responseStatus": {"code": 14, "message": "draining"}}`, reason: "TargetUnreachable", hidden: "draining",
			want: label + "status 14 UNAVAILABLE instead of OK: the target is not ready", exposed: `; the target sent "draining"`,
		},
		"a deadline that the target noticed": {
			message: answering(4), reason: "TargetUnreachable", want: label + "status 4 DEADLINE_EXCEEDED instead of OK: the target is not ready",
		},
		"another value": {
			message: `{"payload": {"body": "aGFzaA=="}}`, reason: "PreflightFailed", want: label + `.username: a string of 4 bytes instead of "lua"`,
			change: func(a *workerv1.Assignment) {
				a.Preflight[0].ExpectedJson = []*workerv1.ExpectedValue{{Path: ".username", Equals: "lua"}}
			},
		},
		"an expected status without the values": {
			message: answering(5), reason: "PreflightFailed", want: label + "the call ends after 0 replies, at least 1 are expected",
			change: func(a *workerv1.Assignment) {
				expecting(0, 5)(a)
				a.Preflight[0].MinReplies = 1 // as of every expectation of values
				a.Preflight[0].ExpectedJson = []*workerv1.ExpectedValue{{Path: ".username", Equals: "lua"}}
			},
		},
		"a field that there is not": {
			message: `{"x": 1}`, reason: "InvalidSpec", want: `preflight[0] "cart": message: is not a grpc.testing.SimpleRequest: (line 1:2): unknown field "x"`,
		},
		"a value that is drawn, and none of its field": {
			message: `{"responseSize": "${rand:3000000000-4000000000}"}`, reason: "InvalidSpec", want: "invalid value for int32 field responseSize",
		},
		"a method that there is not": {
			message: `{}`, reason: "InvalidSpec", want: `preflight[0] "cart": grpc.method: the descriptors have no service a.B`,
			change: func(a *workerv1.Assignment) { a.Preflight[0].Call.Method = "a.B/C" },
		},
		"HTTP/1.1": {
			message: `{}`, reason: "InvalidSpec", want: `preflight[0] "cart": calls of gRPC need target.protocol HTTP/2`,
			change: func(a *workerv1.Assignment) {
				a.Target.Protocol = workerv1.Protocol_PROTOCOL_HTTP1
				a.Requests = workertest.Assignment(a.GetTarget().GetUrl()).GetRequests()
			},
		},
	}
	server := workertest.ServeCalls(t)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a := asksByCall(t, server.URL, tt.message)
			if tt.change != nil {
				tt.change(a)
			}
			got := refusal(t, a, testConfig())
			shown := failure.Message(got, false)
			if got.Reason != tt.reason || !strings.Contains(shown, tt.want) || tt.hidden != "" && strings.Contains(shown, tt.hidden) {
				t.Errorf("refused for %s: %s\nwant %s: …%s…", got.Reason, shown, tt.reason, tt.want)
			}
			if tt.exposed == "" {
				return
			}
			if exposed := failure.Message(got, true); exposed != shown+tt.exposed {
				t.Errorf("exposed: %s\nwant %s", exposed, shown+tt.exposed)
			}
		})
	}
}

// The question needs no descriptors, and is asked again until the service is ready.
func TestHealthPreflightWaitsForSERVING(t *testing.T) {
	const waiting = "preflight: grpcHealth shop: the service is not SERVING, but %: the target is not ready"
	for state, name := range map[grpc_health_v1.HealthCheckResponse_ServingStatus]string{
		grpc_health_v1.HealthCheckResponse_NOT_SERVING: "NOT_SERVING", grpc_health_v1.HealthCheckResponse_UNKNOWN: "UNKNOWN",
	} {
		server := workertest.ServeCalls(t)
		server.Health.SetServingStatus("shop", state)
		waits := 0
		x := prepared(t, asksHealth(server.URL), testConfig(), unreachable(t, strings.Replace(waiting, "%", name, 1), func() {
			waits++
			server.Health.SetServingStatus("shop", grpc_health_v1.HealthCheckResponse_SERVING)
		}))
		if waits == 0 || x.PreflightAnswers() != 1 {
			t.Errorf("%s: waited %d times, %d answers", name, waits, x.PreflightAnswers())
		}
	}
}

func TestHealthPreflightJudgesTheAnswer(t *testing.T) {
	tests := map[string]struct {
		code         codes.Code
		state        grpc_health_v1.HealthCheckResponse_ServingStatus
		reason, want string
	}{
		"no health service": {
			code: codes.Unimplemented, reason: "PreflightFailed",
			want: "preflight: grpcHealth shop: the target has no health service (status 12 UNIMPLEMENTED): register grpc.health.v1.Health there, or call a method that it has by preflight.grpc",
		},
		"no such service": {
			code: codes.NotFound, reason: "PreflightFailed",
			want: "preflight: grpcHealth shop: the health service of the target has no service of this name (status 5 NOT_FOUND): set grpcHealth.service to one that it has, or leave it out to ask for the target as a whole",
		},
		"a service that is not known": {
			state: grpc_health_v1.HealthCheckResponse_SERVICE_UNKNOWN, reason: "PreflightFailed",
			want: "preflight: grpcHealth shop: the health service of the target has no service of this name",
		},
		"a state that there is not": {
			state: 77, reason: "PreflightFailed", want: "preflight: grpcHealth shop: 77 is not a status of a health service",
		},
		"not permitted": {
			code: codes.PermissionDenied, reason: "PreflightFailed", want: "preflight: grpcHealth shop: status 7 PERMISSION_DENIED instead of OK",
		},
		"UNAVAILABLE": {
			code: codes.Unavailable, reason: "TargetUnreachable", want: "preflight: grpcHealth shop: status 14 UNAVAILABLE instead of OK: the target is not ready",
		},
		"too late": {
			code: codes.DeadlineExceeded, reason: "TargetUnreachable", want: "preflight: grpcHealth shop: status 4 DEADLINE_EXCEEDED instead of OK: the target is not ready",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			server := workertest.ServeCalls(t, grpc.UnaryInterceptor(func(context.Context, any, *grpc.UnaryServerInfo, grpc.UnaryHandler) (any, error) {
				if tt.code != codes.OK {
					return nil, status.Error(tt.code, "s3cret")
				}
				return &grpc_health_v1.HealthCheckResponse{Status: tt.state}, nil
			}))
			got := refusal(t, asksHealth(server.URL), testConfig())
			if shown := failure.Message(got, false); got.Reason != tt.reason || !strings.HasPrefix(shown, tt.want) || strings.Contains(shown, "s3cret") {
				t.Errorf("refused for %s: %s\nwant %s: %s", got.Reason, shown, tt.reason, tt.want)
			}
			if exposed := failure.Message(got, true); tt.code != codes.OK && !strings.HasSuffix(exposed, `; the target sent "s3cret"`) {
				t.Errorf("exposed: %s", exposed)
			}
		})
	}
}

// A service that takes calls and answers none is asked again after target.timeout, and does
// not delay the end.
func TestHealthPreflightThatIsNotAnsweredIsAskedAgain(t *testing.T) {
	var asked atomic.Int64
	server := workertest.ServeCalls(t, grpc.UnaryInterceptor(func(ctx context.Context, _ any, _ *grpc.UnaryServerInfo, _ grpc.UnaryHandler) (any, error) {
		asked.Add(1)
		<-ctx.Done()
		return nil, ctx.Err()
	}))
	a := asksHealth(server.URL)
	a.Target.TimeoutNanos = int64(20 * time.Millisecond)
	x, err := New(t.Context(), a, testConfig(), ignore)
	must.Succeed(t, err)
	t.Cleanup(x.Close)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	refusals := 0
	err = x.Prepare(ctx, unreachable(t, "", func() {
		if refusals++; refusals == 2 {
			cancel()
		}
	}))
	if err == nil || asked.Load() < 2 {
		t.Errorf("%v after %d questions, want an error after 2", err, asked.Load())
	}
}

func TestHealthPreflightNeedsHTTP2(t *testing.T) {
	a := asksHealth("http://127.0.0.1:1")
	a.Target.Protocol, a.Preflight[0].Name = workerv1.Protocol_PROTOCOL_HTTP1, "alive"
	if _, err := New(t.Context(), a, testConfig(), ignore); err == nil || err.Error() != `preflight[0].grpcHealth "alive": calls of gRPC need target.protocol HTTP/2` {
		t.Errorf("%v", err)
	}
}

// An audit reads its number of a reply, in which 64-bit numbers are strings.
func TestAuditReadsANumberByACall(t *testing.T) {
	server := workertest.ServeCalls(t)
	for message, want := range map[string]string{
		`{"payload": {"body": "NjA="}}`:                        "60",
		`{"payload": {"body": "bm8="}}`:                        "the call: .username is a text of 2 bytes, which is not a whole number of up to 15 digits",
		`{"responseStatus": {"code": 5, "message": "s3cret"}}`: "the call: status NOT_FOUND",
	} {
		a := callsTo(t, server.URL, workertest.Burst(0, 1, 1), `{}`)
		a.Audits = []*workerv1.Audit{{Value: ".username", Read: &workerv1.Request{
			Name: workertest.UnaryCall, Call: &workerv1.Call{Method: workertest.UnaryCall, Messages: [][]byte{[]byte(message)}},
		}}}
		ctx, cancel := context.WithTimeout(t.Context(), await.Patience)
		defer cancel()
		got := ""
		prepared(t, a, testConfig(), ignore).Audit.Watch(ctx, func(readings []setup.Reading) {
			if got = fmt.Sprint(readings[0].Value); readings[0].Err != nil {
				got = strings.Replace(readings[0].Err.Error(), "grpc.method "+workertest.UnaryCall, "the call", 1)
			}
			cancel()
		})
		if got != want {
			t.Errorf("%s: %s, want %s", message, got, want)
		}
	}
}
