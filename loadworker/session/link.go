package session

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

const (
	// shortestRetry and longestRetry bound the wait between attempts.
	shortestRetry = 50 * time.Millisecond
	longestRetry  = time.Second
	// longestRefusal is how long a coordinator may refuse, without a pause, a worker that it never
	// said anything to: its Job or its pod was replaced, and it holds no results. For less than that
	// a coordinator may not know of its Job yet, or remember that its token was refused.
	longestRefusal = time.Minute
	// maxMessage bounds an assignment, whose bodies are the larger part.
	maxMessage = 16 << 20
)

// event is a change of the link: connected, message or lost is set.
type event struct {
	// connected is the outbox of a new stream.
	connected *outbox
	// message came at the instant received.
	message  *workerv1.SessionResponse
	received time.Time
	// lost is the reason why a stream ended.
	lost error
}

// link keeps a stream to the coordinator open.
type link struct {
	address string // of the coordinator
	conn    *grpc.ClientConn
	events  chan event
	// patience is how long the coordinator may be unreachable, in nanoseconds.
	patience atomic.Int64
}

func newLink(c Config) (*link, error) {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(c.CA) {
		return nil, errors.New("coordinator CA: no certificate in PEM")
	}
	options := []grpc.DialOption{
		grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{
			RootCAs: roots, ServerName: workerv1.ServerName, MinVersion: tls.VersionTLS13,
		})),
		grpc.WithPerRPCCredentials(tokenFile(c.TokenFile)),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: workerv1.PingEvery, Timeout: workerv1.PingTimeout, PermitWithoutStream: true}),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: shortestRetry, Multiplier: 1.6, Jitter: 0.2, MaxDelay: longestRetry},
			MinConnectTimeout: 5 * time.Second,
		}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)),
		grpc.WithNoProxy(),
	}
	if c.Dial != nil {
		options = append(options, grpc.WithContextDialer(c.Dial))
	}
	// The name is looked up at each attempt, not by a resolver with a cache.
	conn, err := grpc.NewClient("passthrough:///"+c.Coordinator, options...)
	if err != nil {
		return nil, fmt.Errorf("coordinator %s: %w", c.Coordinator, err)
	}
	l := &link{address: c.Coordinator, conn: conn, events: make(chan event)}
	l.patience.Store(int64(c.GiveUp))
	return l, nil
}

// tokenFile is the path of the worker's token, read anew for each stream since
// the kubelet rotates it.
type tokenFile string

var _ credentials.PerRPCCredentials = tokenFile("")

// GetRequestMetadata reads the token.
func (f tokenFile) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	b, err := os.ReadFile(string(f))
	if err != nil {
		return nil, fmt.Errorf("read token: %w", err)
	}
	return map[string]string{"authorization": "Bearer " + strings.TrimSpace(string(b))}, nil
}

// RequireTransportSecurity keeps the token from being sent in the clear.
func (tokenFile) RequireTransportSecurity() bool { return true }

// run keeps a stream open until ctx ends, or the coordinator was unreachable or refused the worker
// for too long. stream runs one to its end and returns when the last message came; zero: none
// came.
func (l *link) run(ctx context.Context, stream func(context.Context) (time.Time, error)) error {
	lastReceived := time.Now()
	var refused refusals
	for attempt := 0; ; attempt++ {
		received, err := stream(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if lasted := refused.add(received, err); lasted >= longestRefusal {
			return fmt.Errorf("coordinator %s has refused this worker for %v: %w", l.address, lasted.Round(time.Second), err)
		}
		if !received.IsZero() {
			lastReceived = received
			// Of a coordinator that is there, but does not accept what the worker sends, more is
			// not expected of the next stream.
			if status.Code(err) != codes.InvalidArgument {
				attempt = 0
			}
		}
		if away := time.Since(lastReceived); away >= time.Duration(l.patience.Load()) {
			return fmt.Errorf("coordinator %s was unreachable for %v: %w", l.address, away.Round(time.Second), err)
		}
		l.emit(ctx, event{lost: err})
		wait := min(longestRetry, shortestRetry<<min(attempt, 10))
		select {
		case <-time.After(wait/2 + rand.N(wait/2)):
		case <-ctx.Done():
			return nil
		}
	}
}

// refusals are how long a worker was refused, stream after stream.
type refusals struct {
	since time.Time // zero: the last stream did not end so
	heard bool      // a message came at some time
}

// add notes how a stream ended, and returns for how long all have ended with a refusal; 0 for one
// that the coordinator ever sent a message to.
func (r *refusals) add(received time.Time, err error) time.Duration {
	r.heard = r.heard || !received.IsZero()
	code := status.Code(err)
	switch refused := code == codes.Unauthenticated || code == codes.PermissionDenied; {
	case r.heard || !refused:
		r.since = time.Time{}
		return 0
	case r.since.IsZero():
		r.since = time.Now()
	}
	return time.Since(r.since)
}

// stream runs one stream.
func (l *link) stream(ctx context.Context) (received time.Time, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := workerv1.NewCoordinatorServiceClient(l.conn).Session(ctx)
	if err != nil {
		return received, err
	}
	out := newOutbox()
	l.emit(ctx, event{connected: out})
	sender := make(chan struct{})
	go func() {
		defer close(sender)
		defer cancel() // a stream that cannot be written to is lost
		send(ctx, stream, out)
	}()
	defer func() { <-sender }()
	defer cancel()
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return received, errors.New("closed by the coordinator")
		}
		if err != nil {
			return received, err
		}
		received = time.Now()
		l.emit(ctx, event{message: m, received: received})
	}
}

func send(ctx context.Context, stream workerv1.CoordinatorService_SessionClient, out *outbox) {
	for {
		m := out.next(ctx)
		// The error of a failed Send comes from Recv.
		if m == nil || stream.Send(m) != nil {
			return
		}
	}
}

func (l *link) emit(ctx context.Context, e event) {
	select {
	case l.events <- e:
	case <-ctx.Done():
	}
}
