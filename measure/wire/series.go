package wire

import (
	"fmt"
	"slices"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// row are the numbers of a point, as many as there are: what was due, sent and expected,
// the outcomes, and the response times.
type row [rowSlots]int64

const (
	firstOutcome = 3
	firstTime    = firstOutcome + measure.NumOutcomes
	rowSlots     = firstTime + measure.TimeSlots
)

func rowOf(p *measure.Point) *row {
	var r row
	r[0], r[1], r[2] = p.Due, p.Sent, p.Expected
	copy(r[firstOutcome:], p.Outcomes[:])
	copy(r[firstTime:], p.Times[:])
	return &r
}

func (r *row) ended() (n int64) {
	for _, of := range r[firstOutcome:firstTime] {
		n += of
	}
	return n
}

func (r *row) completed() (n int64) {
	for o := measure.Success; o.Responded(); o++ {
		n += r[firstOutcome+int(o)]
	}
	return n
}

func (r *row) point(longest time.Duration) measure.Point {
	p := measure.Point{Due: r[0], Sent: r[1], Expected: r[2], Longest: longest}
	copy(p.Outcomes[:], r[firstOutcome:])
	copy(p.Times[:], r[firstTime:])
	return p
}

// EncodeSeries is one worker's series as it travels.
func EncodeSeries(s *measure.Series) *workerv1.Series {
	m := &workerv1.Series{Points: make([][]byte, len(s.Points)), LongestNanos: make([]int64, len(s.Points))}
	if s.CountsConnections {
		m.FirstOnConnection = make([]int64, len(s.Points))
		for i := range s.Points {
			m.FirstOnConnection[i] = s.Points[i].FirstOnConnection
		}
	}
	for i := range s.Points {
		m.Points[i] = encodeCounts(rowOf(&s.Points[i])[:])
		m.LongestNanos[i] = int64(s.Points[i].Longest)
	}
	return m
}

// AddSeries adds a worker's series to its measurement, unless it contradicts it: the
// whole measurement would be refused.
func AddSeries(m *workerv1.StepMeasurement, s *measure.Series) error {
	m.Series = EncodeSeries(s)
	_, err := readSeries(m, len(s.Points))
	if err != nil {
		m.Series = nil
	}
	return err
}

// Series are the series of some workers, added up. They stay as they came: point by
// point they are mostly zeros. The zero value is that of no worker.
type Series struct {
	workers int
	points  [][]byte
	longest []time.Duration
	opened  []int64 // FirstOnConnection of each; nil: a worker did not count it
}

// ReadSeries validates the series of a worker's final measurement, which Read has
// accepted, of a step whose window has that length; nil: it has none. The points add up
// to what was measured in the whole step. Of m it keeps the bytes of the points.
func ReadSeries(m *workerv1.StepMeasurement, window time.Duration) (*Series, error) {
	if m.GetSeries() == nil {
		return nil, nil
	}
	s, err := readSeries(m, measure.Points(window))
	if err != nil {
		return nil, fmt.Errorf("series: %w", err)
	}
	return s, nil
}

func readSeries(m *workerv1.StepMeasurement, points int) (*Series, error) {
	s := &Series{workers: 1, points: m.GetSeries().GetPoints(), longest: make([]time.Duration, points), opened: m.GetSeries().GetFirstOnConnection()}
	if n, l := len(s.points), len(m.GetSeries().GetLongestNanos()); n != points || l != points {
		return nil, fmt.Errorf("%d points and %d longest_nanos, the step has %d", n, l, points)
	}
	if n := len(s.opened); n != 0 && n != points {
		return nil, fmt.Errorf("%d of first_on_connection, the step has %d points", n, points)
	}
	var sum totals
	for i := range s.points {
		s.longest[i] = time.Duration(m.GetSeries().GetLongestNanos()[i])
		if err := s.readPoint(i, &sum); err != nil {
			return nil, fmt.Errorf("points[%d]: %w", i, err)
		}
	}
	return s, sum.compare(m)
}

// readPoint validates a point and adds its counts to the sum.
func (s *Series) readPoint(i int, sum *totals) error {
	const most = 5 * maxCount // due, sent, expected, and twice what ended
	if _, err := checkCountsOf(s.points[i], rowSlots, most); err != nil {
		return err
	}
	var r row
	histogram{counts: s.points[i]}.addTo(r[:])
	for slot := range sum {
		if sum[slot] += r[slot]; sum[slot] > maxCount {
			return fmt.Errorf("the points add up to %d, more than %d", sum[slot], int64(maxCount))
		}
	}
	if i < len(s.opened) && (s.opened[i] < 0 || s.opened[i] > r.completed()) {
		return fmt.Errorf("first_on_connection: %d of %d that completed", s.opened[i], r.completed())
	}
	return r.check(s.longest[i])
}

// check says whether there is a response time of each request that ended in a point, and
// whether the longest is one of them.
func (r *row) check(longest time.Duration) error {
	var timed int64
	highest := 0
	for slot, n := range r[firstTime:] {
		if timed += n; n > 0 {
			highest = slot
		}
	}
	switch {
	case timed != r.ended():
		return fmt.Errorf("%d response times of %d requests that ended", timed, r.ended())
	case longest < 0 || longest > maxSpan || measure.TimeSlot(longest) != highest:
		return fmt.Errorf("longest_nanos: %d is not the longest response time", longest)
	case r[2] > r.completed():
		return fmt.Errorf("expected: %d is more than completed, %d", r[2], r.completed())
	}
	return nil
}

// totals are the first numbers of all rows added up: what was due, sent and expected,
// and the outcomes.
type totals [firstTime]int64

// compare says whether they are what was measured in the step. A request that is
// unfinished did not end in any point.
func (sum *totals) compare(m *workerv1.StepMeasurement) error {
	whole := totals{m.GetDue()}
	for _, r := range m.GetRequests() {
		whole[1] += r.GetSent()
		whole[2] += r.GetExpected()
		for o, n := range r.GetOutcomes() {
			whole[firstOutcome+o] += n
		}
	}
	whole[firstOutcome+int(measure.Unfinished)] = 0
	if *sum != whole {
		return fmt.Errorf("the points add up to due, sent, expected, outcomes %v, the step has %v", *sum, whole)
	}
	return nil
}

// Add adds o, of other workers and the same step.
func (s *Series) Add(o *Series) {
	if s.workers == 0 {
		*s = o.Clone()
		return
	}
	s.workers += o.workers
	for i := range s.points {
		var sum row
		histogram{counts: s.points[i]}.addTo(sum[:])
		histogram{counts: o.points[i]}.addTo(sum[:])
		s.points[i] = appendCounts(make([]byte, 0, len(s.points[i])+len(o.points[i])), slices.All(sum[:]))
		s.longest[i] = max(s.longest[i], o.longest[i])
	}
	if len(o.opened) == 0 {
		s.opened = nil // what is left would be taken for all of it
	}
	for i := range s.opened {
		s.opened[i] += o.opened[i]
	}
}

// Clone is an independent copy.
func (s *Series) Clone() Series {
	return Series{s.workers, slices.Clone(s.points), slices.Clone(s.longest), slices.Clone(s.opened)}
}

// Workers is how many workers' series are added up.
func (s *Series) Workers() int { return s.workers }

// Size is about how many bytes it takes.
func (s *Series) Size() int {
	const each = 24 + 8 + 8 // a slice and two numbers
	n := each * len(s.points)
	for _, p := range s.points {
		n += len(p)
	}
	return n
}

// Series is the sum.
func (s *Series) Series() *measure.Series {
	all := &measure.Series{Points: make([]measure.Point, len(s.points)), CountsConnections: len(s.opened) > 0}
	for i := range all.Points {
		all.Points[i] = s.point(i)
		if all.CountsConnections {
			all.Points[i].FirstOnConnection = s.opened[i]
		}
	}
	return all
}

func (s *Series) point(i int) measure.Point {
	var r row
	histogram{counts: s.points[i]}.addTo(r[:])
	return r.point(s.longest[i])
}
