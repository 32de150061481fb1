package archive

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/loadtest-dev/loadtest-operator/measure"
)

// Format names the format and its version.
const Format = "loadtest.dev/step-results/v1"

// OmittedWithoutGenerator stands in Omitted for the times without the generator's own delay.
const OmittedWithoutGenerator = "requests.withoutGenerator"

// OmittedLost stands in Omitted if the times of workers that were lost are in none of the
// requests, since they had not told which of them are of which request.
const OmittedLost = "requests of lost workers"

// Step is what is kept of a finished step.
type Step struct {
	// Format is Format.
	Format string `json:"format"`
	// LoadTest and UID are those of the run, Name and Index those of the step.
	LoadTest string `json:"loadTest"`
	UID      string `json:"uid"`
	Name     string `json:"step"`
	Index    int    `json:"index"`
	// WorkersReporting is how many workers' measurements are in the histograms, as in
	// the status.
	WorkersReporting int32 `json:"workersReporting"`
	// Due and Sent are how many requests were due and sent, as in the status.
	Due  int64 `json:"due"`
	Sent int64 `json:"sent"`
	// Requests are those of the plan, in its order.
	Requests []Request `json:"requests"`
	// Expected are the response times of the expected responses to all requests. Absent if
	// each response was as expected, and if a worker did not report which were.
	Expected *Histogram `json:"expected,omitempty"`
	// Series is absent if no worker handed one over.
	Series *Series `json:"series,omitempty"`
	// Outstanding is absent if a worker did not count what was outstanding.
	Outstanding *Outstanding `json:"outstanding,omitempty"`
	// Usage is what containers of the target used. Absent if the operator did not read it.
	Usage []Usage `json:"usage,omitempty"`
	// Omitted lists what was left out: OmittedLost, and for lack of room, in the order in which
	// it was, "requests.service", "requests.withoutGenerator", "requests.streams.times", "requests.response".
	Omitted []string `json:"omitted,omitempty"`
}

// Request is a request of the plan, with its times.
type Request struct {
	Name string `json:"name"`
	Type string `json:"type"`
	// Counts are absent in what an older operator kept.
	Counts *Counts `json:"counts,omitempty"`
	// Response and Service are absent if nothing ended, or if they are omitted.
	Response *Histogram `json:"response,omitempty"`
	Service  *Histogram `json:"service,omitempty"`
	// WithoutGenerator is Response as a perfect generator would have measured it. Absent, too,
	// if it is the same.
	WithoutGenerator *Histogram `json:"withoutGenerator,omitempty"`
	// Streams are the events of its responses; absent: they do not come in parts.
	Streams *Streams `json:"streams,omitempty"`
	// Traces are requests of which the target was asked to record a trace: the slowest,
	// and some failures of each outcome; the slowest of all first.
	Traces []Trace `json:"traces,omitempty"`
}

// Counts are disjoint counts of a request.
type Counts struct {
	// Due is how many were due; absent: the workers did not count them by request.
	Due *int64 `json:"due,omitempty"`
	// Sent is how many were sent, and Expected how many of them got an expected response.
	Sent     int64 `json:"sent"`
	Expected int64 `json:"expected"`
	// Redirects is how many redirects were followed, each of which is one more request.
	Redirects int64 `json:"redirects,omitempty"`
	// Outcomes divides those that were sent, by the names that the status has for them.
	// Those that did not occur are left out.
	Outcomes map[string]int64 `json:"outcomes,omitempty"`
	// StatusCodes divides the whole responses; absent: the workers did not report them.
	StatusCodes map[int]int64 `json:"statusCodes,omitempty"`
	// Errors has one message for each failing outcome.
	Errors map[string]string `json:"errors,omitempty"`
}

// Histogram is a histogram of times in microseconds.
type Histogram struct {
	// HDR is HdrHistogram's format V2, compressed, in base64.
	HDR string `json:"hdr"`
	// Clamped is how many of the times were longer than an hour, for which they count.
	Clamped int64 `json:"clamped,omitempty"`
}

// Series is what happened in a step, point by point of time.
type Series struct {
	// Seconds is how wide a point is.
	Seconds int `json:"seconds"`
	// Workers is how many workers handed over theirs, which are added up here.
	Workers int `json:"workers"`
	// Points are those of the step's duration, or of the limit of a burst, in order.
	// Those at the end in which nothing happened are left out.
	Points []Point `json:"points"`
	// After is what happened later: the responses that were waited for.
	After Point `json:"after"`
}

