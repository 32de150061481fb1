package coordinator

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

const (
	// maxMessage bounds a message. A snapshot of 32 requests has 66 histograms of
	// at most 40 KB (10^8 values), and ledgers of 174,000 slices (measure.MaxLedgerBytes)
	// of some 18 bytes: 5.8 MB.
	maxMessage = 8 << 20
	// buffer and window are of a connection and, the window, of each of its streams:
	// a thousand of them are no more than some megabytes, and snapshots are small.
	buffer = 4 << 10
	window = 64 << 10
	// maxHeader bounds the metadata; a service-account token has 1 to 2 KB.
	maxHeader = 16 << 10
	// maxStreams is for a connection: a session, and the one that takes over from
	// it.
	maxStreams = 4

	// minClientPing is the least time between a client's pings; workers ping each
	// PingEvery, and pings that a busy network bunches together are no abuse.
	minClientPing = 5 * time.Second
	// maxIdle closes a connection without a session.
	maxIdle = time.Minute
	// handshakeTimeout bounds the time until a connection can carry sessions.
	handshakeTimeout = 10 * time.Second
	// drainTimeout bounds how long a stop waits for sessions to end.
	drainTimeout = 5 * time.Second
)

// Serve accepts workers until ctx ends, then ends their sessions, waits for
// them, and closes lis. It is called once. The protocol is TLS 1.3, whatever
// else config permits.
func (c *Coordinator) Serve(ctx context.Context, lis net.Listener, config *tls.Config) error {
	if config == nil {
		return errors.New("serve sessions: no TLS configuration")
	}
	config = config.Clone()
	config.MinVersion = tls.VersionTLS13
	server := grpc.NewServer(
		grpc.Creds(credentials.NewTLS(config)),
		grpc.MaxRecvMsgSize(maxMessage),
		grpc.ForceServerCodecV2(newCodec()),
		grpc.ReadBufferSize(buffer),
		grpc.WriteBufferSize(buffer),
		grpc.StaticStreamWindowSize(window),
		grpc.StaticConnWindowSize(2*window),
		grpc.MaxHeaderListSize(maxHeader),
		grpc.MaxConcurrentStreams(maxStreams),
		grpc.ConnectionTimeout(handshakeTimeout),
		grpc.WaitForHandlers(true),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: workerv1.PingEvery, Timeout: workerv1.PingTimeout, MaxConnectionIdle: maxIdle}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: minClientPing, PermitWithoutStream: true}),
	)
	workerv1.RegisterCoordinatorServiceServer(server, service{Coordinator: c})

	c.connections = newConnections(lis, maxStrangers, func(why rejection) { c.metrics.rejected.WithLabelValues(string(why)).Inc() }, newReception(c.after))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var background sync.WaitGroup
	background.Go(func() { c.checkUntil(ctx) })
	background.Go(func() {
		<-ctx.Done()
		c.drain(server)
	})
	err := server.Serve(c.connections)
	cancel()
	background.Wait()
	c.receivers.Wait()
	// It was stopped before it began if ctx had ended already.
	if err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		return fmt.Errorf("serve sessions: %w", err)
	}
	return nil
}

// drain ends the sessions and waits for them, but not for a worker that does
// not read what it is sent.
func (c *Coordinator) drain(server *grpc.Server) {
	c.stop()
	cancel := c.after(drainTimeout, server.Stop)
	defer cancel()
	server.GracefulStop()
}
