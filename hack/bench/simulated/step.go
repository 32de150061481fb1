package simulated

import (
	"errors"
	"math"
	"math/rand/v2"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/measure/wire"
)

const (
	// firstSnapshot and snapshotEvery are when a worker reports.
	firstSnapshot = 200 * time.Millisecond
	snapshotEvery = time.Second
)

// step is a step of paced users in which every request is answered, after 20 ms or so.
type step struct {
	index    int32
	start    time.Time // that the operator chose
	length   time.Duration
	users    int64 // of this worker
	total    int64 // its requests
	began    time.Time
	due      time.Time // for what is to be done next
	sequence int64
	final    bool
	measured *measure.Measurement
	series   *measure.Series
	random   *rand.Rand
}

func newStep(a *workerv1.Assignment, start *workerv1.StartStep) (*step, error) {
	for _, planned := range a.GetSteps() {
		load := planned.GetPacedUsers()
		if planned.GetIndex() != start.GetStep() || load == nil {
			continue
		}
		length := time.Duration(load.GetDurationNanos())
		perUser := float64(load.GetTotalRateMicros()) / 1e6 * length.Seconds() / float64(planned.GetTotal())
		at := time.Unix(0, start.GetStartUnixNanos())
		return &step{
			index: planned.GetIndex(), start: at, due: at, length: length,
			users:    planned.GetShare().GetCount(),
			total:    int64(math.Round(float64(planned.GetShare().GetCount()) * perUser)),
			measured: measure.NewMeasurement(len(a.GetRequests())),
			series:   measure.NewSeries(length),
			random:   newRandom(uint64(a.GetWorker()), uint64(planned.GetIndex())),
		}, nil
	}
	return nil, errors.New("a step of paced users is not in the assignment")
}

func newRandom(a, b uint64) *rand.Rand { return rand.New(rand.NewPCG(a, b)) }

// snapshot is all that was measured until now. After the final one it is the same.
func (s *step) snapshot(now time.Time) (*workerv1.Snapshot, error) {
	if !s.final {
		elapsed := min(now.Sub(s.began), s.length)
		s.final = elapsed == s.length
		s.sequence++
		s.record(elapsed)
	}
	s.due = now.Add(min(snapshotEvery, max(0, s.length-now.Sub(s.began))))
	if s.final { // until it is acknowledged, in case that it was lost
		s.due = now.Add(10 * snapshotEvery)
	}
	measured, err := wire.Encode(s.measured)
	if err != nil {
		return nil, err
	}
	if s.final {
		measured.Series = wire.EncodeSeries(s.series)
	}
	return &workerv1.Snapshot{Step: s.index, Sequence: s.sequence, Final: s.final, Measurement: measured}, nil
}

// record adds what came since the last snapshot.
func (s *step) record(elapsed time.Duration) {
	const typical, spread = 20e-3, 0.5 // seconds, and the deviation of their logarithm
	m := s.measured
	due := int64(float64(s.total) * float64(elapsed) / float64(s.length))
	r := &m.Requests[0]
	p := &s.series.Points[max(0, elapsed-1)/measure.PointWidth(s.length)]
	for range due - m.Due {
		latency := time.Duration(typical * math.Exp(spread*s.random.NormFloat64()) * float64(time.Second))
		r.Response.Record(latency)
		r.Service.Record(latency)
		p.Times[measure.TimeSlot(latency)]++
		p.Longest = max(p.Longest, latency)
		m.Lateness.Record(time.Microsecond)
	}
	n := due - m.Due
	m.Due = due
	m.Window, m.FirstStart, m.LastStart = elapsed, s.began, s.began
	m.Transport, m.Engine = "simulated", "simulated"
	r.Sent, r.Expected, r.CompletedInWindow, r.ExpectedInWindow = r.Sent+n, r.Expected+n, r.CompletedInWindow+n, r.ExpectedInWindow+n
	r.Outcomes[measure.Success] += n
	p.Due, p.Sent, p.Expected, p.Outcomes[measure.Success] = p.Due+n, p.Sent+n, p.Expected+n, p.Outcomes[measure.Success]+n
	if n > 0 {
		r.CountStatus(200, n)
	}
	m.UserTime = elapsed * time.Duration(s.users)
	if s.final {
		m.Timeline = s.timeline()
	}
}

// timeline is the course of the whole step, in which each request was answered at once.
func (s *step) timeline() *measure.Timeline {
	var line measure.Timeline
	for i := range line.Answered {
		line.Answered[i] = s.total*int64(i+1)/measure.TimelineSlots - s.total*int64(i)/measure.TimelineSlots
	}
	return &line
}