// Outstanding is what was outstanding in the course of a step.
type Outstanding struct {
	// SlotMicros is how long a slot is: a 200th of the step's duration, or of the limit of a
	// burst.
	SlotMicros int64 `json:"slotMicros"`
	// Requests is how many were due and had not ended at the end of each slot; of users
	// without a rate, that were sent and had not ended. Slots at the end in which none was
	// are left out.
	Requests []int64 `json:"requests"`
}

// Point is what happened in a part of a step. Quantiles are wrong by at most a 32nd, and
// absent where a point has too few values.
type Point struct {
	Due       int64 `json:"due"`
	Sent      int64 `json:"sent"`
	Completed int64 `json:"completed"`
	Expected  int64 `json:"expected"`
	// Outcomes divides the requests that ended in the point, by the names that the
	// status has for them. Those that did not occur are left out.
	Outcomes map[string]int64 `json:"outcomes,omitempty"`
	P50      *int64           `json:"p50Micros,omitempty"`
	P95      *int64           `json:"p95Micros,omitempty"`
	P99      *int64           `json:"p99Micros,omitempty"`
	Longest  *int64           `json:"longestMicros,omitempty"`
	// FirstOnConnection is how many of Completed were the first on their connection. Absent in what
	// an older operator or worker made.
	FirstOnConnection *int64 `json:"firstOnConnection,omitempty"`
}

// NewHistogram is nil for a histogram without values.
func NewHistogram(h *measure.Histogram) (*Histogram, error) {
	if h == nil || h.Count() == 0 {
		return nil, nil
	}
	encoded, err := h.Encode()
	if err != nil {
		return nil, err
	}
	return &Histogram{HDR: encoded, Clamped: h.Clamped()}, nil
}

// NewCounts are the counts of a request of a step that has ended; knowsDue says that its due
// are known.
func NewCounts(r *measure.Request, knowsDue bool) *Counts {
	c := &Counts{Sent: r.Sent, Expected: r.Expected, Redirects: r.Redirects, Outcomes: outcomes(&r.Outcomes), StatusCodes: maps.Clone(r.StatusCodes)}
	if knowsDue {
		c.Due = &r.Due
	}
	for o, message := range r.Errors {
		if c.Errors == nil {
			c.Errors = map[string]string{}
		}
		c.Errors[o.String()] = message
	}
	return c
}

// outcomes are the counts of those that occurred, by name.
func outcomes(counts *[measure.NumOutcomes]int64) map[string]int64 {
	var named map[string]int64
	for o, n := range counts {
		if n == 0 {
			continue
		}
		if named == nil {
			named = map[string]int64{}
		}
		named[measure.Outcome(o).String()] = n
	}
	return named
}

// Decode is the histogram itself; it is empty for a nil.
func (h *Histogram) Decode() (*measure.Histogram, error) {
	if h == nil {
		return measure.NewHistogram(), nil
	}
	return measure.DecodeHistogram(h.HDR, h.Clamped)
}

// NewSeries is the series of so many workers, of points of that width.
func NewSeries(s *measure.Series, width time.Duration, workers int) *Series {
	last := len(s.Points) - 1
	point := func(i int) Point {
		p := newPoint(&s.Points[i])
		if s.CountsConnections {
			p.FirstOnConnection = &s.Points[i].FirstOnConnection
		}
		return p
	}
	all := &Series{Seconds: int(width / time.Second), Workers: workers, Points: make([]Point, 0, last), After: point(last)}
	empty := measure.Point{}
	for last > 0 && s.Points[last-1] == empty {
		last--
	}
	for i := range last {
		all.Points = append(all.Points, point(i))
	}
	return all
}

// NewOutstanding is what was outstanding in a step whose slots are of that width; nil if that
// is not known.
func NewOutstanding(t *measure.Timeline, slot time.Duration) *Outstanding {
	if t == nil || slot < time.Microsecond {
		return nil
	}
	last := len(t.Outstanding)
	for last > 0 && t.Outstanding[last-1] == 0 {
		last--
	}
	return &Outstanding{SlotMicros: slot.Microseconds(), Requests: append([]int64{}, t.Outstanding[:last]...)}
}

