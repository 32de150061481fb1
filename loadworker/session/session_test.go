package session

import (
	"errors"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/same"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

func TestRunOfTwoSteps(t *testing.T) {
	server := workertest.NewTarget(t, nil)
	c, w, s := readyWorker(t, workertest.Assignment(server.URL, workertest.Burst(0, 10, 5), workertest.Burst(2, 4, 3)))
	if n := s.probes.Load(); n < firstProbes {
		t.Errorf("the worker is ready after %d probes of the clock, want %d", n, firstProbes)
	}

	begin := time.Now().Add(skew)
	s.send(t, start(0, 50*time.Millisecond))
	_, got := c.waitForFinal(t, 0)
	if r := got.Requests[0]; r.Sent != 50 || r.Outcomes[measure.Success] != 50 || got.Due != 50 || got.Unsent != 0 {
		t.Errorf("step 0: %+v, due %d, unsent %d; want 50 successes", r, got.Due, got.Unsent)
	}
	if n := server.Served(); n != 50 {
		t.Errorf("the server served %d requests, want 50", n)
	}
	if got.ConnectionsOpened != 10 {
		t.Errorf("%d connections opened, want one for each of 10 users", got.ConnectionsOpened)
	}
	if got.FirstStart.Before(begin) || got.FirstStart.After(time.Now().Add(skew)) {
		t.Errorf("began at %v, want an instant of the coordinator's clock since %v", got.FirstStart, begin)
	}

	if got.ClockError <= 0 || got.ClockError > skew {
		t.Errorf("the clock may be wrong by %v, want a part of a round trip", got.ClockError)
	}

	s.send(t, acknowledge())
	begin = time.Now().Add(skew)
	s.send(t, start(2, 0))
	if _, got := c.waitForFinal(t, 2); got.FirstStart.Before(begin.Add(-got.ClockError)) {
		t.Errorf("step 2 began at %v, which is before it was started at %v", got.FirstStart, begin)
	} else if got.Requests[0].Sent != 12 {
		t.Errorf("step 2: sent %d, want 12", got.Requests[0].Sent)
	} else if got.ConnectionsOpened != 0 {
		t.Errorf("step 2 opened %d connections, want those of step 0 to be used", got.ConnectionsOpened)
	}
	w.finish(t, s)
	if n := server.Served(); n != 62 {
		t.Errorf("the server served %d requests, want 62", n)
	}
}

func TestHelloIsTheFirstMessage(t *testing.T) {
	c := startFakeCoordinator(t)
	w := startWorker(t, c, func(c *Config) { c.Worker = 3 })
	got := c.waitFor(t, "anything", func(*workerv1.SessionRequest) bool { return true })
	want := &workerv1.SessionRequest{Message: &workerv1.SessionRequest_Hello{Hello: &workerv1.Hello{
		Run: "run-1", Worker: 3, Protocol: workerv1.ProtocolVersion, Version: "test",
	}}}
	same.As(t, "first message", want, got.message, protocmp.Transform())
	got.session.send(t, finish())
	w.waitForEnd(t, nil)
}

func TestUnacknowledgedFinalIsSentAgain(t *testing.T) {
	server := workertest.NewTarget(t, nil)
	c, w, s := readyWorker(t, workertest.Assignment(server.URL, workertest.Burst(0, 2, 2), workertest.Burst(1, 1, 1)))
	s.send(t, start(0, 0))
	before, _ := c.waitForFinal(t, 0)
	s.hangUp <- errors.New("lost before it was stored")
	s = c.waitForHello(t)
	after, _ := c.waitForFinal(t, 0)
	if diff := cmp.Diff(before, after, protocmp.Transform()); diff != "" {
		t.Errorf("the final snapshot has changed (-before +after):\n%s", diff)
	}
	s.send(t, acknowledge())
	w.finish(t, s)
}

func TestStopOfAnUnstartedStepGivesAnEmptyFinal(t *testing.T) {
	server := workertest.NewTarget(t, nil)
	c, w, s := readyWorker(t, workertest.Assignment(server.URL, workertest.Burst(0, 1, 1), workertest.Burst(1, 1, 1)))
	s.send(t, stop(0))
	if _, got := c.waitForFinal(t, 0); got.Due != 0 || len(got.Requests) != 1 {
		t.Errorf("got %+v, want an empty measurement", got)
	}
	s.send(t, start(0, 0)) // too late
	s.send(t, start(1, 0))
	if _, got := c.waitForFinal(t, 1); got.Requests[0].Sent != 1 {
		t.Errorf("step 1 sent %d, want 1", got.Requests[0].Sent)
	}
	w.finish(t, s)
	if n := server.Served(); n != 1 {
		t.Errorf("the server served %d, want 1: step 0 was stopped before it began", n)
	}
}

func TestShutdownSendsTheFinalSnapshot(t *testing.T) {
	server := workertest.NewTarget(t, nil)
	c, w, s := readyWorker(t, workertest.Assignment(server.URL, workertest.ClosedUsers(1, time.Hour)))
	s.send(t, start(0, 0))
	c.waitForSnapshot(t, "responses", func(s *measure.Measurement) bool { return s.Requests[0].Outcomes[measure.Success] > 0 })
	w.cancel()
	final, got := c.waitForFinal(t, 0)
	if !final.GetCut() {
		t.Error("the final snapshot does not say that the worker cut its step")
	}
	server.Serves(t, got.Requests[0].Sent) // the last may be on its way
	s.send(t, acknowledge())
	w.waitForEnd(t, ErrUnfinished)
}

// What a worker that must end has not sent is not due: the target did not refuse it.
func TestShutdownCutsABurstToWhatWasSent(t *testing.T) {
	server := workertest.NewTarget(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	c, w, s := readyWorker(t, workertest.Assignment(server.URL, workertest.Burst(0, 3, 10)))
	s.send(t, start(0, 0))
	c.waitForSnapshot(t, "3 requests in flight", func(s *measure.Measurement) bool { return s.Requests[0].Sent == 3 })
	w.cancel()
	final, got := c.waitForFinal(t, 0)
	if !final.GetCut() || got.Due != 3 || got.Unsent != 0 {
		t.Errorf("cut %t, due %d, unsent %d; want cut, with the 3 that were sent due of 30", final.GetCut(), got.Due, got.Unsent)
	}
	s.send(t, acknowledge())
	w.waitForEnd(t, ErrUnfinished)
}

// A worker that must end while a step ends that the coordinator has stopped did not
// cut that step.
func TestStopBeforeShutdownIsNoCutOfTheWorker(t *testing.T) {
	server := workertest.NewTarget(t, nil)
	stopped := &logWatcher{text: "step is cut", came: make(chan struct{}), held: make(chan struct{})}
	a := workertest.Assignment(server.URL, workertest.ClosedUsers(1, time.Hour))
	c, w, s := readyWorker(t, a, func(c *Config) { c.Log = slog.New(slog.NewTextHandler(stopped, nil)) })
	s.send(t, start(0, 0))
	c.waitForSnapshot(t, "requests", func(s *measure.Measurement) bool { return s.Requests[0].Sent > 0 })
	s.send(t, stop(0))
	<-stopped.came
	w.cancel()
	close(stopped.held)
	if final, _ := c.waitForFinal(t, 0); final.GetCut() {
		t.Error("the worker takes the coordinator's cut for its own")
	}
	s.send(t, acknowledge())
	w.waitForEnd(t, ErrUnfinished)
}
