package verdict

import (
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// observation is the value of a metric in a step.
type observation struct {
	// value is as it was measured; nil when it is not known.
	value *big.Rat
	// ideal is the value that a perfect generator would have measured for the same
	// requests; nil: the same value. What the target did lies between the two.
	ideal *big.Rat
	// apart is the ideal value if what was sent late had not come to the target together;
	// nil: the same value. A breach that it keeps is not certain.
	apart *big.Rat
	// worst is the value that a maximum must also keep, nil when there is no
	// telling: it counts what the value leaves out at its worst.
	worst *big.Rat
	// best is the value if what is undecided had done well, as with a perfect generator: a
	// breach must breach with it, too. nil: nothing is undecided.
	best *big.Rat
	// caveat is the sentence that says why the value is not known, or what it
	// leaves out.
	caveat string
	// fact is what happened, which a breach of a maximum is told by; empty: the value says it.
	fact string
	// counted is a sentence on what the value counts that was not measured; empty: nothing.
	counted string
}

// certain is a value that leaves nothing out.
func certain(value *big.Rat) observation { return observation{value: value, worst: value} }

// between is a value that leaves nothing out, and the one of a perfect generator.
func between(value, ideal *big.Rat) observation {
	return observation{value: value, ideal: ideal, worst: value}
}

// ideally is the value without the generator's own delay.
func (o observation) ideally() *big.Rat {
	if o.ideal == nil {
		return o.value
	}
	return o.ideal
}

func unknown(format string, args ...any) observation {
	return observation{caveat: fmt.Sprintf(format, args...)}
}

// sample is the part of a step that a threshold looks at.
type sample struct {
	threshold *v1beta1.Threshold
	metric    metric.Metric // of the threshold
	step      *v1beta1.StepStatus
	merged    *measure.Measurement
	request   measure.Request  // of all requests that the threshold names
	items     int64            // that those expected in the window carried
	within    int              // of the times of the plan, the threshold's
	goal      int              // of the goals of the plan, the threshold's; -1: it has none
	journey   measure.Journey  // of all journeys that it names
	timeout   time.Duration    // the longest of these
	each      int64            // how many requests a session sends at most
	judges    func(i int) bool // whether it is judged by a request
	whole     bool             // that it is, by every request
	expects   func(i, code int) bool
}

func newSample(spec *v1beta1.LoadTestSpec, requests []v1beta1.RequestStatus, t *v1beta1.Threshold, step *v1beta1.StepStatus, merged *measure.Measurement) (sample, error) {
	s := sample{threshold: t, metric: metric.Of(t.Metric), step: step, merged: merged, request: measure.NewRequest(), within: timeOf(spec, t), goal: goalOf(spec, t), each: plan.RequestsOfASession(spec)}
	s.judges = func(i int) bool { return plan.Judges(spec, t, requests, i) && !s.isOneReply(spec, i) }
	s.expects = func(i, code int) bool { return i < len(spec.Requests) && expectsStatus(&spec.Requests[i], code) }
	s.timeout = plan.LongestTimeout(spec, func(i int) bool { return s.judges(i) && plan.IsSent(spec, &spec.Requests[i]) })
	if merged == nil || step.Result == nil {
		return s, nil
	}
	s.whole = len(t.Requests)+len(t.Types) == 0 && (!t.OfStreams() || s.judgesAll())
	if err := s.addJourneys(spec); err != nil {
		return s, err
	}
	for i, items := range plan.RequestItems(spec) {
		if i < len(merged.Requests) && s.judges(i) {
			s.items += items * merged.Requests[i].ExpectedInWindow
		}
	}
	var err error
	s.request, err = merged.Of(s.judges)
	s.addNoEvents(spec)
	return s, err
}

// subject is what a sentence about the threshold is about.
func subject(t *v1beta1.Threshold) string {
	text := label(t)
	for _, filter := range []struct {
		names []string
		what  string
	}{{t.Types, "types"}, {t.Requests, "requests"}, {t.Journeys, "journeys"}} {
		if len(filter.names) > 0 {
			text += " of " + named(filter.names, filter.what)
		}
	}
	return text
}

// named are the names of requests, say, or how many there are.
func named(names []string, what string) string {
	if n := len(names); n > 3 {
		return fmt.Sprintf("%d %s", n, what)
	}
	return strings.Join(names, ", ")
}

// place is the subject and where it was observed.
func (s sample) place() string {
	if len(s.threshold.Requests)+len(s.threshold.Types)+len(s.threshold.Journeys) == 0 {
		return fmt.Sprintf("%s of step %s", label(s.threshold), s.step.Name)
	}
	return fmt.Sprintf("%s in step %s", subject(s.threshold), s.step.Name)
}

// observe is the value of the threshold's metric.
func (s sample) observe() observation {
	if len(s.threshold.Journeys) > 0 {
		return s.observeJourneys()
	}
	if s.threshold.OfStreams() && s.request.Streams == nil {
		return unknown("%s cannot be judged: no response came in parts.", s.place())
	}
	if s.request.Sent == 0 {
		return unknown("%s cannot be judged: no request was sent.", s.place())
	}
	switch from := s.metric.Measured.(type) {
	case metric.Times:
		return s.time(from)
	case metric.OfSent:
		n := from.Count(&s.request, s.open())
		return s.share(n, n+from.PerFailure*s.generatorsFailures())
	case metric.OfDue:
		if s.merged.Due == 0 {
			return unknown("%s cannot be judged: no request was due.", s.place())
		}
		n, ideally, due := from(s.merged)
		return between(metric.Percent(n, due), metric.Percent(ideally, due))
	case metric.PerSecond:
		return s.perSecond(from(&s.request, s.items))
	case metric.Audited:
		return s.audit(from)
	case metric.Own:
		return s.own(from)
	}
	return unknown("%s cannot be judged: this operator does not know the metric.", s.place())
}

// own is the value of a metric that is counted in a way of its own.
func (s sample) own(from metric.Own) observation {
	switch from {
	case metric.OnTime:
		if s.threshold.HasGoal() {
			return s.goalRate()
		}
		return s.onTimeRate()
	case metric.Downtime:
		return s.downtime()
	case metric.Drift:
		return s.drift()
	default:
		return s.queried()
	}
}

// share is the share of n of the requests that were sent, with a perfect generator of ideally
// so many. What is open may be among them, or not.
func (s sample) share(n, ideally int64) observation {
	sent, open := s.request.Sent, s.open()
	o := between(metric.Percent(n, sent), metric.Percent(ideally, sent))
	o.worst, o.caveat = metric.Percent(n+open, sent), fmt.Sprintf("%s leaves out %s.", s.place(), s.undecided(open))
	o.best = o.worst // a minimum is kept by more of them
	return o
}

// perSecond is the rate of n, which came with so many responses in the window, of all that
// came. It is 0 without a window if nothing was answered: the window of a burst ends with
// its last response, and there was none.
func (s sample) perSecond(n, inWindow, all int64) observation {
	switch {
	case s.merged.Window > 0:
		value := new(big.Rat).Mul(big.NewRat(n, int64(s.merged.Window)), big.NewRat(int64(time.Second), 1))
		return between(value, new(big.Rat).Mul(value, s.idealFactor(inWindow, all)))
	case s.request.CompletedInWindow == 0:
		return certain(new(big.Rat))
	}
	return unknown("%s cannot be judged: the step has no window.", s.place())
}

// audit is a lower bound; requests that were not audited may hide more.
func (s sample) audit(value metric.Audited) observation {
	if s.step.Result.RateLimit == nil {
		return unknown("%s cannot be judged: spec.audits has no rateLimit.", s.place())
	}
	o := certain(new(big.Rat).SetInt64(value(s.step.Result.RateLimit)))
	if n := s.step.Result.RateLimit.Untracked; n > 0 {
		o.worst = nil
		o.caveat = fmt.Sprintf("%s leaves out %d requests of clients that were not tracked.", s.place(), n)
	}
	return o
}

// time is a quantile, mean or maximum of a time. What was not sent, or had no answer, has
// none, but would have had a long one: leaving it out must not make a slow target look fast.
// The value counts what it took at least, and the worst that it took for ever.
func (s sample) time(from metric.Times) observation {
	h, ok := s.times()
	if !ok {
		return unknown("%s cannot be judged: a worker did not report which times belong to expected responses.", s.place())
	}
	n := h.Count()
	if n < from.Needed() {
		return unknown("%s has %d samples; at least %d are needed.", s.place(), n, from.Needed())
	}
	u := s.unmeasured()
	value := from.Of(s.withUnmeasured(h, u.endless+u.failed, u.unsent+u.withheld, 0))
	o := between(metric.Micros(value), s.idealTime(u))
	o.apart = s.timeApart(o.ideally())
	if u.all() > 0 {
		o.worst, o.caveat, o.counted = withUnfinished(h, from.Quantile, u.all()), s.leftOut(u), u.counted()
	}
	if u.open+u.goingOn > 0 {
		o.best = s.bestTime(u)
	}
	return o
}

// withUnfinished is the nearest-rank quantile with every unfinished request counted
// as infinitely long; nil when the quantile is one of these. Maximum and mean always
// are.
func withUnfinished(h *measure.Histogram, q, unfinished int64) *big.Rat {
	n := h.Count()
	rank := (q*(n+unfinished) + metric.Parts - 1) / metric.Parts
	if q == 0 || rank > n {
		return nil
	}
	return metric.Micros(h.AtRank(rank))
}
