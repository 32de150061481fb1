package runmetrics

import (
	"math"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// bounds are the upper bounds of the classic buckets.
var bounds = []time.Duration{
	500 * time.Microsecond, time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond, time.Second,
	2500 * time.Millisecond, 5 * time.Second, 10 * time.Second, 30 * time.Second,
}

const (
	// classic is how many classic buckets there are, that without a bound included.
	classic = 16
	// schema is that of the native buckets: 2^3 for each doubling, each 9 % wider than
	// the one before.
	schema  = 3
	perPow2 = 1 << schema
	// lowest is the index of the native bucket of one microsecond, log2(10^-6) * 8
	// rounded up, highest that of an hour.
	lowest  = -159
	highest = 95
)

// The counts of a load, by what they count.
const (
	due = iota
	sent
	expected
	late
	events
	outcomes
	buckets = outcomes + measure.NumOutcomes
	zero    = buckets + classic
	natives = zero + 1
	size    = natives + highest - lowest + 1
)

// load is what was sent and measured, cumulative: no count of it ever falls.
type load struct {
	counts [size]int64
	// seconds are all response times added up.
	seconds float64
}

// add adds o to l.
func (l *load) add(o *load) {
	for i, n := range o.counts {
		l.counts[i] += n
	}
	l.seconds += o.seconds
}

// raise makes each count of l at least that of o.
func (l *load) raise(o *load) {
	for i, n := range o.counts {
		l.counts[i] = max(l.counts[i], n)
	}
	l.seconds = max(l.seconds, o.seconds)
}

// count counts the times of a histogram, if there is one. A time is in the bucket of the shortest time of
// its slot, which is 0.1 % less at most.
func (l *load) count(h *measure.Histogram) {
	if h == nil {
		return
	}
	for slot, n := range h.Slots() {
		i := 0
		for i < len(bounds) && slot.Shortest > bounds[i] {
			i++
		}
		l.counts[buckets+i] += n
		l.counts[native(slot.Shortest)] += n
		l.seconds += slot.Mean.Seconds() * float64(n)
	}
}

// countEvents counts the events of streams, if there are any.
func (l *load) countEvents(s *measure.Streams) {
	if s != nil {
		l.counts[events] += s.Events
	}
}

// native is where the times of a native bucket are counted: of those that are longer
// than 2^((i-1)/8) and at most 2^(i/8) seconds, i being the bucket's index.
func native(d time.Duration) int {
	if d <= 0 {
		return zero
	}
	index := int(math.Ceil(math.Log2(d.Seconds()) * perPow2))
	return natives + min(max(index, lowest), highest) - lowest
}

// measured is the load of a step that runs. What is in flight has no outcome yet. The
// histograms are counted one by one: to add them up first would take a megabyte.
func measured(m *measure.Measurement) *load {
	l := &load{}
	l.counts[due] = m.Due
	for i := range m.Requests {
		r := &m.Requests[i]
		l.counts[sent] += r.Sent
		l.counts[expected] += r.Expected
		l.counts[late] += r.Late
		l.countEvents(r.Streams)
		for o, n := range r.Outcomes {
			if measure.Outcome(o) != measure.Unfinished {
				l.counts[outcomes+o] += n
			}
		}
		l.count(r.Response)
	}
	for i := range m.Grouped {
		l.count(m.Grouped[i].Response)
		l.countEvents(m.Grouped[i].Streams)
	}
	return l
}

// recorded is the load of a step as the status has it. The buckets are empty of a step
// whose histogram the status had no room for.
func recorded(r *v1beta1.StepResult) *load {
	l := &load{}
	if r == nil {
		return l
	}
	l.counts[due], l.counts[sent], l.counts[expected], l.counts[late] = r.Due, r.Sent, r.Expected, r.Late
	for o, n := range byOutcome(&r.Outcomes) {
		l.counts[outcomes+o] = n
	}
	if r.Streams != nil {
		l.counts[events] = r.Streams.Events
	}
	if r.Histogram == "" {
		return l
	}
	if h, err := measure.DecodeHistogram(r.Histogram, 0); err == nil {
		l.count(h)
	}
	return l
}

// byOutcome are the counts in the order of the outcomes.
func byOutcome(o *v1beta1.Outcomes) [measure.NumOutcomes]int64 {
	return [measure.NumOutcomes]int64{
		measure.Success: o.Success, measure.RateLimited: o.RateLimited, measure.ClientError: o.ClientError,
		measure.ServerError: o.ServerError, measure.UnexpectedStatus: o.UnexpectedStatus, measure.Timeout: o.Timeout,
		measure.Refused: o.Refused, measure.Reset: o.Reset, measure.DNS: o.DNS, measure.TLS: o.TLS,
		measure.BadResponse: o.BadResponse, measure.Unfinished: o.Unfinished, measure.Other: o.Other,
		measure.BrokenOff: o.BrokenOff, measure.Stalled: o.Stalled, measure.EndedEarly: o.EndedEarly,
	}
}
