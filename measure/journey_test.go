package measure

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func TestJourneysAddUp(t *testing.T) {
	plan := func(n int) *Measurement {
		m := NewMeasurement(1)
		m.Journeys = NewJourneys(n)
		return m
	}
	sum, one := plan(2), plan(2)
	one.Journeys[1].Started, one.Journeys[1].Failed = 7, 2
	one.Journeys[1].Complete(time.Second, time.Second)
	one.Journeys[1].Unfinished.Record(time.Minute)
	for range 2 {
		must.Succeed(t, sum.mergeJourneys(one))
	}
	j := &sum.Journeys[1]
	if j.Started != 14 || j.Completed != 2 || j.Failed != 4 || j.UnderWay() != 8 || j.Time.Count() != 2 || j.Unfinished.Count() != 2 {
		t.Errorf("twice 7 with 1 completed and 2 failed are %+v, %d under way", *j, j.UnderWay())
	}
	if sum.Journeys[0].Started != 0 {
		t.Errorf("the other journey has %d", sum.Journeys[0].Started)
	}
	if err := sum.mergeJourneys(plan(1)); err == nil || !strings.Contains(err.Error(), "1 journeys into 2") {
		t.Errorf("a measurement of another plan is merged: %v", err)
	}
}

// Completed are the outcomes with a whole response behind them, and no others.
func TestPointsCountWholeResponses(t *testing.T) {
	var p Point
	want := int64(0)
	for o := range p.Outcomes {
		p.Outcomes[o] = 1 << o
		if Outcome(o).Responded() {
			want += 1 << o
		}
	}
	if got := p.Completed(); got != want || want == 0 {
		t.Errorf("%b of the outcomes are completed, want %b", got, want)
	}
}

func TestJourneysFailInSteps(t *testing.T) {
	a, b := NewJourneys(1)[0], NewJourneys(1)[0]
	a.Fail(0)
	b.Fail(2)
	b.Fail(2)
	for range 2 {
		must.Succeed(t, a.Merge(&b))
	}
	if a.Failed != 5 || !slices.Equal(a.FailedIn, []int64{1, 0, 4}) || !slices.Equal(b.FailedIn, []int64{0, 0, 2}) {
		t.Errorf("%d failed, in steps %v; what was added has %v", a.Failed, a.FailedIn, b.FailedIn)
	}
}

// The sums, and the reason that stands for all, are the same in any order.
func TestWhatConditionsDidIsAddedInAnyOrder(t *testing.T) {
	parts := make([]func(*Journey), 3)
	parts[0] = func(j *Journey) { j.FailByCondition(1, "until never held in 3 tries"); j.LeaveOut(2) }
	parts[1] = func(j *Journey) { j.FailByCondition(0, "if: b"); j.FailByCondition(1, "until: a") }
	parts[2] = func(j *Journey) { j.LeaveOut(0); j.LeaveOut(2); j.LeaveOut(2) }
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}} {
		sum := NewJourneys(1)[0]
		for _, i := range order {
			one := NewJourneys(1)[0]
			parts[i](&one)
			must.Succeed(t, sum.Merge(&one))
		}
		if !slices.Equal(sum.ByCondition, []int64{1, 2}) || !slices.Equal(sum.LeftOut, []int64{1, 0, 3}) || !slices.Equal(sum.Because, []string{"if: b", "until never held in 3 tries"}) {
			t.Errorf("%v: %v by conditions, because of %q, left out %v", order, sum.ByCondition, sum.Because, sum.LeftOut)
		}
	}
}
