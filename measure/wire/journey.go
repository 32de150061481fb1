package wire

import (
	"errors"
	"fmt"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// perJourney is how many histograms there are of a journey.
const perJourney = 3

func (p *packing) fromJourneys(journeys []measure.Journey) []*workerv1.JourneyMeasurement {
	var list []*workerv1.JourneyMeasurement
	for i := range journeys {
		j := &journeys[i]
		list = append(list, &workerv1.JourneyMeasurement{
			Started: j.Started, Completed: j.Completed, Failed: j.Failed, Due: j.Due,
			Time: p.fromHistogram(j.Time), Unfinished: p.fromHistogram(j.Unfinished),
			Ideal: p.fromIdeal(j.Ideal, j.Time), Excused: j.Excused, FailedIn: j.FailedIn,
			ByCondition: j.ByCondition, Because: j.Because, LeftOut: j.LeftOut,
		})
	}
	return list
}

// Journeys is of how many journeys the measurement is: those of the plan, unless the
// worker does not report them.
func (r *Reading) Journeys() int { return len(r.rest.Journeys) }

// readJourneys validates those of a worker that sent so many requests: each journey
// that is begun has sent one.
func (r *Reading) readJourneys(journeys []*workerv1.JourneyMeasurement, sent, due int64) error {
	if len(journeys) > measure.MaxJourneys {
		return fmt.Errorf("journeys: %d, a plan has at most %d", len(journeys), measure.MaxJourneys)
	}
	r.rest.Journeys = make([]measure.Journey, len(journeys))
	for i, m := range journeys {
		if err := r.readJourney(&r.rest.Journeys[i], m, sent, due); err != nil {
			return fmt.Errorf("journeys[%d].%w", i, err)
		}
		sent -= m.GetStarted()
		due -= r.rest.Journeys[i].Due
	}
	return nil
}

func (r *Reading) readJourney(to *measure.Journey, m *workerv1.JourneyMeasurement, sent, due int64) error {
	to.Started, to.Completed, to.Failed = m.GetStarted(), m.GetCompleted(), m.GetFailed()
	to.Due = max(m.GetDue(), to.Started) // a worker that does not report it has users, who start what is due
	if err := errors.Join(
		within("started", to.Started, "sent", sent),
		within("completed", to.Completed, "started", to.Started),
	); err != nil {
		return err
	}
	if err := within("due", m.GetDue(), "due of all requests", due); err != nil {
		return err
	}
	if err := within("failed", to.Failed, "started less completed", to.Started-to.Completed); err != nil {
		return err
	}
	to.Excused = m.GetExcused()
	if err := within("excused", to.Excused, "failed", to.Failed); err != nil {
		return err
	}
	if err := errors.Join(readFailedIn(to, m.GetFailedIn()), readConditions(to, m)); err != nil {
		return err
	}
	first := len(r.histograms)
	if err := errors.Join(
		r.readHistogram("time", m.GetTime(), to.Completed),
		r.readHistogram("unfinished", m.GetUnfinished(), to.UnderWay()),
	); err != nil {
		return err
	}
	if n := r.histograms[first].total; n != to.Completed {
		return fmt.Errorf("time: %d values, completed are %d", n, to.Completed)
	}
	return r.readIdeal("ideal", m.GetIdeal(), first)
}

// readFailedIn validates in which steps the journeys failed: each of them did in one, unless the worker
// does not say it.
func readFailedIn(to *measure.Journey, counts []int64) error {
	if len(counts) > measure.MaxJourneySteps {
		return fmt.Errorf("failed_in: %d steps, a journey has at most %d", len(counts), measure.MaxJourneySteps)
	}
	left := to.Failed
	for i, n := range counts {
		if err := within(fmt.Sprintf("failed_in[%d]", i), n, "failed less those before", left); err != nil {
			return err
		}
		left -= n
	}
	if len(counts) > 0 && left > 0 {
		return fmt.Errorf("failed_in: %d less than failed, %d", left, to.Failed)
	}
	to.FailedIn = counts
	return nil
}

// maxBecause bounds a reason, in bytes.
const maxBecause = 512

// sizeOfSteps is how much memory it takes what became of a journey in each of its steps.
func sizeOfSteps(j *measure.Journey) int {
	const count, reason = 8, 16
	n := count * (len(j.FailedIn) + len(j.ByCondition) + len(j.LeftOut))
	for _, because := range j.Because {
		n += reason + len(because)
	}
	return n
}

// readConditions validates what conditions did: each journey that one ended failed in the same step, and
// a journey leaves out a step at most once.
func readConditions(to *measure.Journey, m *workerv1.JourneyMeasurement) error {
	ended, because, out := m.GetByCondition(), m.GetBecause(), m.GetLeftOut()
	if len(ended) > len(to.FailedIn) {
		return fmt.Errorf("by_condition: %d steps, journeys failed in %d", len(ended), len(to.FailedIn))
	}
	if len(because) > len(ended) {
		return fmt.Errorf("because: %d steps, by_condition has %d", len(because), len(ended))
	}
	if len(out) > measure.MaxJourneySteps {
		return fmt.Errorf("left_out: %d steps, a journey has at most %d", len(out), measure.MaxJourneySteps)
	}
	for i, n := range ended {
		if err := within(fmt.Sprintf("by_condition[%d]", i), n, "failed_in", to.FailedIn[i]); err != nil {
			return err
		}
	}
	for i, n := range out {
		if err := within(fmt.Sprintf("left_out[%d]", i), n, "started", to.Started); err != nil {
			return err
		}
	}
	to.ByCondition, to.LeftOut = ended, out
	for _, why := range because {
		to.Because = append(to.Because, text.Clean(why, maxBecause))
	}
	return nil
}
