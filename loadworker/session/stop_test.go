package session

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/assemble"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

// finalUnlike waits for the final snapshot of a step, and reports one of another.
func (c *coordinator) finalUnlike(t *testing.T, step, other int32) *measure.Measurement {
	t.Helper()
	return decode(t, c.hears(t, "final snapshot", func(m *workerv1.SessionRequest) bool {
		if m.GetSnapshot().GetFinal() && m.GetSnapshot().GetStep() == other {
			t.Errorf("the worker says what step %d came to", other)
		}
		return m.GetSnapshot().GetFinal() && m.GetSnapshot().GetStep() == step
	}).message.GetSnapshot())
}

func TestStopOfAnotherStepLeavesTheRunningOneAlone(t *testing.T) {
	server := workertest.NewTarget(t, func(http.ResponseWriter, *http.Request) { <-time.After(time.Millisecond) })
	c := startCoordinator(t)
	w := startWorker(t, c)
	s := c.hello(t)
	s.say(t, assign(workertest.Assignment(server.URL, workertest.ClosedUsers(1, time.Hour), workertest.Burst(7, 1, 1))))
	c.ready(t)
	s.say(t, start(0, 0))
	c.live(t, "requests", func(s *measure.Measurement) bool { return s.Requests[0].Sent > 0 })
	s.say(t, stop(7))
	sent := server.Served()
	c.live(t, "that it goes on", func(s *measure.Measurement) bool { return s.Requests[0].Sent > sent+10 })
	s.say(t, stop(0))
	c.finalUnlike(t, 0, 7)
	s.say(t, finish())
	w.ends(t, nil)
}

// A stop that is said twice, or late, is answered with what the step came to, until
// that is stored: then an empty result would take its place.
func TestStopOfAStepThatHasEnded(t *testing.T) {
	server := workertest.NewTarget(t, nil)
	c := startCoordinator(t)
	w := startWorker(t, c)
	s := c.hello(t)
	s.say(t, assign(workertest.Assignment(server.URL, workertest.Burst(0, 2, 1), workertest.Burst(1, 1, 1))))
	c.ready(t)
	s.say(t, start(0, 0))
	c.final(t, 0)
	s.say(t, stop(0))
	if _, got := c.final(t, 0); got.Requests[0].Sent != 2 {
		t.Errorf("said again, the step sent %d, want 2", got.Requests[0].Sent)
	}
	s.say(t, acknowledge())
	s.say(t, stop(0))
	s.say(t, start(1, 0))
	if got := c.finalUnlike(t, 1, 0); got.Requests[0].Sent != 1 {
		t.Errorf("step 1 sent %d, want 1", got.Requests[0].Sent)
	}
	s.say(t, finish())
	w.ends(t, nil)
}

// hint is a log that tells of a line with a text, once.
type hint struct {
	text string
	came chan struct{}
}

func (h *hint) Write(p []byte) (int, error) {
	if strings.Contains(string(p), h.text) {
		close(h.came)
		h.text = "\x00" // not in a log
	}
	return len(p), nil
}

func TestAWorkerThatLeavesBeginsNothing(t *testing.T) {
	server := workertest.NewTarget(t, nil)
	c := startCoordinator(t)
	leaves := &hint{text: "must end", came: make(chan struct{})}
	w := startWorker(t, c, func(c *Config) { c.Log = slog.New(slog.NewTextHandler(leaves, nil)) })
	s := c.hello(t)
	s.say(t, assign(workertest.Assignment(server.URL, workertest.Burst(0, 2, 1), workertest.Burst(1, 5, 1))))
	c.ready(t)
	s.say(t, start(0, 0))
	c.final(t, 0)
	w.cancel()
	select {
	case <-leaves.came:
	case <-time.After(workertest.Patience):
		t.Fatal("the worker does not leave")
	}
	s.say(t, start(1, 0))
	s.say(t, acknowledge())
	w.ends(t, ErrUnfinished)
	if n := server.Served(); n != 2 {
		t.Errorf("the server served %d requests, want the 2 of step 0", n)
	}
}

func TestAcknowledgeForgetsWhatIsStored(t *testing.T) {
	w := &worker{finals: map[int32]*workerv1.Snapshot{0: {}, 1: {}, 3: {}}}
	w.acknowledge(1)
	if len(w.finals) != 2 || w.finals[0] != nil {
		t.Errorf("of the steps before 1 there is %v, want those from 1 on", w.finals)
	}
}

// A step is started only by the clock of the coordinator that is there now, and
// only if it was not stopped meanwhile.
func TestAStartWaitsForTheTime(t *testing.T) {
	w := &worker{
		log: slog.New(slog.DiscardHandler), clock: newClock(time.Now()), assembly: &assemble.Assembly{},
		pendingStart: &workerv1.StartStep{Step: 3}, finals: map[int32]*workerv1.Snapshot{},
	}
	if w.startPending() || w.pendingStart == nil {
		t.Error("a step was started, or forgotten, before the time is known")
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
