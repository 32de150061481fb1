package coordinator

import (
	"errors"
	"io"
	"regexp"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/text"
)

type stream = grpc.BidiStreamingServer[workerv1.SessionRequest, workerv1.SessionResponse]

const (
	// helloTimeout bounds the time until a worker's hello.
	helloTimeout = 10 * time.Second
	// hangUpTimeout is how long a session that is over may take to return.
	hangUpTimeout = 5 * time.Second
)

var (
	errReplaced = status.Error(codes.Aborted, "a newer session of this worker took over")
	errNoHello  = status.Error(codes.DeadlineExceeded, "no hello")
)

// session is one stream of a worker.
type session struct {
	identity Identity
	stream   stream
	// connection is nil once it is closed.
	connection *connection

	// wake holds one token when there may be something to send.
	wake chan struct{}
	// messages bounds how many the worker may send.
	messages *rate.Limiter
	// over is closed when the session is to end, with err.
	over chan struct{}
	once sync.Once
	err  error
	// hangUp, if set, is called when the session has ended, and what it returns when
	// the session's goroutines have.
	hangUp  func() (cancel func())
	settled func()

	// sending serializes the sender and the clock replies of the receiver; nothing
	// is sent once closed.
	sending sync.Mutex
	closed  bool

	// The rest is guarded by the coordinator's mutex.
	run      *runState
	detached bool
	sent     sentState
}

// end ends the session; the first reason counts.
func (s *session) end(err error) {
	s.once.Do(func() {
		s.err = err
		close(s.over)
		if s.hangUp != nil {
			s.settled = s.hangUp()
		}
	})
}

// reasonOfEnd is nil while the session lasts.
func (s *session) reasonOfEnd() error {
	select {
	case <-s.over:
		return s.err
	default:
		return nil
	}
}

