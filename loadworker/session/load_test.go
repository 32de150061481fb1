package session

import (
	"strings"
	"testing"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/measure/wire"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

// Every kind of load runs through the whole worker, and its result is the server's
// count.
func TestEveryLoadIsSentAndCounted(t *testing.T) {
	share := &workerv1.Share{First: 1, Stride: 2, Count: 5}
	loads := map[string]*workerv1.Step{
		"paced":    {Load: &workerv1.Step_PacedUsers{PacedUsers: &workerv1.PacedUsers{TotalRateMicros: 100e6, DurationNanos: int64(3 * time.Second)}}},
		"closed":   {Load: &workerv1.Step_ClosedUsers{ClosedUsers: &workerv1.ClosedUsers{DurationNanos: int64(3 * time.Second)}}},
		"burst":    {Load: &workerv1.Step_Burst{Burst: &workerv1.Burst{RequestsPerUser: 3, LimitNanos: int64(time.Minute)}}},
		"arrivals": {Load: &workerv1.Step_Arrivals{Arrivals: &workerv1.Arrivals{TotalRateMicros: 100e6, DurationNanos: int64(3 * time.Second)}}},
	}
	for name, step := range loads {
		t.Run(name, func(t *testing.T) {
			step.Share, step.Total = share, 10
			// A busy machine may miss a whole window.
			for windows := 1; sentAndCounted(t, step) == 0; windows++ {
				if windows == 5 {
					t.Fatal("nothing was sent in five windows")
				}
			}
		})
	}
}

// sentAndCounted runs a step through a worker, and returns how many requests were sent.
func sentAndCounted(t *testing.T, step *workerv1.Step) int64 {
	t.Helper()
	server := workertest.NewTarget(t, nil)
	c, w, s := readyWorker(t, workertest.Assignment(server.URL, step))
	s.send(t, start(0, 50*time.Millisecond))
	final, got := c.waitForFinal(t, 0)
	q := got.Requests[0]
	window := time.Duration(step.GetPacedUsers().GetDurationNanos() + step.GetClosedUsers().GetDurationNanos() +
		step.GetBurst().GetLimitNanos() + step.GetArrivals().GetDurationNanos())
	if series, err := wire.ReadSeries(final.GetMeasurement(), window); err != nil || series == nil {
		t.Errorf("the series of the step: %v, %v", series, err)
	}
	if q.Sent != server.Served() || q.Outcomes[measure.Success] != q.Sent || got.Due != q.Sent+got.Unsent {
		t.Errorf("due %d, sent %d, unsent %d; the server served %d", got.Due, q.Sent, got.Unsent, server.Served())
	}
	s.send(t, acknowledge())
	w.finish(t, s)
	return q.Sent
}

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

func TestAssignmentOfAnotherWorkerIsIgnored(t *testing.T) {
	server := workertest.NewTarget(t, nil)
	c := startFakeCoordinator(t)
	w := startWorker(t, c)
	wrong := workertest.Assignment("http://127.0.0.1:1", workertest.Burst(0, 1, 1))
	wrong.Worker = 5
	s := c.waitForHello(t)
	s.send(t, assign(wrong))
	s.send(t, assign(workertest.Assignment(server.URL, workertest.Burst(0, 1, 1))))
	s.send(t, assign(workertest.Assignment("http://127.0.0.1:1", workertest.Burst(0, 9, 9)))) // a second one never counts
	c.waitUntilReady(t)
	s.send(t, start(7, 0)) // no such step
	s.send(t, start(0, 0))
	if _, got := c.waitForFinal(t, 0); got.Requests[0].Sent != 1 {
		t.Errorf("sent %d, want 1", got.Requests[0].Sent)
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
