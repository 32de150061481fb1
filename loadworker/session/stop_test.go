package session

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/assemble"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

// waitForFinalBut waits for the final snapshot of a step; one of the other step fails
// the test.
func (c *fakeCoordinator) waitForFinalBut(t *testing.T, step, other int32) *measure.Measurement {
	t.Helper()
	return decode(t, c.waitFor(t, "final snapshot", func(m *workerv1.SessionRequest) bool {
		if m.GetSnapshot().GetFinal() && m.GetSnapshot().GetStep() == other {
			t.Errorf("the worker sends a final snapshot of step %d", other)
		}
		return m.GetSnapshot().GetFinal() && m.GetSnapshot().GetStep() == step
	}).message.GetSnapshot())
}

func TestStopOfAnotherStepDoesNotCutTheRunningOne(t *testing.T) {
	server := workertest.NewTarget(t, nil)
	c, w, s := readyWorker(t, workertest.Assignment(server.URL, workertest.ClosedUsers(1, time.Hour), workertest.Burst(7, 1, 1)))
	s.send(t, start(0, 0))
	c.waitForSnapshot(t, "requests", func(s *measure.Measurement) bool { return s.Requests[0].Sent > 0 })
	s.send(t, stop(7))
	sent := server.Served()
	c.waitForSnapshot(t, "that it goes on", func(s *measure.Measurement) bool { return s.Requests[0].Sent > sent+10 })
	s.send(t, stop(0))
	c.waitForFinalBut(t, 0, 7)
	w.finish(t, s)
}

// A stop that comes twice, or late, is answered with the step's final snapshot until
// that is stored: an empty one would replace the result.
func TestStopOfAnEndedStepSendsItsFinalAgain(t *testing.T) {
	server := workertest.NewTarget(t, nil)
	c, w, s := readyWorker(t, workertest.Assignment(server.URL, workertest.Burst(0, 2, 1), workertest.Burst(1, 1, 1)))
	s.send(t, start(0, 0))
	c.waitForFinal(t, 0)
	s.send(t, stop(0))
	if _, got := c.waitForFinal(t, 0); got.Requests[0].Sent != 2 {
		t.Errorf("the final snapshot that is sent again says that the step sent %d, want 2", got.Requests[0].Sent)
	}
	s.send(t, acknowledge())
	s.send(t, stop(0))
	s.send(t, start(1, 0))
	if got := c.waitForFinalBut(t, 1, 0); got.Requests[0].Sent != 1 {
		t.Errorf("step 1 sent %d, want 1", got.Requests[0].Sent)
	}
	w.finish(t, s)
}

// logWatcher is a log that closes a channel at the first line with a text, and holds
// the worker there until another is closed; nil: it does not.
type logWatcher struct {
	text       string
	came, held chan struct{}
}

func (l *logWatcher) Write(p []byte) (int, error) {
	if strings.Contains(string(p), l.text) {
		close(l.came)
		l.text = "\x00" // not in a log
		if l.held != nil {
			<-l.held
		}
	}
	return len(p), nil
}

func TestShutdownStartsNoStep(t *testing.T) {
	server := workertest.NewTarget(t, nil)
	shutdown := &logWatcher{text: "must end", came: make(chan struct{})}
	a := workertest.Assignment(server.URL, workertest.Burst(0, 2, 1), workertest.Burst(1, 5, 1))
	c, w, s := readyWorker(t, a, func(c *Config) { c.Log = slog.New(slog.NewTextHandler(shutdown, nil)) })
	s.send(t, start(0, 0))
	c.waitForFinal(t, 0)
	w.cancel()
	<-shutdown.came
	s.send(t, start(1, 0))
	s.send(t, acknowledge())
	w.waitForEnd(t, ErrUnfinished)
	if n := server.Served(); n != 2 {
		t.Errorf("the server served %d requests, want the 2 of step 0", n)
	}
}

func TestAcknowledgeDropsStoredFinals(t *testing.T) {
	w := &worker{finals: map[int32]*workerv1.Snapshot{0: {}, 1: {}, 3: {}}}
	w.acknowledge(1)
	if len(w.finals) != 2 || w.finals[0] != nil {
		t.Errorf("of the steps before 1 there is %v, want those from 1 on", w.finals)
	}
}

// A step starts only by the clock of the coordinator of the present stream, and only
// if it was not stopped meanwhile.
func TestStartWaitsForTheClockAndTheAssembly(t *testing.T) {
	w := &worker{
		log: slog.New(slog.DiscardHandler), clock: newClock(time.Now()), assembly: &assemble.Assembly{},
		pendingStart: &workerv1.StartStep{Step: 3}, finals: map[int32]*workerv1.Snapshot{},
	}
	if w.startPending() || w.pendingStart == nil {
		t.Error("a step was started, or forgotten, before the clock is known")
	}
	w.assembly, w.probesAnswered = nil, 1
	if w.startPending() || w.pendingStart == nil {
		t.Error("a step was started, or forgotten, without an assembly")
	}
	w.stopStep(4)
	if w.pendingStart == nil {
		t.Error("the start of step 3 was forgotten at the stop of step 4")
	}
	w.pendingStart, w.endedBefore = &workerv1.StartStep{Step: 5}, 5
	if w.stopStep(5); w.pendingStart != nil || w.finals[5] == nil {
		t.Errorf("a stopped step is to be started, or has no result: %v", w.finals)
	}
}
