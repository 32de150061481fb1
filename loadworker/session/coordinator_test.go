package session

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/assemble"
	"github.com/loadtest-dev/loadtest-operator/loadworker/health"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/measure/wire"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/memory"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

// skew is how far the fake coordinator's clock is ahead of the worker's.
const skew = 3 * time.Hour

const token = "a-token"

// fakeCoordinator is the operator's side of sessions, over real gRPC and TLS, in memory. A test
// waits for a worker's messages and sends the coordinator's.
type fakeCoordinator struct {
	workerv1.UnimplementedCoordinatorServiceServer
	dial func(ctx context.Context, address string) (net.Conn, error)
	ca   []byte

	// received are all messages but probes, each with its session.
	received chan receivedMessage
	// sessions are the streams, as they come.
	sessions chan *serverSession

	mu    sync.Mutex
	token string
}

type receivedMessage struct {
	session *serverSession
	message *workerv1.SessionRequest
}

type serverSession struct {
	mu     sync.Mutex
	stream workerv1.CoordinatorService_SessionServer
	hangUp chan error
	probes atomic.Int32 // received
}

func (s *serverSession) send(t *testing.T, m *workerv1.SessionResponse) {
	t.Helper()
	if err := s.write(m); err != nil {
		t.Errorf("send: %v", err)
	}
}

func (s *serverSession) write(m *workerv1.SessionResponse) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stream.Send(m)
}

func startFakeCoordinator(t *testing.T) *fakeCoordinator {
	t.Helper()
	certificate, ca := newCertificate(t)
	lis := memory.Listen()
	c := &fakeCoordinator{
		dial: lis.DialAddress, ca: ca, token: token,
		received: make(chan receivedMessage, 1000), sessions: make(chan *serverSession, 100),
	}
	server := grpc.NewServer(grpc.Creds(credentials.NewTLS(&tls.Config{
		Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS13,
	})))
	workerv1.RegisterCoordinatorServiceServer(server, c)
	go func() { _ = server.Serve(lis) }()
	t.Cleanup(server.Stop)
	return c
}

