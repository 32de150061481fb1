package rpc

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// silent is a stream whose client neither sends nor receives.
type silent struct {
	grpc.ServerStream
	ctx context.Context
}

func (s silent) Context() context.Context { return s.ctx }
func (s silent) SendMsg(any) error        { return s.wait() }
func (s silent) RecvMsg(any) error        { return s.wait() }

func (s silent) wait() error {
	<-s.ctx.Done()
	return s.ctx.Err()
}

func TestSilentClientIsGivenUp(t *testing.T) {
	for name, tc := range map[string]struct {
		do   func(stream) error
		want time.Duration
	}{
		"sends nothing":    {func(s stream) error { return s.RecvMsg(nil) }, 10 * time.Second},
		"receives nothing": {func(s stream) error { return s.SendMsg(nil) }, 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, err := endable(t.Context(), nil)
				must.Succeed(t, err)
				start := time.Now() // of the simulated clock, which is exact
				err = tc.do(stream{silent{ctx: ctx}, ctx})
				if status.Code(err) != codes.DeadlineExceeded {
					t.Errorf("error = %v, want %v", err, codes.DeadlineExceeded)
				}
				if took := time.Since(start); took != tc.want {
					t.Errorf("given up after %v, want %v", took, tc.want)
				}
			})
		})
	}
}

// A client that is in time keeps its call.
func TestMessageInTimeEndsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, _ := endable(t.Context(), nil)
		want := errors.New("of the message")
		if err := within(ctx, time.Second, func() error { return want }); !errors.Is(err, want) {
			t.Errorf("error = %v, want %v", err, want)
		}
		<-time.After(2 * time.Second)
		if ctx.Err() != nil {
			t.Errorf("the call was ended: %v", ctx.Err())
		}
	})
}

func TestClientIsNamedAsOverHTTP(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	for name, tc := range map[string]struct {
		peer, forwarded, want string
		refused               bool
	}{
		"a trusted proxy names the client":     {peer: "10.1.2.3", forwarded: "192.168.1.100, 10.9.9.9", want: "192.168.1.100"},
		"a stranger's metadata is not trusted": {peer: "192.0.2.7", forwarded: "1.1.1.1", want: "192.0.2.7"},
		"no metadata":                          {peer: "10.1.2.3", want: "10.1.2.3"},
		"no name":                              {peer: "10.1.2.3", forwarded: "a b", refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := peer.NewContext(t.Context(), &peer.Peer{Addr: &net.TCPAddr{IP: net.ParseIP(tc.peer), Port: 4711}})
			if tc.forwarded != "" {
				ctx = metadata.NewIncomingContext(ctx, metadata.Pairs("x-forwarded-for", tc.forwarded))
			}
			got, err := Client(ctx, trusted)
			if (err != nil) != tc.refused || got != tc.want {
				t.Errorf("client = %q, %v; want %q, refused %v", got, err, tc.want, tc.refused)
			}
		})
	}
}
