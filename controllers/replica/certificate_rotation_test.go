package replica_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"k8s.io/utils/clock"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// one takes every token for the one worker of a run.
type one struct{}

func (one) Authenticate(context.Context, string) (coordinator.Identity, error) {
	return coordinator.Identity{Run: "run"}, nil
}

func (one) Check(context.Context, coordinator.Identity) error { return nil }

// worker is one that has had its CA since its Job was made.
type worker struct {
	t       *testing.T
	address string
	ca      string
	now     func() time.Time
	// shown is the serial number of the certificate that it was shown last.
	shown string
}

// connect opens a session.
func (w *worker) connect() grpc.BidiStreamingClient[workerv1.SessionRequest, workerv1.SessionResponse] {
	w.t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(w.ca))
	conn, err := grpc.NewClient(w.address, grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{
		RootCAs: roots, ServerName: workerv1.ServerName, MinVersion: tls.VersionTLS13, Time: w.now,
		VerifyConnection: func(s tls.ConnectionState) error {
			w.shown = s.PeerCertificates[0].SerialNumber.String()
			return nil
		},
	})))
	must.Succeed(w.t, err)
	w.t.Cleanup(func() { _ = conn.Close() })
	ctx := metadata.AppendToOutgoingContext(w.t.Context(), "authorization", "Bearer token")
	session, err := workerv1.NewCoordinatorServiceClient(conn).Session(ctx)
	must.Succeed(w.t, err)
	hello := &workerv1.Hello{Run: "run", Protocol: workerv1.ProtocolVersion}
	must.Succeed(w.t, session.Send(&workerv1.SessionRequest{Message: &workerv1.SessionRequest_Hello{Hello: hello}}))
	return session
}

// probe fails unless the session goes on.
func (w *worker) probe(session grpc.BidiStreamingClient[workerv1.SessionRequest, workerv1.SessionResponse]) {
	w.t.Helper()
	probe := &workerv1.SessionRequest{Message: &workerv1.SessionRequest_ClockProbe{ClockProbe: &workerv1.ClockProbe{SentUnixNanos: 1}}}
	must.Succeed(w.t, session.Send(probe))
	if m, err := session.Recv(); err != nil || m.GetClockReply() == nil {
		w.t.Fatalf("got %v, %v, want a reply", m, err)
	}
}

// A worker's session outlives a renewal, and the worker can connect again after it.
func TestSessionsGoOnWhenTheCertificateIsRenewed(t *testing.T) {
	t.Parallel()
	r := newReplicas(t)
	leader := r.start()
	r.refresh(leader)
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	c := coordinator.New(one{}, clock.RealClock{}, func(coordinator.RunID) {}, prometheus.NewRegistry())
	go func() { served <- c.Serve(ctx, lis, &tls.Config{GetCertificate: leader.Get}) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})

	w := &worker{t: t, address: lis.Addr().String(), ca: leader.CA(), now: r.clock.Now}
	session := w.connect()
	w.probe(session)
	before := w.shown

	r.clock.SetTime(r.clock.Now().AddDate(0, 0, 125))
	r.refresh(leader)
	w.probe(session)
	w.probe(w.connect())
	if w.shown == before {
		t.Error("the certificate was not renewed")
	}
}
