package coordinator

import (
	"context"
	"errors"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

// Identity is what a worker's token proves. Its pod is known by its UID: its name can
// be given to another.
type Identity struct {
	Run                          RunID
	Worker                       int32
	Namespace, Pod, PodUID, Node string
	// Created is when the pod was created.
	Created time.Time
}

// ErrUnauthenticated is wrapped by an Authenticator's error when the token
// itself is invalid, so that trying again is pointless.
var ErrUnauthenticated = errors.New("unauthenticated")

// Authenticator verifies a worker's bearer token. A session ends with Unauthenticated
// for errors that wrap ErrUnauthenticated, and with Unavailable, which the worker
// retries, for all others. It is called from many goroutines, and bounds what it asks
// of others at once.
type Authenticator interface {
	// Authenticate is called once for each session, before anything is read from it.
	Authenticate(ctx context.Context, token string) (Identity, error)
	// Check says whether an identity still holds, from what is known without asking
	// anything. It is called often.
	Check(ctx context.Context, identity Identity) error
}

// authTimeout bounds a verification; it is one call to the API server.
const authTimeout = 10 * time.Second

func (c *Coordinator) authenticate(ctx context.Context) (Identity, error) {
	token, ok := bearerToken(ctx)
	if !ok {
		return Identity{}, c.reject(rejectUnauthenticated, codes.Unauthenticated, "metadata authorization: want one \"Bearer <token>\"")
	}
	ctx, cancel := context.WithTimeout(ctx, authTimeout)
	defer cancel()
	identity, err := c.auth.Authenticate(ctx, token)
	switch {
	case errors.Is(err, ErrUnauthenticated):
		return Identity{}, c.reject(rejectUnauthenticated, codes.Unauthenticated, "verify token: %v", err)
	case err != nil:
		return Identity{}, c.reject(rejectUnverified, codes.Unavailable, "verify token: %v", err)
	}
	return identity, nil
}

func bearerToken(ctx context.Context) (string, bool) {
	md, _ := metadata.FromIncomingContext(ctx)
	values := md.Get("authorization")
	if len(values) != 1 {
		return "", false
	}
	token, ok := strings.CutPrefix(values[0], "Bearer ")
	return token, ok && token != ""
}

// isAdjacent says whether a worker of that version can be worked with: one of the release before or
// after, in the middle of an upgrade.
func isAdjacent(protocol int32) bool {
	return workerv1.ProtocolVersion-1 <= protocol && protocol <= workerv1.ProtocolVersion+1
}

// checkHello compares a hello with what the token proves.
func (c *Coordinator) checkHello(identity Identity, hello *workerv1.Hello) error {
	switch {
	case hello == nil:
		return c.reject(rejectHello, codes.InvalidArgument, "the first message of a session is hello")
	case !isAdjacent(hello.GetProtocol()):
		return c.reject(rejectHello, codes.FailedPrecondition,
			"hello.protocol is %d, the operator's is %d: use the worker image of the operator's release", hello.GetProtocol(), workerv1.ProtocolVersion)
	case RunID(hello.GetRun()) != identity.Run:
		return c.reject(rejectIdentity, codes.PermissionDenied, "hello.run is %.64q, but the token belongs to run %q", hello.GetRun(), identity.Run)
	case hello.GetWorker() != identity.Worker:
		return c.reject(rejectIdentity, codes.PermissionDenied, "hello.worker is %d, but the token belongs to worker %d", hello.GetWorker(), identity.Worker)
	}
	return nil
}
