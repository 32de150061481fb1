package runs

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// mostMoments is how many moments of a course are kept: half an hour of updates every two
// seconds.
const mostMoments = 900

// Moment is what a run did between two updates of its status, per second.
type Moment struct {
	At   time.Time
	Step int
	// Due, Sent, Answered and Failed are requests per second. Answered are those that ended,
	// in whatever way.
	Due, Sent, Answered, Failed float64
	// Outstanding is how many requests were sent and had not ended.
	Outstanding float64
	// P50, P95 and P99 are of the whole step up to then; 0: too few samples.
	P50, P95, P99 time.Duration
}

// course is the moments of a run, and the counts at the latest of them.
type course struct {
	moments []Moment
	last    counted
}

// counted are the counts of a step at an instant.
type counted struct {
	at                          time.Time
	step                        int
	due, sent, answered, failed int64
}

// observe adds a moment, if the status has new counts.
func (c *course) observe(lt *v1beta1.LoadTest) {
	now, step := count(lt)
	if step == nil || !now.at.After(c.last.at) {
		return
	}
	before := c.last
	if before.at.IsZero() || before.step != now.step {
		before = counted{at: begun(step)}
	}
	c.last = now
	seconds := now.at.Sub(before.at).Seconds()
	if seconds <= 0 {
		return
	}
	per := func(now, before int64) float64 { return float64(max(now-before, 0)) / seconds }
	m := Moment{
		At: now.at, Step: now.step, Outstanding: float64(step.Result.InFlight),
		Due: per(now.due, before.due), Sent: per(now.sent, before.sent),
		Answered: per(now.answered, before.answered), Failed: per(now.failed, before.failed),
	}
	if l := step.Result.ResponseTime; l != nil {
		for to, from := range map[*time.Duration]*metav1.Duration{&m.P50: l.P50, &m.P95: l.P95, &m.P99: l.P99} {
			if from != nil {
				*to = from.Duration
			}
		}
	}
	c.moments = append(c.moments, m)
	if len(c.moments) > mostMoments {
		c.moments = append(c.moments[:0:0], c.moments[len(c.moments)-mostMoments:]...)
	}
}

// count are the counts of the step that runs; nil: none does, or nothing was reported.
func count(lt *v1beta1.LoadTest) (counted, *v1beta1.StepStatus) {
	s := &lt.Status
	if int(s.CurrentStep) >= len(s.Steps) || s.CurrentStep < 0 {
		return counted{}, nil
	}
	step := &s.Steps[s.CurrentStep]
	if step.Result == nil || step.StartTime == nil || step.ReportedUntil == nil {
		return counted{}, nil
	}
	r := step.Result
	return counted{
		at: step.ReportedUntil.Time, step: int(s.CurrentStep),
		due: r.Due, sent: r.Sent, answered: r.Sent - r.InFlight, failed: r.Failed,
	}, step
}

// begun is when a step began to count.
func begun(step *v1beta1.StepStatus) time.Time {
	at := step.StartTime.Time
	if step.Load.WarmUp != nil {
		at = at.Add(step.Load.WarmUp.Duration)
	}
	return at
}
