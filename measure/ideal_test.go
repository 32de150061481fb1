package measure

import (
	"math"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// Where no ideal times were recorded, the measured ones stand for them, on either side of a
// merge and in any order.
func TestIdealTimesAreTheMeasuredOnesWhereNoneAreRecorded(t *testing.T) {
	const ms = time.Millisecond
	plain := func() Request {
		r := NewRequest()
		r.Response.Record(10 * ms)
		r.OnTime = []int64{1}
		return r
	}
	delayed := func() Request {
		r := NewRequest()
		r.Response.Record(50 * ms)
		r.Ideal = NewHistogram()
		r.Ideal.Record(20 * ms)
		r.OnTime, r.IdealOnTime = []int64{0}, []int64{1}
		return r
	}
	for name, parts := range map[string][]Request{
		"plain first":   {plain(), delayed()},
		"delayed first": {delayed(), plain()},
	} {
		sum := NewRequest()
		for i := range parts {
			must.Succeed(t, sum.Merge(&parts[i]))
		}
		got := [4]int64{sum.Ideally().Count(), int64(sum.Ideally().Max() / ms), int64(sum.Response.Max() / ms), sum.OnTimeIdeally()[0]}
		if want := [4]int64{2, 20, 50, 2}; got != want {
			t.Errorf("%s: count, longest ideal, longest measured, on time: %v, want %v", name, got, want)
		}
	}
	untouched := plain()
	if sum := plain(); sum.Merge(&untouched) != nil || sum.Ideal != nil || sum.IdealOnTime != nil {
		t.Error("a merge of requests without ideal times has some")
	}
}

func TestTimelinesAddUpSlotBySlot(t *testing.T) {
	a, b := &Measurement{}, &Measurement{Timeline: &Timeline{}}
	b.Timeline.Outstanding[3], b.Timeline.Answered[199] = 2, 5
	b.Timeline.Unsent[3] = 1
	for range 2 {
		must.Succeed(t, a.Merge(b))
	}
	if a.Timeline.Outstanding[3] != 4 || a.Timeline.Answered[199] != 10 || a.Timeline.Unsent[3] != 2 || a.Timeline.InFlight(3) != 2 || b.Timeline.Outstanding[3] != 2 {
		t.Errorf("merged %v, of %v", a.Timeline, b.Timeline)
	}
}

// What is known of some workers only would be taken for the course of all.
func TestTimelineIsThatOfAllWorkersOrNone(t *testing.T) {
	with, without := NewMeasurement(2), NewMeasurement(2)
	with.Window, without.Window, with.Timeline = time.Second, time.Second, &Timeline{}
	begun, due := NewMeasurement(2), NewMeasurement(2)
	begun.LastStart, due.Due = time.Unix(1, 0), 1
	for name, workers := range map[string][]*Measurement{
		"the first lacks it": {without, with, with}, "another": {with, without, with}, "the last": {with, with, without},
		"one has begun": {with, begun}, "one has requests that are due": {with, due},
	} {
		if sum := sumOf(t, workers...); sum.Timeline != nil {
			t.Errorf("%s: the sum has one", name)
		}
	}
	if sum := sumOf(t, with, NewMeasurement(2), with); sum.Timeline == nil {
		t.Error("a worker that has measured nothing takes that of the others away")
	}
}

func TestDisplacementIsAtLeastTenHundredthsOfASecond(t *testing.T) {
	for window, want := range map[time.Duration]time.Duration{
		time.Second: 100 * time.Millisecond, 10 * time.Second: 100 * time.Millisecond, time.Minute: 600 * time.Millisecond,
	} {
		if got := Displacement(window); got != want {
			t.Errorf("of a window of %v: %v, want %v", window, got, want)
		}
	}
}

func TestDropIdealLeavesTheMeasuredTimes(t *testing.T) {
	s := NewMeasurement(2)
	s.Journeys = NewJourneys(1)
	s.Journeys[0].Complete(time.Second, time.Millisecond)
	r := &s.Requests[0]
	r.Response.Record(time.Second)
	r.Ideal = NewHistogram()
	r.Ideal.Record(time.Millisecond)
	r.Failed.Record(time.Second, time.Second, time.Millisecond)
	r.OnTime, r.IdealOnTime = []int64{0}, []int64{1}
	r.Streams = NewStreams()
	r.Streams.Record(MeanGap, time.Second, time.Millisecond)
	s.DropIdeal()
	if r.Ideally() != r.Response || r.Streams.Ideally(MeanGap) != r.Streams.Times[MeanGap] || r.Failed.Ideally() != r.Failed.Response || s.Journeys[0].Ideally() != s.Journeys[0].Time || r.OnTimeIdeally()[0] != 0 {
		t.Errorf("ideal times are left: %+v", s)
	}
}

func TestTimesOfUsersDoNotOverflow(t *testing.T) {
	s, o := &Measurement{}, &Measurement{UserTime: math.MaxInt64, Waited: math.MaxInt64, HeldUp: 1}
	for range 2 {
		must.Succeed(t, s.Merge(o))
	}
	if s.UserTime != math.MaxInt64 || s.Waited != math.MaxInt64 || s.HeldUp != 2 {
		t.Errorf("merged %d, %d and %d", s.UserTime, s.Waited, s.HeldUp)
	}
}
