package verdict

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// unmeasured is how many of the requests that a time is of have none.
type unmeasured struct {
	// open is how many were in flight at the end, and may have been answered at once.
	open int64
	// endless is how many had waited for as long as a step waits for its last answers.
	endless int64
	// unsent is how many were due and not sent while the target kept users or connections
	// busy; withheld is how many a perfect generator would have sent, at most.
	unsent, withheld int64
	// somewhere is how many were not sent, and perhaps none of them is meant.
	somewhere int64
	// failed is how many failed before the first event of their stream, which so never came.
	failed int64
	// goingOn is how many streams had not ended when the step did.
	goingOn int64
}

// all is how many there may be.
func (u unmeasured) all() int64 {
	return u.open + u.endless + u.unsent + u.withheld + u.somewhere + u.failed + u.goingOn
}

// unmeasured counts the requests without a time. What is unsent belongs to the response times
// of all requests, which count from when these were due; not to a maximum or a mean, which are
// of what was sent; and not to a step that was cut, in which it might have been sent.
func (s sample) unmeasured() unmeasured {
	if s.threshold.Time.IsOfStreams() {
		return s.unmeasuredStreams()
	}
	unfinished := s.request.Outcomes[measure.Unfinished]
	if s.step.State != v1beta1.StepComplete {
		return unmeasured{open: s.open()}
	}
	u := unmeasured{open: s.open(), endless: unfinished - s.open()}
	if s.waited() > 0 {
		u = unmeasured{endless: unfinished}
	}
	if s.threshold.Of == v1beta1.LatencyOfExpected {
		u.endless = 0 // none of them got an expected response
	}
	if s.metric.Times().Quantile == 0 || s.threshold.Time == v1beta1.ServiceTime || s.threshold.Of == v1beta1.LatencyOfExpected {
		return u
	}
	return s.addUnsent(u)
}

// addUnsent adds what was due and not sent.
func (s sample) addUnsent(u unmeasured) unmeasured {
	unsent := s.request.Due - s.request.Sent
	switch {
	case s.whole:
		unsent = s.merged.Unsent
	case !s.merged.KnowsDue():
		u.somewhere = s.merged.Unsent
		return u
	}
	u.withheld = min(unsent, s.merged.UnsentByGenerator)
	u.unsent = unsent - u.withheld
	return u
}

// open is how many requests are neither answered nor failed: they had waited for less than
// their timeout at the end of the step, or are in flight while it runs. What a worker that was
// cut, or is lost, had in flight might have been answered, too.
func (s sample) open() int64 {
	if s.step.State == v1beta1.StepComplete {
		return s.request.Undecided
	}
	return s.request.Outcomes[measure.Unfinished]
}

// waited is for how long the undecided requests of a step that is complete had waited, at least:
// for the whole drain, if their timeout is longer. 0: it is not known, as the step was cut, or a
// worker stood still and did not read what may have come.
func (s sample) waited() time.Duration {
	if s.step.State != v1beta1.StepComplete || s.timeout <= measure.MaxDrain || s.merged.Health.Stalled > 0 {
		return 0
	}
	return measure.MaxDrain
}

// withUnmeasured are times with what the requests without one took at least.
func (s sample) withUnmeasured(h *measure.Histogram, endless, unsent, immediate int64) *measure.Histogram {
	if endless+unsent+immediate == 0 {
		return h
	}
	h = h.Clone()
	h.RecordN(measure.Drain(s.timeout), endless)
	s.recordWaits(h, unsent)
	h.RecordN(0, immediate)
	return h
}

// waitsAtOnce is in how many parts unsent requests are recorded at most.
const waitsAtOnce = 1000

// recordWaits records for how long n requests had waited, at least, that were due in the
// window and not sent when it closed. The youngest of them was due just before, and no more
// than λ are due in a second: the i-th youngest waited for about i/λ. Arrivals are drawn, and
// may be closer by chance, by three standard deviations of a Poisson process at most:
//
//	w(i) ≥ (i − 3·√i) / λ, and at most the window.
//
// All of a burst is due at its beginning.
func (s sample) recordWaits(h *measure.Histogram, n int64) {
	perSecond := plan.MostPerSecond(&s.step.Load)
	if perSecond == 0 {
		wait := time.Duration(0)
		if s.step.Load.IsBurst() {
			wait = s.merged.Window
		}
		h.RecordN(wait, n)
		return
	}
	part := max(1, n/waitsAtOnce)
	for i := int64(1); i <= n; i += part {
		least := math.Max(0, float64(i)-3*math.Sqrt(float64(i))) / perSecond
		h.RecordN(min(time.Duration(least*float64(time.Second)), s.merged.Window), min(part, n-i+1))
	}
}

// bestTime is the least that a time can have been: a perfect generator had sent what it
// withheld, and what was in flight had been answered at once. nil: it is not known.
func (s sample) bestTime(u unmeasured) *big.Rat {
	h, ok := s.idealTimes()
	if !ok {
		h, _ = s.times()
	}
	h = s.withUnmeasured(h, u.endless+u.failed, u.unsent, u.withheld+u.open+u.goingOn)
	if s.threshold.Of == v1beta1.LatencyOfExpected {
		return metric.Micros(s.metric.Times().Of(h))
	}
	return metric.Micros(s.metric.Below(h, s.excused()))
}

// leftOut says which requests without a time a value leaves out, or counts by less than they
// may have taken; empty: none.
func (s sample) leftOut(u unmeasured) string {
	var parts []string
	if n := u.unsent + u.withheld; n > 0 {
		parts = append(parts, fmt.Sprintf("the times of %d requests that were due and never sent", n))
	}
	if u.somewhere > 0 {
		parts = append(parts, fmt.Sprintf("%d requests that were never sent, which may be of any name or type", u.somewhere))
	}
	if u.open > 0 {
		parts = append(parts, s.undecided(u.open))
	}
	if u.goingOn > 0 {
		parts = append(parts, fmt.Sprintf("%d streams that had not ended when the step did", u.goingOn))
	}
	if len(parts) == 0 && u.failed > 0 {
		parts = append(parts, fmt.Sprintf("%d requests that had no first event", u.failed+u.endless))
	}
	if len(parts) == 0 {
		parts = append(parts, fmt.Sprintf("the times of %d requests that had no answer", u.endless))
	}
	return fmt.Sprintf("%s leaves out %s.", s.place(), strings.Join(parts, ", and "))
}

// undecided says which requests are open.
func (s sample) undecided(n int64) string {
	if s.step.State != v1beta1.StepComplete {
		return fmt.Sprintf("%d requests that had no answer when the step was cut", n)
	}
	return fmt.Sprintf("%d requests that had waited for less than their timeout when the step ended", n)
}

// counted says what a value counts that was not measured; empty: nothing.
func (u unmeasured) counted() string {
	var parts []string
	if n := u.unsent + u.withheld; n > 0 {
		parts = append(parts, fmt.Sprintf("%d requests that were due and never sent", n))
	}
	if u.endless > 0 {
		parts = append(parts, fmt.Sprintf("%d requests without an answer", u.endless))
	}
	var sentences []string
	if len(parts) > 0 {
		sentences = append(sentences, "It counts "+strings.Join(parts, ", and ")+", each with the time that it had waited so far.")
	}
	if u.failed > 0 {
		sentences = append(sentences, fmt.Sprintf("It counts %d requests that failed before a first event, each as if it had waited for its timeout.", u.failed))
	}
	return strings.Join(sentences, " ")
}
