package simulated

import (
	"testing"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure/wire"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// The workers report together what the plan says, and each no more than is due.
func TestStepsReportThePlan(t *testing.T) {
	start := time.Now()
	var due int64
	for worker := range int32(2) {
		a := &workerv1.Assignment{Worker: worker, Requests: []*workerv1.Request{{}}, Steps: []*workerv1.Step{{
			Index: 3, Total: 5, Share: &workerv1.Share{Count: int64(3 - worker)},
			Load: &workerv1.Step_PacedUsers{PacedUsers: &workerv1.PacedUsers{TotalRateMicros: 5e6, DurationNanos: 10e9}},
		}}}
		s, err := newStep(a, &workerv1.StartStep{Step: 3, StartUnixNanos: start.UnixNano()})
		must.Succeed(t, err)
		s.began = start
		half, err := s.snapshot(start.Add(5 * time.Second))
		if err != nil || half.GetFinal() || half.GetMeasurement().GetDue() != s.total/2 {
			t.Errorf("after half of it: %v, %v", half, err)
		}
		whole, err := s.snapshot(start.Add(11 * time.Second))
		if err != nil || !whole.GetFinal() || whole.GetSequence() != 2 {
			t.Errorf("after all of it: %v, %v", whole, err)
		}
		if _, err := wire.Read(whole.GetMeasurement(), 1); err != nil {
			t.Errorf("the operator would refuse it: %v", err)
		}
		due += whole.GetMeasurement().GetDue()
	}
	if due != 50 {
		t.Errorf("%d were due, want 50", due)
	}
	if _, err := newStep(&workerv1.Assignment{}, &workerv1.StartStep{}); err == nil {
		t.Error("a step that was not assigned begins")
	}
}
