package control_test

import (
	"slices"
	"testing"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/control"
)

func TestOneWorkerReadsTheAudits(t *testing.T) {
	for worker, want := range []int32{0, 7, 0} {
		d := control.Directive{}
		if got := d.AuditRound(int32(worker)); got != 0 {
			t.Errorf("without a reading, worker %d reads round %d", worker, got)
		}
		d.Read = &control.Read{Round: 7, Worker: 1}
		if got := d.AuditRound(int32(worker)); got != want {
			t.Errorf("worker %d reads round %d, want %d", worker, got, want)
		}
	}
}

func TestStepsAreReachedOnceStartedOrPast(t *testing.T) {
	for name, tc := range map[string]struct {
		directive control.Directive
		active    int32
		reached   []int32
	}{
		"before the first":        {control.Directive{}, control.NoStep, nil},
		"between two":             {control.Directive{Acknowledged: 2, Start: &control.Start{Step: 1}}, control.NoStep, []int32{0, 1}},
		"while one runs":          {control.Directive{Acknowledged: 2, Start: &control.Start{Step: 2}}, 2, []int32{0, 1, 2}},
		"none was started":        {control.Directive{Acknowledged: 2}, control.NoStep, []int32{0, 1}},
		"when the run is over":    {control.Directive{Finish: true}, control.NoStep, []int32{0, 1, 2, 3}},
		"when it began elsewhere": {control.Directive{Start: &control.Start{Step: 2}}, 2, []int32{0, 1, 2}},
	} {
		var reached []int32
		for step := range int32(4) {
			if tc.directive.HasReached(step) {
				reached = append(reached, step)
			}
		}
		if active := tc.directive.ActiveStep(); active != tc.active || !slices.Equal(reached, tc.reached) {
			t.Errorf("%s: step %d is active and %v are reached, want %d and %v", name, active, reached, tc.active, tc.reached)
		}
	}
}

func TestAnAssignmentWithoutAnEndIncludesLaterSteps(t *testing.T) {
	steps, largest := []*workerv1.Step{{Index: 1}, {Index: 3}}, &workerv1.Step{}
	d := control.Directive{Assignments: []*workerv1.Assignment{{Steps: steps}, {Steps: steps, Largest: largest}, {Steps: steps[:1], Largest: largest}, {Largest: largest}}}
	for worker, want := range [][]int32{{1, 3}, {1, 3, 4, 5}, {1, 2, 3, 4, 5}, nil, nil} {
		var included []int32
		for step := range int32(6) {
			if d.Includes(int32(worker), step) {
				included = append(included, step)
			}
		}
		if !slices.Equal(included, want) {
			t.Errorf("worker %d has steps %v, want %v", worker, included, want)
		}
	}
	for n, want := range []int{2, 1, 0, 0} {
		if got := d.StepsAfter(0, n); len(got) != want || want > 0 && got[want-1] != steps[1] {
			t.Errorf("after %d steps there are %v", n, got)
		}
	}
	if got := d.StepsAfter(4, 0); got != nil {
		t.Errorf("a worker without an assignment has steps %v", got)
	}
}
