//go:build e2e

package abuse

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// answerWithin is how long the coordinator may take to answer a session's first message.
const answerWithin = time.Minute

// refusals are the codes with which the coordinator refuses a session. Unavailable is one
// of a pod that it does not know.
var refusals = map[codes.Code]bool{
	codes.Unauthenticated: true, codes.PermissionDenied: true, codes.InvalidArgument: true, codes.FailedPrecondition: true, codes.Unavailable: true,
}

// speak opens a session with those tokens, sends a message, and says what came of it. It
// succeeded if the coordinator answers.
func (p *people) speak(t *testing.T, first *workerv1.SessionRequest, tokens ...string) attempt {
	t.Helper()
	return p.speakOver(t, credentials.NewTLS(p.trust(t)), first, tokens...)
}

func (p *people) speakOver(t *testing.T, over credentials.TransportCredentials, first *workerv1.SessionRequest, tokens ...string) attempt {
	t.Helper()
	address := coordinatorAddress(t)
	ctx, cancel := context.WithTimeout(t.Context(), answerWithin)
	defer cancel()
	for _, token := range tokens {
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
	}
	connection, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(over))
	must.Succeed(t, err)
	defer func() { _ = connection.Close() }()
	session, err := workerv1.NewCoordinatorServiceClient(connection).Session(ctx)
	if err == nil {
		_ = session.Send(first) // what is wrong with it, Recv says
		var answer *workerv1.SessionResponse
		if answer, err = session.Recv(); err == nil {
			return succeeded("the coordinator answered %T", answer.GetMessage())
		}
	}
	if s := status.Convert(err); refusals[s.Code()] {
		return refused(coordinator, s.Message())
	}
	t.Fatalf("neither refused nor answered: %v", err)
	return attempt{}
}

// coordinatorAddress leads to the leader's coordinator until the test ends. Each test has its
// own: kubectl port-forward ends when the coordinator breaks off a connection.
func coordinatorAddress(t *testing.T) string {
	t.Helper()
	var leading *corev1.Pod
	cluster.Soon(t, func(ctx context.Context) (err error) {
		leading, err = cluster.Leader(ctx)
		return err
	})
	return cluster.Forward(t, "pod/"+leading.Name, "9443")
}

// trust verifies the coordinator as a worker does.
func (p *people) trust(t *testing.T) *tls.Config {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(p.attacker.workersEnv(t, "LOADTEST_COORDINATOR_CA")))
	return &tls.Config{RootCAs: roots, ServerName: workerv1.ServerName, MinVersion: tls.VersionTLS13}
}

// workersEnv is a variable of the environment of the tenant's own worker.
func (tn *tenant) workersEnv(t *testing.T, name string) string {
	t.Helper()
	for _, e := range tn.waiting(t).Spec.Template.Spec.Containers[0].Env {
		if e.Name == name {
			return e.Value
		}
	}
	t.Fatalf("a worker has no variable %s", name)
	return ""
}

// sessionAbuses are of the connection, before any session.
var sessionAbuses = []abuse{
	{"a session over TLS 1.2", coordinator, "protocol version", func(t *testing.T, p *people) attempt {
		config := p.trust(t)
		config.MinVersion, config.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
		return p.speakOver(t, credentials.NewTLS(config), p.hello(t, 0), p.attacker.workersToken(t))
	}},
	{"a session without TLS", coordinator, "error reading server preface", func(t *testing.T, p *people) attempt {
		return p.speakOver(t, insecure.NewCredentials(), p.hello(t, 0), p.attacker.workersToken(t))
	}},
	{"a connection that says nothing", coordinator, "closed", func(t *testing.T, p *people) attempt {
		connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", coordinatorAddress(t))
		must.Succeed(t, err)
		defer func() { _ = connection.Close() }()
		_ = connection.SetReadDeadline(time.Now().Add(3 * time.Minute))
		begun := time.Now()
		_, err = connection.Read(make([]byte, 1))
		if timeout := net.Error(nil); err == nil || errors.As(err, &timeout) && timeout.Timeout() {
			return succeeded("the connection was kept for %s", time.Since(begun).Round(time.Second))
		}
		return refused(coordinator, "the connection was closed after "+time.Since(begun).Round(time.Second).String())
	}},
}
