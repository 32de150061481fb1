package session

import (
	"errors"
	"testing"

	"google.golang.org/protobuf/proto"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

// A worker runs the steps that are added to its assignment, by a message or, after a new
// session, by the assignment that has come to hold them. What it has is not added again.
func TestAddedStepsRun(t *testing.T) {
	server := workertest.NewTarget(t, nil)
	whole := workertest.Assignment(server.URL, workertest.Burst(0, 1, 2), workertest.Burst(2, 1, 3), workertest.Burst(4, 1, 4))
	first := proto.CloneOf(whole)
	first.Steps = first.Steps[:1]
	c, w, s := readyWorker(t, first)
	sends := func(step int32, want int64) {
		t.Helper()
		s.send(t, start(step, 0))
		if _, got := c.waitForFinal(t, step); got.Due != want {
			t.Errorf("%d requests were due in step %d, want %d", got.Due, step, want)
		}
	}
	sends(0, 2)
	added := &workerv1.SessionResponse{Message: &workerv1.SessionResponse_AddSteps{AddSteps: &workerv1.AddSteps{Steps: whole.Steps[:2]}}}
	s.send(t, added)
	s.send(t, added)
	sends(2, 3)
	s.hangUp <- errors.New("away for a moment")
	s = c.waitForHello(t)
	s.send(t, assign(whole))
	sends(4, 4)
	w.finish(t, s)
}
