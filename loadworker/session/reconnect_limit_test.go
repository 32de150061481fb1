package session

import (
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

// A worker waits for an absent coordinator as long as the plan can need it.
func TestPatienceIsOfThePlan(t *testing.T) {
	var patience atomic.Int64
	w := &worker{config: Config{GiveUp: time.Minute}, patience: &patience, log: slog.New(slog.DiscardHandler)}
	w.plan = []*workerv1.Step{
		{Index: 0, RemainingNanos: int64(10 * time.Hour)},
		{Index: 2, RemainingNanos: int64(time.Hour)},
	}
	for index, want := range map[int32]time.Duration{0: 10*time.Hour + time.Minute, 1: time.Hour + time.Minute, 2: time.Hour + time.Minute} {
		w.waitAsLongAs(index)
		if got := time.Duration(patience.Load()); got != want {
			t.Errorf("in step %d it waits for %v, want %v", index, got, want)
		}
	}
}

// A worker whose coordinator is gone measures on while the plan lasts; what it says in
// the end names the results that it held.
func TestWorkerThatGivesUpSaysWhatItHeld(t *testing.T) {
	server := workertest.NewTarget(t, nil)
	a := workertest.Assignment(server.URL, workertest.Burst(0, 2, 2), workertest.ClosedUsers(1, time.Hour))
	a.Steps[0].RemainingNanos = int64(time.Hour)
	a.Steps[1].Index, a.Steps[1].RemainingNanos = 2, int64(time.Second)
	c, w, s := readyWorker(t, a, func(c *Config) { c.GiveUp = time.Nanosecond })
	s.send(t, start(0, 0))
	c.waitForFinal(t, 0)
	s.hangUp <- errors.New("away for a moment")
	s = c.waitForHello(t) // an hour is left
	s.send(t, start(2, 0))
	c.waitForSnapshot(t, "requests", func(m *measure.Measurement) bool { return m.Requests[0].Sent > 0 })
	c.mu.Lock()
	c.token = "refused from now on"
	c.mu.Unlock()
	s.hangUp <- errors.New("away for good")
	if err := w.end(t); err == nil || !strings.Contains(err.Error(), "was unreachable for") || !strings.Contains(err.Error(), "; it held the results of step 0 (due 4, sent 4), step 2 (due ") {
		t.Errorf("ended with %v, want that it held the results of steps 0 and 2", err)
	}
}
