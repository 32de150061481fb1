package command_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/protobuf/proto"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

// taken counts calls by method, and answers each that can be decoded with OK.
type taken struct {
	mu    sync.Mutex
	calls map[string]int
}

const tested = "/grpc.testing.TestService/"

func (c *taken) count(method string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[strings.TrimPrefix(method, tested)]++
}

func (c *taken) unary(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if !strings.HasPrefix(info.FullMethod, tested) {
		return handler(ctx, request)
	}
	c.count(info.FullMethod)
	return &grpc_testing.Empty{}, nil
}

func (c *taken) stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if !strings.HasPrefix(info.FullMethod, tested) {
		return handler(srv, stream)
	}
	for {
		var request proto.Message = &grpc_testing.StreamingOutputCallRequest{}
		if strings.HasSuffix(info.FullMethod, "/StreamingInputCall") {
			request = &grpc_testing.StreamingInputCallRequest{}
		}
		err := stream.RecvMsg(request)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if !info.IsClientStream {
			break
		}
	}
	c.count(info.FullMethod)
	return stream.SendMsg(&grpc_testing.Empty{})
}

// What a server's reflection says is a LoadTest that is valid everywhere, and of which that
// server takes every call.
func TestInitFromGRPCRuns(t *testing.T) {
	t.Parallel()
	c := &taken{calls: map[string]int{}}
	s := workertest.ServeCalls(t, grpc.UnaryInterceptor(c.unary), grpc.StreamInterceptor(c.stream))
	written := alone(t.Context(), t, "init", "--from-grpc", s.URL, "--service", "calls:grpc")
	if written.code != 0 {
		t.Fatalf("exit code %d: %s", written.code, written.err)
	}
	withInput(t, written.out, "validate", "-f", "-", "--config", allHosts(t)).exits(t, 0)
	p := newTestUser(t)
	if out, err := apiserver.Kubectl(t)(written.out, "create", "--dry-run=server", "-n", p.namespace, "-f", "-"); err != nil {
		t.Errorf("the API server: %s", out)
	}
	short := written.out
	// In a number of requests, and no time in which a busy machine must send them.
	for before, after := range map[string]string{"ladder:": "steps:", "users: [5, 20, 50]": "- name: all\n      users: 10", "ratePerUser: 1": "  requestsPerUser: 20", "    duration: 30s\n": "", "within: 500ms": "within: 60s"} {
		if !strings.Contains(short, before) {
			t.Fatalf("the draft does not say %q:\n%s", before, short)
		}
		short = strings.ReplaceAll(short, before, after)
	}
	at := strings.TrimPrefix(s.URL, "http://")
	got, lt := runLocal(t, "-f", write(t, "calls.yaml", short), "--service", "calls="+at)
	judged(t, got, lt, v1beta1.VerdictPassed)
	contains(t, "the report", got.out, "sent 200 (100%)")
	c.mu.Lock()
	defer c.mu.Unlock()
	all := 0
	for _, method := range []string{"EmptyCall", "UnaryCall", "CacheableUnaryCall", "UnimplementedCall", "StreamingOutputCall", "StreamingInputCall", "FullDuplexCall", "HalfDuplexCall"} {
		if c.calls[method] == 0 {
			t.Errorf("the server has taken no call of %s", method)
		}
		all += c.calls[method]
	}
	if all != 200 {
		t.Errorf("the server has taken %d calls, want 200: %v\n%s", all, c.calls, got.out)
	}
}

func TestInitFromGRPCWithAServiceAndAHeader(t *testing.T) {
	t.Parallel()
	s := workertest.ServeCalls(t)
	args := []string{"init", "--from-grpc", strings.TrimPrefix(s.URL, "http://"), "--grpc-service", "grpc.testing.TestService", "--header", "Authorization: Bearer s3cret"}
	written := alone(t.Context(), t, append(args, "--service", "shop:grpc", "--schedule", "@daily")...)
	if written.code != 0 {
		t.Fatalf("exit code %d: %s", written.code, written.err)
	}
	contains(t, "the draft", written.out, "kind: LoadTestSchedule", "service: {name: shop, port: grpc}", "protocol: HTTP/2", "grpcHealth: {}",
		`--from-literal=authorization="$AUTHORIZATION"`, "method: grpc.testing.TestService/UnaryCall")
	if strings.Contains(written.out, "s3cret") {
		t.Errorf("a credential is written:\n%s", written.out)
	}
	p := newTestUser(t)
	if out, err := apiserver.Kubectl(t)(written.out, "create", "--dry-run=server", "-n", p.namespace, "-f", "-"); err != nil {
		t.Errorf("the API server: %s", out)
	}
}

func TestInitFromGRPCRefuses(t *testing.T) {
	s := workertest.ServeCalls(t)
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"two sources":     {[]string{"--from-grpc", s.URL, "--from-curl", "-"}, "2 given"},
		"no server":       {[]string{"--from-curl", "-", "--grpc-service", "a.B"}, "--grpc-service, --header and --insecure need --from-grpc"},
		"no TLS":          {[]string{"--from-grpc", s.URL, "--insecure"}, "--insecure concerns certificates: it needs --from-grpc https://HOST:PORT"},
		"credentials":     {[]string{"--from-grpc", "http://me:s3cret@localhost:1"}, "--from-grpc must be HOST:PORT or https://HOST:PORT, without credentials; give them by --header"},
		"no header":       {[]string{"--from-grpc", s.URL, "--header", "s3cret"}, `--header must be "NAME: VALUE"`},
		"no such service": {[]string{"--from-grpc", s.URL, "--grpc-service", "a.B"}, fmt.Sprintf(`--from-grpc %s: the server lists no service "a.B", but grpc.testing.TestService`, s.URL)},
	} {
		t.Run(name, func(t *testing.T) {
			got := alone(t.Context(), t, append([]string{"init"}, tt.args...)...)
			if got.code != 4 || got.out != "" || !strings.Contains(got.err, tt.want) || strings.Contains(got.err, "s3cret") {
				t.Errorf("exit code %d, %q, %q; want …%s…", got.code, got.out, got.err, tt.want)
			}
		})
	}
}