func newPoint(p *measure.Point) Point {
	to := Point{Due: p.Due, Sent: p.Sent, Completed: p.Completed(), Expected: p.Expected, Outcomes: outcomes(&p.Outcomes)}
	to.P50, to.P95, to.P99 = quantile(p, 0.50), quantile(p, 0.95), quantile(p, 0.99)
	if p.Ended() > 0 {
		longest := p.Longest.Microseconds()
		to.Longest = &longest
	}
	return to
}

func quantile(p *measure.Point, q float64) *int64 {
	d, ok := p.Quantile(q)
	if !ok {
		return nil
	}
	micros := d.Microseconds()
	return &micros
}

// check validates what was read.
func (s *Step) check() error {
	if s.Format != Format {
		return fmt.Errorf("format: %q, want %q", s.Format, Format)
	}
	if s.Due < 0 || s.Sent < 0 {
		return fmt.Errorf("due %d and sent %d: must not be negative", s.Due, s.Sent)
	}
	for i := range s.Requests {
		if err := errors.Join(s.Requests[i].checkTraces(), s.Requests[i].Counts.check(), s.Requests[i].Streams.check()); err != nil {
			return fmt.Errorf("requests[%d].%w", i, err)
		}
		for name, h := range map[string]*Histogram{"response": s.Requests[i].Response, "service": s.Requests[i].Service, "withoutGenerator": s.Requests[i].WithoutGenerator} {
			if _, err := h.Decode(); err != nil {
				return fmt.Errorf("requests[%d].%s: %w", i, name, err)
			}
		}
	}
	if _, err := s.Expected.Decode(); err != nil {
		return fmt.Errorf("expected: %w", err)
	}
	if s.Outstanding != nil {
		if err := s.Outstanding.check(); err != nil {
			return err
		}
	}
	for i := range s.Usage {
		if err := s.Usage[i].check(); err != nil {
			return fmt.Errorf("usage[%d].%w", i, err)
		}
	}
	if s.Series == nil {
		return nil
	}
	return s.Series.check()
}

// check says whether each that was sent has one outcome.
func (c *Counts) check() error {
	if c == nil {
		return nil
	}
	var ended, responses int64
	for _, n := range c.Outcomes {
		if n < 0 || ended+n < ended {
			return fmt.Errorf("counts.outcomes: they do not add up")
		}
		ended += n
	}
	for _, n := range c.StatusCodes {
		if n < 0 || responses+n < responses {
			return fmt.Errorf("counts.statusCodes: they do not add up")
		}
		responses += n
	}
	if ended != c.Sent || c.Expected < 0 || c.Expected > c.Sent || responses > c.Sent || c.Due != nil && *c.Due < c.Sent {
		return fmt.Errorf("counts: they do not add up")
	}
	return nil
}

func (o *Outstanding) check() error {
	if o.SlotMicros < 1 {
		return fmt.Errorf("outstanding: slots of %d microseconds, must be of at least one", o.SlotMicros)
	}
	for i, n := range o.Requests {
		if n < 0 {
			return fmt.Errorf("outstanding.requests[%d]: %d, must not be negative", i, n)
		}
	}
	return nil
}

func (s *Series) check() error {
	if s.Seconds < 1 {
		return fmt.Errorf("series: %d points of %d seconds, must be of at least one", len(s.Points), s.Seconds)
	}
	for i := range s.Points {
		if !s.Points[i].isPlausible() {
			return fmt.Errorf("series.points[%d]: it does not add up", i)
		}
	}
	if !s.After.isPlausible() {
		return fmt.Errorf("series.after: it does not add up")
	}
	return nil
}

// isPlausible says whether no count is negative, and none more than what it is part of.
func (p *Point) isPlausible() bool {
	var ended int64
	for _, n := range p.Outcomes {
		if n < 0 || ended+n < ended {
			return false
		}
		ended += n
	}
	if n := p.FirstOnConnection; n != nil && (*n < 0 || *n > p.Completed) {
		return false
	}
	return p.Due >= 0 && p.Sent >= 0 && 0 <= p.Expected && p.Expected <= p.Completed && p.Completed <= ended
}
