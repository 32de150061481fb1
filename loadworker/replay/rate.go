package replay

import (
	"fmt"
	"math"
	"time"
)

// maxDuration is the longest step.
const maxDuration = 24 * time.Hour

// seconds are how many requests are due in each second of a step.
type seconds []int32

// secondsBytes is what seconds take at most, with what append keeps ready.
const secondsBytes = 4 * int64(maxDuration/time.Second) * 5 / 4

// of is how many are due in the second of an instant.
func (s seconds) of(due time.Duration) int64 {
	if i := int(due / time.Second); i < len(s) {
		return int64(s[i])
	}
	return 0
}

// add adds a request, and returns how many are due in its second so far.
func (s *seconds) add(due time.Duration) int64 {
	i := int(due / time.Second)
	if missing := i + 1 - len(*s); missing > 0 {
		*s = append(*s, make(seconds, missing)...)
	}
	if (*s)[i] < math.MaxInt32 {
		(*s)[i]++
	}
	return int64((*s)[i])
}

// rateCheck holds a log to its rate while it is surveyed. It counts, and does not sort: the lines of all workers would be
// more than are kept to be sorted. A line that is too far behind to be sent counts, too.
type rateCheck struct {
	all seconds // of all workers
	// most and mostOwn are the most requests in a second, of all workers and of this one; 0: no bound.
	most, mostOwn int64
}

// newRateCheck has no bound without a rate.
//
// A worker that read all lines knows that no second has too many. It is held to its share all the same, as workers do not
// read at the same time: a file that is written again in between may show each of them a second of its own lines
// alone. The lines of workers are drawn. With a mean of m, there are more than m + 6·√m + 10 of one of them fewer than one time
// in a billion.
func (l *Log) newRateCheck() *rateCheck {
	if l.config.MaxRate == 0 {
		return &rateCheck{}
	}
	all := float64(l.config.MaxRate) / micro
	m := all / float64(l.config.Workers)
	return &rateCheck{most: int64(math.Ceil(all)), mostOwn: int64(min(math.Ceil(m+6*math.Sqrt(m)+10), math.Ceil(all)))}
}

// ofAll checks a request of any worker.
func (c *rateCheck) ofAll(due time.Duration) error {
	if c.all.add(due) > c.most {
		return fmt.Errorf("the log has a second, %v after the beginning of the step, in which more requests are due than spec.replay.maxRate permits, "+
			"by default 2500 for each worker: raise it, or lower speed", due.Truncate(time.Second))
	}
	return nil
}

// ofOwn checks a request of this worker, and counts it in the survey.
func (c *rateCheck) ofOwn(r *Request, s *Survey) error {
	n := s.seconds.add(r.Due)
	s.PeakPerSecond = max(s.PeakPerSecond, n)
	if c.mostOwn > 0 && n > c.mostOwn {
		return fmt.Errorf("the log has a second, %v after the beginning of the step, in which one worker has more requests than its share of spec.replay.maxRate: "+
			"do not change the log while a run reads it", r.Due.Truncate(time.Second))
	}
	return nil
}

// surveyedRate holds a step to what was surveyed, second by second.
type surveyedRate struct {
	survey seconds
	sent   seconds
}

func (c *surveyedRate) check(r *Request) error {
	if c.sent.add(r.Due) > c.survey.of(r.Due) {
		return fmt.Errorf("the log was changed after it was surveyed: more requests are due in the second %v after the beginning of the step", r.Due.Truncate(time.Second))
	}
	return nil
}
