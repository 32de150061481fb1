package simulated

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	corev1 "k8s.io/api/core/v1"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

// Start is how a worker began a step.
type Start struct {
	Run  string
	Step int32
	// Ahead is how long before the instant that the operator chose the worker knew of it.
	Ahead time.Duration
	// Late is how long after the instant it began.
	Late time.Duration
}

// Lateness is how late the worker began, be it by itself or by the operator.
func (s Start) Lateness() time.Duration { return s.Late }

// ByOperator is how late it had to begin, as it did not know of the instant before.
func (s Start) ByOperator() time.Duration { return max(0, -s.Ahead) }

// worker is a simulated worker: it is ready at once, and reports what it should have
// measured.
type worker struct {
	run, address, token string
	number              int32
	roots               *x509.CertPool
	began               func(Start)
	waker               *Waker

	assignment *workerv1.Assignment
	steps      map[int32]*step // that have begun and are not acknowledged
}

// newWorker reads what the operator gave to a pod.
func newWorker(pod *corev1.Pod, number int32, token string, waker *Waker, began func(Start)) (*worker, error) {
	env := map[string]string{}
	for _, v := range pod.Spec.Containers[0].Env {
		env[v.Name] = v.Value
	}
	w := &worker{
		run: env["LOADTEST_RUN"], address: env["LOADTEST_COORDINATOR"], token: token, number: number,
		roots: x509.NewCertPool(), waker: waker, began: began, steps: map[int32]*step{},
	}
	if !w.roots.AppendCertsFromPEM([]byte(env["LOADTEST_COORDINATOR_CA"])) {
		return nil, errors.New("no certificate of the coordinator in the pod")
	}
	return w, nil
}

// patience is how long a worker tries to reach the coordinator.
const patience = 2 * time.Minute

var errFinished = errors.New("the run is finished")

// live keeps a session until the run is finished, as a worker does.
func (w *worker) live(ctx context.Context) error {
	conn, err := grpc.NewClient("passthrough:///"+w.address, grpc.WithNoProxy(), grpc.WithTransportCredentials(
		credentials.NewTLS(&tls.Config{RootCAs: w.roots, ServerName: workerv1.ServerName, MinVersion: tls.VersionTLS13})))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	for deadline := time.Now().Add(patience); ; {
		err := w.session(ctx, workerv1.NewCoordinatorServiceClient(conn))
		switch {
		case errors.Is(err, errFinished), ctx.Err() != nil:
			return nil
		case time.Now().After(deadline) && w.assignment == nil:
			return err
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

type message struct {
	*workerv1.SessionResponse
	err error
}

func (w *worker) session(ctx context.Context, c workerv1.CoordinatorServiceClient) error {
	ctx, cancel := context.WithCancel(metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+w.token))
	defer cancel()
	stream, err := c.Session(ctx)
	if err != nil {
		return err
	}
	hello := &workerv1.Hello{Run: w.run, Worker: w.number, Protocol: workerv1.ProtocolVersion, Version: "bench"}
	if err := stream.Send(&workerv1.SessionRequest{Message: &workerv1.SessionRequest_Hello{Hello: hello}}); err != nil {
		return err
	}
	messages := make(chan message)
	go func() {
		for {
			m, err := stream.Recv()
			select {
			case messages <- message{m, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return w.loop(ctx, messages, stream.Send)
}

// loop handles messages, and reports what runs when it is time.
func (w *worker) loop(ctx context.Context, messages <-chan message, send func(*workerv1.SessionRequest) error) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return ctx.Err()
		case m := <-messages:
			if m.err != nil {
				return m.err
			}
			err = w.handle(m.SessionResponse, send)
			timer.Reset(w.next())
		case <-timer.C:
			err = w.report(send)
			timer.Reset(w.next())
		}
		if err != nil {
			return err
		}
	}
}

func (w *worker) handle(m *workerv1.SessionResponse, send func(*workerv1.SessionRequest) error) error {
	switch m := m.GetMessage().(type) {
	case *workerv1.SessionResponse_Assignment:
		w.assignment = m.Assignment
		return send(&workerv1.SessionRequest{Message: &workerv1.SessionRequest_Readiness{Readiness: &workerv1.Readiness{Ready: true}}})
	case *workerv1.SessionResponse_StartStep:
		index := m.StartStep.GetStep()
		if w.steps[index] != nil {
			return nil // it came twice
		}
		s, err := newStep(w.assignment, m.StartStep)
		if err != nil {
			return err
		}
		w.steps[index] = s
		begins := Start{Run: w.run, Step: s.index, Ahead: time.Until(s.start)}
		return w.waker.At(s.start, func(late time.Duration) {
			begins.Late = late
			w.began(begins)
		})
	case *workerv1.SessionResponse_Acknowledge:
		for index := range w.steps {
			if index < m.Acknowledge.GetBefore() {
				delete(w.steps, index)
			}
		}
	case *workerv1.SessionResponse_Finish:
		return errFinished
	}
	return nil
}

// next is how long until there is something to do.
func (w *worker) next() time.Duration {
	wait := time.Hour
	for _, s := range w.steps {
		wait = min(wait, time.Until(s.due))
	}
	return max(0, wait)
}

// report begins the steps that are due, and sends the snapshots that are.
func (w *worker) report(send func(*workerv1.SessionRequest) error) error {
	for _, s := range w.steps {
		now := time.Now()
		if now.Before(s.due) {
			continue
		}
		if s.began.IsZero() {
			s.began = now
			s.due = now.Add(firstSnapshot)
			continue
		}
		snapshot, err := s.snapshot(now)
		if err != nil {
			return fmt.Errorf("step %d: %w", s.index, err)
		}
		if err := send(&workerv1.SessionRequest{Message: &workerv1.SessionRequest_Snapshot{Snapshot: snapshot}}); err != nil {
			return err
		}
	}
	return nil
}
