package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

// giant is twice what a message may have.
const giant = 16 << 20

// showJunk opens a session with a token of the right form, which differs each time.
func (a *attacked) showJunk(ctx context.Context) (int64, error) {
	return a.session(ctx, junkToken(), "verify token: not found", hello(a.run, 0))
}

// sendGiant sends a giant message in a session of its own worker.
func (a *attacked) sendGiant(ctx context.Context) (int64, error) {
	return a.session(ctx, a.token, "larger than max", hello(a.run, 0), hello(a.run, giant))
}

// sendGiantHello begins a session with one.
func (a *attacked) sendGiantHello(ctx context.Context) (int64, error) {
	return a.session(ctx, a.token, "larger than max", hello(a.run, giant))
}

func hello(run string, size int) *workerv1.SessionRequest {
	return &workerv1.SessionRequest{Message: &workerv1.SessionRequest_Hello{Hello: &workerv1.Hello{
		Run: run, Protocol: workerv1.ProtocolVersion, Version: strings.Repeat("x", size),
	}}}
}

// session sends messages, and waits for its end, which is to be with those words. Others say
// that it did not come to that.
func (a *attacked) session(ctx context.Context, token, words string, messages ...*workerv1.SessionRequest) (int64, error) {
	ctx, cancel := context.WithTimeout(metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token), reachWithin)
	defer cancel()
	conn, err := grpc.NewClient("passthrough:///"+a.to, grpc.WithTransportCredentials(credentials.NewTLS(a.trust)))
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	session, err := workerv1.NewCoordinatorServiceClient(conn).Session(ctx)
	for i := 0; err == nil && i < len(messages); i++ {
		_ = session.Send(messages[i]) // what is wrong with it, Recv says
	}
	for err == nil {
		_, err = session.Recv()
	}
	switch s := status.Convert(err); {
	case strings.Contains(s.Message(), words):
		return 0, errors.New(s.Message())
	case s.Code() == codes.DeadlineExceeded && ctx.Err() != nil:
		return 0, errKept
	}
	return 0, fmt.Errorf("%w: %w", errUnreached, err)
}

// junkToken is one that says to be bound to a pod, as a tenant can write it.
func junkToken() string {
	claims, err := json.Marshal(map[string]any{
		"aud": []string{workerv1.Audience}, "exp": time.Now().Add(time.Hour).Unix(),
		"kubernetes.io": map[string]any{"namespace": "junk", "pod": map[string]any{"name": fmt.Sprintf("junk-%d", rand.Uint32()), "uid": "1"}},
	})
	if err != nil {
		panic(err) // it is a constant but for a number
	}
	return "e30." + base64.RawURLEncoding.EncodeToString(claims) + ".e30"
}
