package attack

import (
	"sync"
	"time"

	"github.com/loadtest-dev/loadtest-operator/measure"
)

// journeyCounts counts what becomes of a journey. One lock is enough for all connections:
// a journey begins and ends once in several requests.
type journeyCounts struct {
	mu     sync.Mutex
	counts measure.Journey
}

func newJourneyCounts(n int) []journeyCounts {
	all := make([]journeyCounts, n)
	for i, empty := range measure.NewJourneys(n) {
		all[i].counts = empty
	}
	return all
}

func (j *journeyCounts) start() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.counts.Started++
}

// complete counts one that was completed, in times measured and ideal.
func (j *journeyCounts) complete(took, ideal time.Duration) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.counts.Complete(took, ideal)
}

// leaveOut counts steps that were left out.
func (j *journeyCounts) leaveOut(steps []int) {
	if len(steps) == 0 {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, step := range steps {
		j.counts.LeaveOut(step)
	}
}

// fail counts one that failed in a step of the journey; excused says that it would not have failed
// with a perfect generator. because is why a condition ended it; empty: none did.
func (j *journeyCounts) fail(step int, excused bool, because string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.counts.Fail(step)
	if because != "" {
		j.counts.FailByCondition(step, because)
	}
	if excused {
		j.counts.Excused++
	}
}

// leave counts one that is under way at the end of the step.
func (j *journeyCounts) leave(took time.Duration) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.counts.Unfinished.Record(took)
}

// addTo adds the counts of one instant to a sum.
func (j *journeyCounts) addTo(sum *measure.Journey) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return sum.Merge(&j.counts)
}

// collectJourneys returns a copy of the counts of all journeys.
func (r *recorder) collectJourneys() ([]measure.Journey, error) {
	if len(r.journeys) == 0 {
		return nil, nil
	}
	all := measure.NewJourneys(len(r.journeys))
	for i := range all {
		if err := r.journeys[i].addTo(&all[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}
