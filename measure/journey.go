package measure

import (
	"errors"
	"fmt"
	"time"
)

// MaxJourneys is the most journeys that a plan may have.
const MaxJourneys = 16

// MaxJourneySteps is the most steps that a journey may have.
const MaxJourneySteps = 32

// Journey is what became of a journey of the plan. Those that are begun, and neither
// completed nor failed, are under way, or were when the step ended.
type Journey struct {
	// Due is how many should have been started: by sessions that come at a rate, which may find no place;
	// of other loads, as many as were.
	Due                        int64
	Started, Completed, Failed int64
	// FailedIn is how many of Failed ended in each step of the journey, by its index; steps at the
	// end may be missing, and all of them if it is not known.
	FailedIn []int64
	// ByCondition is how many of FailedIn ended by a condition, and Because why one of them did.
	ByCondition []int64
	Because     []string
	// LeftOut is how often each step was left out, by its index.
	LeftOut []int64
	// Time is how long those that were completed took.
	Time *Histogram
	// Ideal is how long the same would have taken with a perfect generator. nil: as Time.
	Ideal *Histogram
	// Excused is how many of Failed exceeded their time limit, and would have kept it with a
	// perfect generator, or ended by a timeout that is excused.
	Excused int64
	// Unfinished is how long those that were under way at the end of the step had taken.
	// It is empty before.
	Unfinished *Histogram
}

// NewJourneys returns so many empty ones.
func NewJourneys(n int) []Journey {
	all := make([]Journey, n)
	for i := range all {
		all[i] = Journey{Time: NewHistogram(), Unfinished: NewHistogram()}
	}
	return all
}

// Complete counts one that was completed.
func (j *Journey) Complete(took, ideal time.Duration) {
	j.Completed++
	j.Time.Record(took)
	if j.Ideal == nil {
		j.Ideal = NewHistogram()
	}
	j.Ideal.Record(ideal)
}

// Fail counts one that failed in a step of the journey.
func (j *Journey) Fail(step int) {
	j.Failed++
	j.FailedIn = atLeast(j.FailedIn, step+1)
	j.FailedIn[step]++
}

// FailByCondition says of one that failed in a step that a condition ended it, and why.
func (j *Journey) FailByCondition(step int, because string) {
	j.ByCondition, j.Because = atLeast(j.ByCondition, step+1), atLeast(j.Because, step+1)
	j.ByCondition[step]++
	j.Because[step] = oneOf(j.Because[step], because)
}

// oneOf is one of two reasons, whichever is given first.
func oneOf(a, b string) string {
	if a == "" {
		return b
	}
	if b == "" {
		return a
	}
	return min(a, b)
}

// LeaveOut counts a step that was left out.
func (j *Journey) LeaveOut(step int) {
	j.LeftOut = atLeast(j.LeftOut, step+1)
	j.LeftOut[step]++
}

// atLeast is a list, with as many more zero values as it takes for n.
func atLeast[T any](list []T, n int) []T {
	return append(list, make([]T, max(0, n-len(list)))...)
}

// sum is the sum of two lists of counts, in the memory of the first.
func sum(a, b []int64) []int64 {
	a = atLeast(a, len(b))
	for i, n := range b {
		a[i] += n
	}
	return a
}

// UnderWay is how many are neither completed nor failed.
func (j *Journey) UnderWay() int64 { return j.Started - j.Completed - j.Failed }

// Merge adds o to j, which may have no histograms if o has none.
func (j *Journey) Merge(o *Journey) error {
	j.Due += o.Due
	j.Started += o.Started
	j.Completed += o.Completed
	j.Failed += o.Failed
	j.Excused += o.Excused
	j.FailedIn, j.ByCondition, j.LeftOut = sum(j.FailedIn, o.FailedIn), sum(j.ByCondition, o.ByCondition), sum(j.LeftOut, o.LeftOut)
	j.Because = atLeast(j.Because, len(o.Because))
	for step, because := range o.Because {
		j.Because[step] = oneOf(j.Because[step], because)
	}
	return errors.Join(mergeIdeal(&j.Ideal, j.Time, o.Ideal, o.Time), j.Time.Merge(o.Time), j.Unfinished.Merge(o.Unfinished))
}

// mergeJourneys adds those of o, which are of the same plan.
func (s *Measurement) mergeJourneys(o *Measurement) error {
	if len(s.Journeys) != len(o.Journeys) {
		return fmt.Errorf("merge measurements: %d journeys into %d", len(o.Journeys), len(s.Journeys))
	}
	for i := range s.Journeys {
		if err := s.Journeys[i].Merge(&o.Journeys[i]); err != nil {
			return fmt.Errorf("journey %d: %w", i, err)
		}
	}
	return nil
}
