package exchange_test

import (
	"slices"
	"testing"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
)

func TestOneWorkerReadsTheAudits(t *testing.T) {
	for worker, want := range []int32{0, 7, 0} {
		d := exchange.Directive{}
		if got := d.AuditRound(int32(worker)); got != 0 {
			t.Errorf("without a reading, worker %d reads round %d", worker, got)
		}
		d.Read = &exchange.Read{Round: 7, Worker: 1}
		if got := d.AuditRound(int32(worker)); got != want {
			t.Errorf("worker %d reads round %d, want %d", worker, got, want)
		}
	}
}

func TestStepsAreReachedOnceStartedOrPast(t *testing.T) {
	for name, tc := range map[string]struct {
		directive exchange.Directive
		active    int32
		reached   []int32
	}{
		"before the first":        {exchange.Directive{}, exchange.NoStep, nil},
		"between two":             {exchange.Directive{Acknowledged: 2, Start: &exchange.Start{Step: 1}}, exchange.NoStep, []int32{0, 1}},
		"while one runs":          {exchange.Directive{Acknowledged: 2, Start: &exchange.Start{Step: 2}}, 2, []int32{0, 1, 2}},
		"none was started":        {exchange.Directive{Acknowledged: 2}, exchange.NoStep, []int32{0, 1}},
		"when the run is over":    {exchange.Directive{Finish: true}, exchange.NoStep, []int32{0, 1, 2, 3}},
		"when it began elsewhere": {exchange.Directive{Start: &exchange.Start{Step: 2}}, 2, []int32{0, 1, 2}},
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
	d := exchange.Directive{Assignments: []*workerv1.Assignment{{Steps: steps}, {Steps: steps, Largest: largest}, {Steps: steps[:1], Largest: largest}, {Largest: largest}}}
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
