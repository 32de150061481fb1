package wire

import (
	"maps"
	"slices"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// Encode is one worker's measurement as it travels. It fails only for what a message
// cannot hold. A worker begins a step once, so that its LastStart is not sent.
func Encode(s *measure.Measurement) (*workerv1.StepMeasurement, error) {
	return (*packing)(nil).encode(s)
}

func (p *packing) encode(s *measure.Measurement) (*workerv1.StepMeasurement, error) {
	m := &workerv1.StepMeasurement{
		Requests:          make([]*workerv1.RequestMeasurement, len(s.Requests)),
		Journeys:          p.fromJourneys(s.Journeys),
		Lateness:          p.fromHistogram(s.Lateness),
		ReadLateness:      p.fromHistogram(s.ReadLateness),
		Due:               s.Due,
		Unsent:            s.Unsent,
		UnsentWithoutRoom: s.UnsentWithoutRoom,
		ConnectionsOpened: s.ConnectionsOpened,
		OpenedInWindow:    s.OpenedInWindow,
		Handshakes:        p.fromHistogram(s.Handshakes),
		ResumedHandshakes: s.ResumedHandshakes,
		Reused:            s.Reused,
		StartUnixNanos:    fromTime(s.FirstStart),
		WindowNanos:       int64(s.Window),
		ClockErrorNanos:   int64(s.ClockError),
		Health:            fromHealth(s.Health),
		Transport:         text.Clean(s.Transport, measure.MaxErrorBytes),
		Engine:            text.Clean(s.Engine, measure.MaxErrorBytes),
		UnsentByGenerator: s.UnsentByGenerator,
		SessionsDue:       s.Sessions.Due,
		SessionsStarted:   s.Sessions.Started,
		UserTimeNanos:     int64(s.UserTime),
		WaitedNanos:       int64(s.Waited),
		HeldUpNanos:       int64(s.HeldUp),
		BurstSpreadNanos:  int64(s.BurstSpread),
		Timeline:          fromTimeline(s.Timeline),
		Replay:            fromReplay(s.Replay),
	}
	for i := range s.Requests {
		m.Requests[i] = p.fromRequest(&s.Requests[i])
	}
	var err error
	m.Clients, err = fromClients(s.Clients)
	return m, err
}

func (p *packing) fromRequest(r *measure.Request) *workerv1.RequestMeasurement {
	return &workerv1.RequestMeasurement{
		Sent:              r.Sent,
		Expected:          r.Expected,
		Late:              r.Late,
		CompletedInWindow: r.CompletedInWindow,
		ExpectedInWindow:  r.ExpectedInWindow,
		Outcomes:          slices.Clone(r.Outcomes[:]),
		StatusCodes:       fromStatusCodes(r.StatusCodes),
		Response:          p.fromHistogram(r.Response),
		Service:           p.fromHistogram(r.Service),
		Due:               r.Due,
		OnTime:            slices.Clone(r.OnTime),
		Overdue:           slices.Clone(r.Overdue),
		FailedResponse:    p.fromHistogram(r.Failed.Response),
		FailedService:     p.fromHistogram(r.Failed.Service),
		Sampled:           r.Sampled,
		Traces:            fromTraces(r.Traces),
		Ideal:             p.fromIdeal(r.Ideal, r.Response),
		FailedIdeal:       p.fromIdeal(r.Failed.Ideal, r.Failed.Response),
		IdealOnTime:       slices.Clone(r.IdealOnTime),
		Displaced:         r.Displaced,
		Undecided:         r.Undecided,
		Excused:           r.Excused,
		Errors:            fromErrors(r.Errors),
		Redirects:         r.Redirects,
		Streams:           p.fromStreams(r.Streams),
	}
}

func fromStatusCodes(codes measure.StatusCodes) map[int32]int64 {
	m := make(map[int32]int64, len(codes))
	for code, n := range codes {
		m[int32(code)] = n
	}
	return m
}

// fromErrors lists the messages by class, so that equal measurements give equal bytes.
func fromErrors(errs map[measure.Outcome]string) []*workerv1.ErrorSample {
	var samples []*workerv1.ErrorSample
	for _, class := range slices.Sorted(maps.Keys(errs)) {
		samples = append(samples, &workerv1.ErrorSample{Outcome: int32(class), Message: text.Clean(errs[class], measure.MaxErrorBytes)})
	}
	return samples
}

func fromTime(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// fromHealth leaves out that of a step that has not begun.
func fromHealth(h measure.Health) *workerv1.GeneratorHealth {
	if h == (measure.Health{}) {
		return nil
	}
	return &workerv1.GeneratorHealth{
		CpuThrottledNanos:    int64(h.CPUThrottled),
		CpuNanos:             int64(h.CPU),
		RunQueueWaitNanos:    int64(h.RunQueueWait),
		StalledNanos:         int64(h.Stalled),
		GcPauseMaxNanos:      int64(h.GCPauseMax),
		DescriptorsExhausted: h.DescriptorsExhausted,
		PortsExhausted:       h.PortsExhausted,
	}
}
