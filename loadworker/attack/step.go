package attack

import (
	"errors"
	"fmt"
	"time"

	"github.com/loadtest-dev/loadtest-operator/pace"
)

// StepShare is one worker's share of a step.
type StepShare struct {
	// Index is the step's number in the run.
	Index int32
	// Share selects this worker's users, or hits, from those of all workers.
	Share pace.Share
	// Total is the number of users, or hits, over all workers.
	Total int64
	// WarmUp is the time, from its start, in which the step sends load that is not
	// counted.
	WarmUp time.Duration
	// Load is PacedUsers, ClosedUsers, RampedUsers, Burst, Arrivals or Recorded.
	Load Load
}

// Load is the kind of load that a step sends.
type Load interface {
	// length is the length of the window, or the limit of a burst.
	length() time.Duration
	check() error
	// schedule is the worker's part of it.
	schedule(step StepShare, c Config) schedule
}

// PacedUsers send Rate requests in turn, one at a time each.
type PacedUsers struct {
	Rate     pace.Rate
	Duration time.Duration
}

// ClosedUsers send their next request when the last was answered and they have thought.
// The first requests are spread evenly over the mean think time: without that, users who
// begin together would act together for the rest of the step.
type ClosedUsers struct {
	Duration time.Duration
	Think    pace.Think
}

// Burst is users that send so many requests each, one after another. They begin together,
// and think between their requests.
type Burst struct {
	Requests int64
	Think    pace.Think
	// Limit cuts the burst.
	Limit time.Duration
}

// Arrivals come at Rate, whether or not earlier ones were answered.
type Arrivals struct {
	Rate     pace.Rate
	Duration time.Duration
	// End is the rate at the end, to which it grows or falls linearly; 0: it is
	// constant.
	End pace.Rate
	// Poisson draws when hits come, instead of spreading them evenly. The share of
	// such a step has no numbers: how many there are is drawn too.
	Poisson bool
}

var (
	_ Load = PacedUsers{}
	_ Load = ClosedUsers{}
	_ Load = Burst{}
	_ Load = Arrivals{}
)

func (l PacedUsers) length() time.Duration  { return l.Duration }
func (l ClosedUsers) length() time.Duration { return l.Duration }
func (l Burst) length() time.Duration       { return l.Limit }
func (l Arrivals) length() time.Duration    { return l.Duration }

func (l PacedUsers) check() error  { return checkRate(l.Rate) }
func (l ClosedUsers) check() error { return l.Think.Check() }

func (l Burst) check() error {
	if l.Requests < 1 {
		return fmt.Errorf("requests per user must be at least 1, is %d", l.Requests)
	}
	return l.Think.Check()
}

func (l Arrivals) check() error {
	if (l.End != 0 || l.Poisson) && l.Duration > pace.MaxRamp {
		return fmt.Errorf("duration of a ramp or of Poisson arrivals must be at most %v, is %v", pace.MaxRamp, l.Duration)
	}
	if l.End == 0 {
		return checkRate(l.Rate)
	}
	return errors.Join(checkRate(l.Rate), checkRate(l.End))
}

func checkRate(r pace.Rate) error {
	if r < 1 {
		return fmt.Errorf("rate must be positive, is %d per 1,000,000 s", r)
	}
	return nil
}

// Check refuses a step that cannot be sent.
func (s StepShare) Check() error {
	if err := s.check(); err != nil {
		return fmt.Errorf("step %d: %w", s.Index, err)
	}
	return nil
}

func (s StepShare) check() error {
	switch {
	case s.Load == nil:
		return fmt.Errorf("no load of a known kind")
	case s.Load.length() <= 0:
		return fmt.Errorf("duration must be positive, is %v", s.Load.length())
	case s.WarmUp < 0:
		return fmt.Errorf("warm-up must not be negative, is %v", s.WarmUp)
	case s.WarmUp > 0 && isRecorded(s.Load):
		return errors.New("a log has no warm-up: all of its requests count")
	case s.WarmUp > 0 && isBurst(s.Load):
		return errors.New("a burst has no warm-up: all of its requests count")
	case s.Share.First < 0 || s.Share.Stride < 1 || s.Share.Count < 0:
		return fmt.Errorf("share %+v is invalid", s.Share)
	case s.Share.Count > 0 && s.Share.Number(s.Share.Count-1) >= s.Total:
		return fmt.Errorf("share %+v is not within %d", s.Share, s.Total)
	}
	if l, ok := s.Load.(RampedUsers); ok && l.ramp().Most() != s.Total {
		return fmt.Errorf("a ramp of %d to %d users has not %d", l.From, l.To, s.Total)
	}
	return s.Load.check()
}

func isBurst(l Load) bool {
	_, ok := l.(Burst)
	return ok
}

func isRecorded(l Load) bool {
	_, ok := l.(Recorded)
	return ok
}

// Arrive says whether a load has no users: its requests are due whether or not earlier ones were
// answered.
func Arrive(l Load) bool {
	_, rate := l.(Arrivals)
	return rate || isRecorded(l)
}

// Users is the number of users that the worker has in the step; 0 for arrivals.
func (s StepShare) Users() int64 {
	if Arrive(s.Load) {
		return 0
	}
	return s.Share.Count
}
