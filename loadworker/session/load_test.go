package session

import (
	"strings"
	"testing"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

// The protocol refuses a whole snapshot for one client's name that is too long,
// so the worker must not keep a ledger for it.
func TestLongClientNamesDoNotSpoilTheSnapshot(t *testing.T) {
	server := workertest.NewTarget(t, nil)
	a := workertest.Assignment(server.URL, workertest.Burst(0, 2, 2))
	a.ClientHeader = "X-Client"
	a.Requests[0].Headers = []*workerv1.Header{{Name: "X-Client", Value: strings.Repeat("x", measure.MaxClientBytes-1) + "${user}0"}}
	c, w, s := readyWorker(t, a)
	s.send(t, start(0, 0))
	if _, got := c.waitForFinal(t, 0); got.Clients.Untracked != 4 || got.Clients.Len() != 0 {
		t.Errorf("%d untracked, %d clients; want 4 and none", got.Clients.Untracked, got.Clients.Len())
	}
	w.finish(t, s)
}

func TestFinishInMidStepEndsAtOnce(t *testing.T) {
	server := workertest.NewTarget(t, nil)
	c, w, s := readyWorker(t, workertest.Assignment(server.URL, workertest.ClosedUsers(2, time.Hour)))
	s.send(t, start(0, 0))
	c.waitForSnapshot(t, "requests", func(s *measure.Measurement) bool { return s.Requests[0].Sent > 0 })
	w.finish(t, s)
}

func TestShutdownWithoutAStepEndsAtOnce(t *testing.T) {
	c := startFakeCoordinator(t)
	w := startWorker(t, c)
	c.waitForHello(t)
	w.cancel()
	w.waitForEnd(t, ErrUnfinished)
}
