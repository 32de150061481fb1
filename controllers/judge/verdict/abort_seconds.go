package verdict

import (
	"maps"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

const (
	// lastingSeconds is for how many seconds, one after another, a threshold must have
	// been breached where it is not known what the rest of the step could mend. A pause
	// of the target's runtime, a failover or a cold cache takes less.
	lastingSeconds = 10
	// second is how far each worker must have gone on for another second to be judged,
	// a little less than the time between two of its reports.
	second = 900 * time.Millisecond
	// credit is the most that counts of what is judged at once: what comes after a
	// silence is one look, however long it was.
	credit = 2 * time.Second
)

// Seconds is what is remembered, from one look at a running step to the next, of users
// without a rate. It need not be stored: with none, the seconds are counted anew.
type Seconds struct {
	step     string
	last     *measure.Measurement // up to the second that was judged last
	shortest time.Duration
	latest   *measure.Measurement // what ended in it; nil: nothing new was judged
	// breaches is for how long each threshold has been breached, by its index.
	breaches map[int]time.Duration
}

// next is what is remembered after another look. It keeps no measurement of a step whose
// end is known to be decided by numbers.
func (s Seconds) next(spec *v1beta1.LoadTestSpec, live Live) Seconds {
	if _, known := plan.MostRequests(&live.Step.Load); known || !plan.Aborts(spec) {
		return Seconds{}
	}
	fresh := Seconds{step: live.Step.Name, last: live.Merged, shortest: live.Shortest}
	switch {
	case s.step != live.Step.Name:
		if !live.All {
			return Seconds{}
		}
		return fresh
	case !live.All || live.Shortest < s.shortest+second:
		s.latest = nil
		return s
	}
	latest, err := live.Merged.EndedSince(s.last)
	switch {
	case err != nil || latest.Window <= 0:
		return fresh // counts that fall: another process had more
	case latest.Due < leastEnded:
		s.latest = nil
		return s // with what comes next, there are enough
	}
	fresh.latest, fresh.breaches = latest, maps.Clone(s.breaches)
	return fresh
}

// breached says whether a threshold has been breached for as long as it takes to abort,
// and counts the second that was judged last.
func (s *Seconds) breached(spec *v1beta1.LoadTestSpec, requests []v1beta1.RequestStatus, n int, live *Live) bool {
	if s.latest == nil {
		return false
	}
	sample, err := newSample(spec, requests, &spec.Thresholds[n], live.Step, s.latest)
	if err != nil {
		return false
	}
	switch state, _ := sample.judgeValue(); state {
	case v1beta1.ThresholdPassed:
		delete(s.breaches, n)
		return false
	case v1beta1.ThresholdInconclusive:
		return false
	}
	if s.breaches == nil {
		s.breaches = map[int]time.Duration{}
	}
	s.breaches[n] += min(s.latest.Window, credit)
	return s.breaches[n] >= lastingSeconds*time.Second
}