// wakeSender makes the sender look whether there is something to send. On a nil
// session it does nothing.
func (s *session) wakeSender() {
	if s == nil {
		return
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// send sends what message returns. A message that has a time in it is thus made
// when it is its turn.
func (s *session) send(message func() *workerv1.SessionResponse) error {
	s.sending.Lock()
	defer s.sending.Unlock()
	if s.closed {
		return io.ErrClosedPipe
	}
	return s.stream.Send(message())
}

// service keeps the gRPC method out of the Coordinator's surface.
type service struct {
	workerv1.UnimplementedCoordinatorServiceServer
	*Coordinator
}

// Session runs a session until either side ends it. Its goroutine is the
// sender; the receiver ends soon after it, since returning ends the stream.
func (c service) Session(stream stream) error {
	return c.guarded(func() error { return c.session(stream) })
}

func (c *Coordinator) session(stream stream) (err error) {
	identity, err := c.authenticate(stream.Context())
	if err != nil {
		return err
	}
	s := c.newSession(identity, stream)
	c.receivers.Go(func() { s.end(c.guarded(func() error { return c.receive(s) })) })
	defer func() {
		s.close()
		s.end(err)
		s.settled()
		c.detach(s)
	}()
	return c.sendPending(s)
}

func (c *Coordinator) newSession(identity Identity, stream stream) *session {
	s := &session{
		identity: identity,
		stream:   stream,
		messages: newMessageLimit(),
		wake:     make(chan struct{}, 1),
		over:     make(chan struct{}),
		sent:     nothingSent,
	}
	if p, ok := peer.FromContext(stream.Context()); ok {
		s.connection = c.connections.find(p.Addr.String())
	}
	// A worker that does not read blocks the sender: its connection has to go.
	s.hangUp = func() func() { return c.after(hangUpTimeout, s.connection.hangUp) }
	return s
}

// close waits for what is being sent: a stream must not be used once its
// handler has returned.
func (s *session) close() {
	s.sending.Lock()
	defer s.sending.Unlock()
	s.closed = true
}

// sendPending sends what is pending, each time that it is woken, until the session
// is over.
func (c *Coordinator) sendPending(s *session) error {
	for {
		select {
		case <-s.over:
			return s.err
		case <-s.wake:
		}
		messages, finished := c.pending(s)
		for _, m := range messages {
			if err := c.sendMessage(s, m); err != nil {
				return err
			}
		}
		if finished {
			return nil
		}
	}
}

// receive reads until the session is over and returns why.
func (c *Coordinator) receive(s *session) error {
	cancel := c.after(helloTimeout, func() { s.end(errNoHello) })
	first, err := s.stream.Recv()
	cancel()
	if err != nil {
		return endOfStream(err)
	}
	if err := c.checkHello(s.identity, first.GetHello()); err != nil {
		return err
	}
	if err := c.attach(s); err != nil {
		return err
	}
	s.handled(first)
	for {
		m, err := s.stream.Recv()
		if err != nil {
			return endOfStream(err)
		}
		if err := c.pace(s, m); err != nil {
			return err
		}
		if err := c.handle(s, m); err != nil {
			return err
		}
		s.handled(m)
	}
}

// endOfStream is nil if the worker ended the session in the regular way.
func endOfStream(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func (c *Coordinator) handle(s *session, m *workerv1.SessionRequest) error {
	c.seen(s)
	switch m := m.GetMessage().(type) {
	case *workerv1.SessionRequest_ClockProbe:
		return s.send(func() *workerv1.SessionResponse { return c.clockReply(m.ClockProbe) })
	case *workerv1.SessionRequest_Readiness:
		return c.readiness(s, m.Readiness)
	case *workerv1.SessionRequest_Snapshot:
		return c.snapshot(s, m.Snapshot)
	case *workerv1.SessionRequest_AuditReadings:
		return c.auditReadings(s, m.AuditReadings)
	case *workerv1.SessionRequest_Hello:
		return c.reject(rejectInvalid, codes.InvalidArgument, "hello was sent twice")
	default:
		return c.reject(rejectInvalid, codes.InvalidArgument, "a message of unknown kind: use the worker image of the operator's release")
	}
}

func (c *Coordinator) seen(s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := s.run.worker(s.identity.Worker); w.session == s {
		s.run.see(w, c.clock.Now())
	}
}

func (c *Coordinator) clockReply(probe *workerv1.ClockProbe) *workerv1.SessionResponse {
	return &workerv1.SessionResponse{Message: &workerv1.SessionResponse_ClockReply{ClockReply: &workerv1.ClockReply{
		ProbeSentUnixNanos: probe.GetSentUnixNanos(),
		NowUnixNanos:       c.clock.Now().UnixNano(),
		Packed:             true,
	}}}
}

// reasonSyntax is that of a condition's reason, which it becomes.
var reasonSyntax = regexp.MustCompile(`^([A-Z][A-Za-z0-9]{0,63})?$`)

// digestSyntax is that of a digest of descriptors, which stands in a status.
var digestSyntax = regexp.MustCompile(`^(sha256:[0-9a-f]{64})?$`)

// readiness stores a worker's readiness. That all are ready is notified at once, since
// the run waits for it; the text of one that is not may change at any time.
func (c *Coordinator) readiness(s *session, m *workerv1.Readiness) error {
	if !reasonSyntax.MatchString(m.GetReason()) {
		return c.reject(rejectInvalid, codes.InvalidArgument, "readiness.reason: want a condition reason, for example WorkerRefused")
	}
	if !digestSyntax.MatchString(m.GetDescriptors()) || !digestSyntax.MatchString(m.GetControlDescriptors()) {
		return c.reject(rejectInvalid, codes.InvalidArgument, "readiness.descriptors: want sha256: and 64 digits")
	}
	reason, message := m.GetReason(), text.Clean(m.GetMessage(), measure.MaxErrorBytes)
	if m.GetReady() {
		reason, message = "", ""
	}
	said := readiness{m.GetReady(), reason, message, m.GetPreflightAnswers(), m.GetTargets(), m.GetDescriptors(), m.GetControlDescriptors()}
	var changed, all bool
	c.locked(func() {
		w := s.run.worker(s.identity.Worker)
		if changed = w.session == s && w.readiness != said; changed {
			w.readiness = said
			all = said.ready && s.run.allReady()
		}
	})
	switch {
	case all:
		c.notifyChange(s.run, atOnce)
	case changed:
		c.notifyChange(s.run, soon)
	}
	return nil
}
