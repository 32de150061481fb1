package assemble

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/loadtest-dev/loadtest-operator/address"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/attack"
	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/message"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

// asked is an assignment of calls whose descriptors are not given.
func asked(t *testing.T, url string, step *workerv1.Step, messages ...string) *workerv1.Assignment {
	t.Helper()
	a := callsTo(t, url, step, messages...)
	a.Target.DescriptorsFile = ""
	return a
}

// streams keeps the metadata of streams, and answers with a status unless that is OK.
func streams(into chan<- metadata.MD, code func() codes.Code) grpc.ServerOption {
	return grpc.StreamInterceptor(func(service any, s grpc.ServerStream, _ *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
		md, _ := metadata.FromIncomingContext(s.Context())
		into <- md
		if c := code(); c != codes.OK {
			return status.Error(c, "s3cret")
		}
		return handle(service, s)
	})
}

func ok() codes.Code { return codes.OK }

func TestCallsAreEncodedByTheReflectionOfTheTarget(t *testing.T) {
	server := workertest.ServeCalls(t)
	x := prepared(t, asked(t, server.URL, workertest.Burst(0, 4, 25), `{"payload": {"body": "YW5u"}}`, answering(5)), testConfig(), ignore)
	got := run(t, x)
	if all := counted(got); all[codes.OK]+all[codes.NotFound] != 100 || all[codes.OK] != server.Statuses()[codes.OK] || all[codes.NotFound] != server.Statuses()[codes.NotFound] {
		t.Errorf("counted %v, the target %v", all, server.Statuses())
	}
	given, err := message.Read(workertest.Descriptors(t))
	must.Succeed(t, err)
	if digest, control := x.Descriptors(); digest != given.Digest() || control != "" {
		t.Errorf("digest %s of what was asked for, %q of no control; want %s as of what is given", digest, control, given.Digest())
	}
}

// Preflights and audits that are calls need descriptors, whatever the mix has; a question
// for health does not.
func TestQuestionsAreEncodedByTheReflectionOfTheTarget(t *testing.T) {
	read := &workerv1.Request{Name: "read", Call: &workerv1.Call{Method: workertest.UnaryCall, Messages: [][]byte{[]byte(`{}`)}}}
	for name, tt := range map[string]struct {
		change func(*workerv1.Assignment)
		asked  int
	}{
		"a preflight":  {func(a *workerv1.Assignment) { a.Preflight = []*workerv1.Request{read} }, 1},
		"an audit":     {func(a *workerv1.Assignment) { a.Audits = []*workerv1.Audit{{Value: ".username", Read: read}} }, 1},
		"health alone": {func(*workerv1.Assignment) {}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			seen := make(chan metadata.MD, 9)
			server := workertest.ServeCalls(t, streams(seen, ok))
			server.Health.SetServingStatus("shop", grpc_health_v1.HealthCheckResponse_SERVING)
			a := asksHealth(server.URL)
			tt.change(a)
			digest, _ := prepared(t, a, testConfig(), ignore).Descriptors()
			if len(seen) != tt.asked || (digest != "") != (tt.asked > 0) {
				t.Errorf("asked %d times, digest %q; want %d", len(seen), digest, tt.asked)
			}
			if need := memoryNeed(a).base - memoryNeed(asksHealth(server.URL)).base; need != int64(tt.asked)*32*mib {
				t.Errorf("%d bytes are reserved for descriptors, asked %d times", need, tt.asked)
			}
		})
	}
}