// newCertificate makes an authority and a certificate for the coordinator.
func newCertificate(t *testing.T) (tls.Certificate, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must.Succeed(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: workerv1.ServerName}, DNSNames: []string{workerv1.ServerName},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	must.Succeed(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func (c *fakeCoordinator) Session(stream workerv1.CoordinatorService_SessionServer) error {
	md, _ := metadata.FromIncomingContext(stream.Context())
	c.mu.Lock()
	want := "Bearer " + c.token
	c.mu.Unlock()
	if got := md.Get("authorization"); len(got) != 1 || got[0] != want {
		return status.Error(codes.Unauthenticated, "wrong token")
	}
	s := &serverSession{stream: stream, hangUp: make(chan error, 1)}
	c.sessions <- s
	ended := make(chan error, 1)
	go func() { ended <- c.receive(s) }()
	select {
	case err := <-s.hangUp:
		return err
	case err := <-ended:
		return err
	}
}

func (c *fakeCoordinator) receive(s *serverSession) error {
	for {
		m, err := s.stream.Recv()
		if err != nil {
			return err
		}
		probe := m.GetClockProbe()
		if probe == nil {
			c.received <- receivedMessage{s, m}
			continue
		}
		s.probes.Add(1)
		reply := &workerv1.ClockReply{
			ProbeSentUnixNanos: probe.GetSentUnixNanos(), NowUnixNanos: time.Now().Add(skew).UnixNano(),
		}
		if err := s.write(&workerv1.SessionResponse{Message: &workerv1.SessionResponse_ClockReply{ClockReply: reply}}); err != nil {
			return err
		}
	}
}

// waitFor waits for a message that fits, and drops others.
func (c *fakeCoordinator) waitFor(t *testing.T, what string, fits func(*workerv1.SessionRequest) bool) receivedMessage {
	t.Helper()
	for {
		if s := await.Receive(t, "the worker sends "+what, c.received); fits(s.message) {
			return s
		}
	}
}

func (c *fakeCoordinator) waitForHello(t *testing.T) *serverSession {
	t.Helper()
	return c.waitFor(t, "hello", func(m *workerv1.SessionRequest) bool { return m.GetHello() != nil }).session
}

func (c *fakeCoordinator) waitForReadiness(t *testing.T) *workerv1.Readiness {
	t.Helper()
	return c.waitFor(t, "readiness", func(m *workerv1.SessionRequest) bool { return m.GetReadiness() != nil }).message.GetReadiness()
}

func (c *fakeCoordinator) waitUntilReady(t *testing.T) {
	t.Helper()
	c.waitFor(t, "that it is ready", func(m *workerv1.SessionRequest) bool { return m.GetReadiness().GetReady() })
}

func (c *fakeCoordinator) waitForFinal(t *testing.T, step int32) (*workerv1.Snapshot, *measure.Measurement) {
	t.Helper()
	s := c.waitFor(t, "final snapshot", func(m *workerv1.SessionRequest) bool {
		return m.GetSnapshot().GetFinal() && m.GetSnapshot().GetStep() == step
	}).message.GetSnapshot()
	return s, decode(t, s)
}

func (c *fakeCoordinator) waitForSnapshot(t *testing.T, what string, fits func(*measure.Measurement) bool) receivedMessage {
	t.Helper()
	return c.waitFor(t, what, func(m *workerv1.SessionRequest) bool {
		s := m.GetSnapshot()
		return s != nil && !s.GetFinal() && fits(decode(t, s))
	})
}

func decode(t *testing.T, s *workerv1.Snapshot) *measure.Measurement {
	t.Helper()
	step, err := wire.Decode(s.GetMeasurement(), len(s.GetMeasurement().GetRequests()))
	if err != nil {
		t.Fatalf("snapshot of step %d: %v", s.GetStep(), err)
	}
	return step
}

func assign(a *workerv1.Assignment) *workerv1.SessionResponse {
	return &workerv1.SessionResponse{Message: &workerv1.SessionResponse_Assignment{Assignment: a}}
}

// start is an instant of the coordinator's clock, soon.
func start(step int32, in time.Duration) *workerv1.SessionResponse {
	return &workerv1.SessionResponse{Message: &workerv1.SessionResponse_StartStep{StartStep: &workerv1.StartStep{
		Step: step, StartUnixNanos: time.Now().Add(skew + in).UnixNano(),
	}}}
}

func stop(step int32) *workerv1.SessionResponse {
	return &workerv1.SessionResponse{Message: &workerv1.SessionResponse_StopStep{StopStep: &workerv1.StopStep{Step: step}}}
}

// acknowledge is of step 0.
func acknowledge() *workerv1.SessionResponse {
	return &workerv1.SessionResponse{Message: &workerv1.SessionResponse_Acknowledge{Acknowledge: &workerv1.Acknowledge{Before: 1}}}
}

func finish() *workerv1.SessionResponse {
	return &workerv1.SessionResponse{Message: &workerv1.SessionResponse_Finish{Finish: &workerv1.Finish{}}}
}

// runningWorker is a Run under test.
type runningWorker struct {
	cancel context.CancelFunc
	ended  chan error
}

func startWorker(t *testing.T, c *fakeCoordinator, change ...func(*Config)) *runningWorker {
	t.Helper()
	file := filepath.Join(t.TempDir(), "token")
	must.Succeed(t, os.WriteFile(file, []byte(token+"\n"), 0o600))
	config := Config{
		Coordinator: "coordinator:9443", Dial: c.dial, CA: c.ca, TokenFile: file, Run: workertest.Run,
		Assembly: assemble.Config{Version: "test", Limits: health.SystemLimits()},
	}
	for _, f := range change {
		f(&config)
	}
	ctx, cancel := context.WithCancel(context.Background())
	w := &runningWorker{cancel: cancel, ended: make(chan error, 1)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.ended <- Run(ctx, config)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return w
}

// readyWorker starts a worker that has an assignment and is ready for it.
func readyWorker(t *testing.T, a *workerv1.Assignment, change ...func(*Config)) (*fakeCoordinator, *runningWorker, *serverSession) {
	t.Helper()
	c := startFakeCoordinator(t)
	w := startWorker(t, c, change...)
	s := c.waitForHello(t)
	s.send(t, assign(a))
	c.waitUntilReady(t)
	return c, w, s
}

// finish ends the run, and waits until the worker has ended with it.
func (w *runningWorker) finish(t *testing.T, s *serverSession) {
	t.Helper()
	s.send(t, finish())
	w.waitForEnd(t, nil)
}

func (w *runningWorker) waitForEnd(t *testing.T, want error) {
	t.Helper()
	if err := w.end(t); !errors.Is(err, want) {
		t.Errorf("the worker ended with %v, want %v", err, want)
	}
}

// end is what the worker ends with.
func (w *runningWorker) end(t *testing.T) error {
	t.Helper()
	return await.Receive(t, "the worker ends", w.ended)
}