// What the load shows of itself, reflection is shown as well: over TLS, with a certificate,
// to the same host.
func TestReflectionIsAskedAsTheTargetIsCalled(t *testing.T) {
	authority, seen := newAuthority(t), make(chan metadata.MD, 9)
	pair, _, _ := authority.sign(t, "shop.test")
	_, certificate, key := authority.sign(t, "a client")
	clients := x509.NewCertPool()
	clients.AddCert(authority.certificate)
	server := workertest.ServeCalls(t, streams(seen, ok), grpc.Creds(credentials.NewTLS(&tls.Config{
		Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients,
	})))
	a := asked(t, strings.Replace(server.URL, "http:", "https:", 1), workertest.Burst(0, 1, 2), `{}`)
	a.Target.Tls = &workerv1.TLS{CaFile: authority.file, ServerName: "shop.test", CertFile: certificate, KeyFile: key}
	a.Target.ReflectionHeaders = []*workerv1.Header{
		{Name: "Host", Value: "shop.example.com"}, {Name: "X-Worker", Value: "w${worker}"}, {Name: "x-id-bin", Value: "aGk="},
		{Name: "Authorization", Value: "Bearer ", ValueFile: file(t, "s3cret\n")},
	}
	got := run(t, prepared(t, a, testConfig(), ignore))
	if got.Requests[0].Outcomes[measure.Success] != 2 {
		t.Errorf("%v; %v", got.Requests[0].Outcomes, errorsOf(got))
	}
	md := <-seen
	for name, want := range map[string]string{":authority": "shop.example.com", "x-worker": "w0", "x-id-bin": "hi", "authorization": "Bearer s3cret"} {
		if got := md.Get(name); !slices.Equal(got, []string{want}) {
			t.Errorf("%s is %v, want %s", name, got, want)
		}
	}
	if agent := md.Get("user-agent"); len(agent) != 1 || !strings.HasPrefix(agent[0], "loadtest-operator/test ") {
		t.Errorf("user-agent is %v", agent)
	}
}

func TestReflectionIsAskedAgainOfATargetThatIsNotReady(t *testing.T) {
	var tries atomic.Int64
	server := workertest.ServeCalls(t, streams(make(chan metadata.MD, 99), func() codes.Code {
		switch tries.Add(1) {
		case 1:
			return codes.Unavailable
		case 2:
			return codes.DeadlineExceeded
		}
		return codes.OK
	}))
	var said []string
	x := prepared(t, asked(t, server.URL, workertest.Burst(0, 1, 1), `{}`), testConfig(), func(err error) {
		said = append(said, err.Error())
		unreachable(t, "", func() {})(err)
	})
	if digest, _ := x.Descriptors(); digest == "" {
		t.Error("there are no descriptors")
	}
	for _, status := range []string{"UNAVAILABLE", "DEADLINE_EXCEEDED"} {
		want := "the target's reflection is not ready (" + status + ")"
		if !slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, want) }) {
			t.Errorf("%q do not say %q", said, want)
		}
	}
}

func TestReflectionThatDoesNotHelpIsRefused(t *testing.T) {
	const give = ": give target.grpc.descriptorsFrom"
	tests := map[string]struct {
		target         func(*testing.T) string
		change         func(*workerv1.Assignment)
		reason, wanted string
	}{
		"no reflection": {
			target: func(t *testing.T) string { return serve(t, grpc.NewServer()) },
			reason: workerv1.ReasonInvalidSpec,
			wanted: "target.grpc: the target has no reflection (UNIMPLEMENTED)" + give + ", or register reflection in the server",
		},
		"no rights": {
			target: func(t *testing.T) string {
				return workertest.ServeCalls(t, streams(make(chan metadata.MD, 9), func() codes.Code { return codes.Unauthenticated })).URL
			},
			reason: workerv1.ReasonInvalidSpec,
			wanted: "target.grpc: the target's reflection refuses the request (UNAUTHENTICATED)" + give + ", or set target.headers to the credentials that it needs",
		},
		"another service": {
			change: func(a *workerv1.Assignment) { a.Requests[0].Call.Method = "a.B/C" },
			reason: workerv1.ReasonInvalidSpec,
			wanted: "target.grpc: the target's reflection has no service a.B" + give + ", or correct grpc.method",
		},
		"another method": {
			change: func(a *workerv1.Assignment) { a.Requests[0].Call.Method = "grpc.testing.TestService/Give" },
			reason: workerv1.ReasonInvalidSpec,
			wanted: `request "call 0": grpc.method: service grpc.testing.TestService has no method Give`,
		},
		"nothing listens": {
			target: func(*testing.T) string { return "http://127.0.0.1:1" },
			reason: workerv1.ReasonTargetUnreachable,
			wanted: "target http://127.0.0.1:1: ",
		},
		"a header that takes a column": {
			change: func(a *workerv1.Assignment) {
				a.Target.ReflectionHeaders = []*workerv1.Header{{Name: "X-User", Value: "${user_name}"}}
			},
			reason: workerv1.ReasonInvalidSpec,
			wanted: `target.grpc: request "reflection": header "X-User": unknown variable ${user_name}`,
		},
		"a binary header that is none": {
			change: func(a *workerv1.Assignment) {
				a.Target.ReflectionHeaders = []*workerv1.Header{{Name: "x-id-bin", Value: "?"}}
			},
			reason: workerv1.ReasonInvalidSpec,
			wanted: `target.grpc: header "X-Id-Bin": a value of a name that ends in -bin must be base64`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			url := ""
			if tt.target != nil {
				url = tt.target(t)
			} else {
				url = workertest.ServeCalls(t).URL
			}
			a := asked(t, url, rated(2), `{}`)
			if tt.change != nil {
				tt.change(a)
			}
			got := refusal(t, a, testConfig())
			if got.Reason != tt.reason || !strings.HasPrefix(got.Error(), tt.wanted) || strings.Contains(failure.Message(got, false), "s3cret") {
				t.Errorf("%s: %v\nwant %s: %s", got.Reason, got, tt.reason, tt.wanted)
			}
		})
	}
}

// The names of a target's methods are what it sent.
func TestNamesOfReflectionAreWithheld(t *testing.T) {
	a := asked(t, workertest.ServeCalls(t).URL, rated(2), `{}`)
	a.Requests[0].Call.Method = "grpc.testing.TestService/Give"
	got := refusal(t, a, testConfig())
	if hidden := failure.Message(got, false); strings.Contains(hidden, "EmptyCall") {
		t.Errorf("%s", hidden)
	}
	if shown := failure.Message(got, true); !strings.Contains(shown, "EmptyCall") {
		t.Errorf("exposed: %s", shown)
	}
}

// Reflection is asked where the load may be sent to, and nowhere else.
func TestReflectionIsNotAskedOfAnAddressThatIsNotAllowed(t *testing.T) {
	seen := make(chan metadata.MD, 9)
	a := asked(t, workertest.ServeCalls(t, streams(seen, ok)).URL, rated(2), `{}`)
	a.Target.AllowSpecialAddresses = false
	got := refusal(t, a, testConfig())
	var refused *address.RefusedError
	if !errors.As(got, &refused) || got.Reason != workerv1.ReasonTargetUnreachable || len(seen) != 0 {
		t.Errorf("%s: %v; asked %d times", got.Reason, got, len(seen))
	}
}

// Both sides of a comparison may differ.
func TestEachTargetHasItsOwnDescriptors(t *testing.T) {
	server := workertest.ServeCalls(t)
	a := asked(t, server.URL, rated(2), `{}`)
	control := asked(t, server.URL, rated(2), `{}`)
	control.Target.DescriptorsFile = file(t, string(workertest.Descriptors(t)))
	a.Control = &workerv1.Control{Target: control.Target, Requests: control.Requests}
	x := prepared(t, a, testConfig(), ignore)
	target, of := x.Descriptors()
	if target == "" || target != of {
		t.Errorf("digests %q and %q, want the same, asked for and given", target, of)
	}
	a.Control.Target.DescriptorsFile, a.Control.Target.Url = "", serve(t, grpc.NewServer())
	if got := refusal(t, a, testConfig()); !strings.HasPrefix(got.Error(), a.Control.Target.Url+": target.grpc: the target has no reflection") {
		t.Errorf("%v does not name the control", got)
	}
}

func TestDescriptorsThatAreAskedForHaveMemory(t *testing.T) {
	a := asked(t, "http://a", rated(2), `{}`)
	with := memoryNeed(a).base
	a.Requests[0].Call = nil
	events := attack.Memory(1, 0, 1) - attack.Memory(1, 0, 0)
	if without := memoryNeed(a).base; with-without != 32*mib+events {
		t.Errorf("%d bytes are reserved, want 32 MiB, and %d for events", with-without, events)
	}
}

// serve serves until the test ends.
func serve(t *testing.T, s *grpc.Server) string {
	t.Helper()
	grpc_testing.RegisterTestServiceServer(s, grpc_testing.UnimplementedTestServiceServer{})
	return "http://" + workertest.ServeGRPC(t, s)
}
