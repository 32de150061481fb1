package wire

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// What is at a bound is accepted, and so is a worker that does not report what was due of
// each request.
func TestAcceptsWhatIsAtABound(t *testing.T) {
	for name, change := range map[string]func(*workerv1.StepMeasurement){
		"as many journeys as a plan may have": func(m *workerv1.StepMeasurement) {
			for len(m.Journeys) < 16 {
				m.Journeys = append(m.Journeys, &workerv1.JourneyMeasurement{})
			}
		},
		"nothing is known to be due of a request": func(m *workerv1.StepMeasurement) { m.Requests[0].Due = 0 },
		"of each trace that is kept, all are slow": func(m *workerv1.StepMeasurement) {
			r := m.Requests[0]
			m.Due, r.Sent, r.Due, r.Sampled, r.Outcomes[0] = 100, 100, 0, int64(measure.MaxTraces), 96
			r.Response = &workerv1.Histogram{Counts: counts(key(1, 7), 93)}
			r.Service = r.Response
			r.Traces = slowTraces(measure.MaxTraces)
		},
		"a journey of as many steps as there may be": func(m *workerv1.StepMeasurement) {
			j, none := m.Journeys[0], make([]int64, measure.MaxJourneySteps-1)
			j.FailedIn, j.ByCondition, j.LeftOut = append([]int64{1}, none...), append([]int64{1}, none...), append([]int64{j.Started}, none...)
			j.Because = slices.Repeat([]string{strings.Repeat("x", 512)}, measure.MaxJourneySteps)
		},
		"a denial that is expected is traced": func(m *workerv1.StepMeasurement) { m.Requests[0].Traces.Expected[1] = true },
		"as many goals as a plan may have": func(m *workerv1.StepMeasurement) {
			s := m.Requests[0].Streams
			s.OnTime, s.IdealOnTime = make([]int64, measure.MaxStreamGoals), make([]int64, measure.MaxStreamGoals)
		},
		"the longest window":           func(m *workerv1.StepMeasurement) { m.WindowNanos = int64(maxSpan) },
		"the most connections":         func(m *workerv1.StepMeasurement) { m.ConnectionsOpened = maxCount },
		"the longest name of a client": func(m *workerv1.StepMeasurement) { m.Clients.Names[0] = strings.Repeat("x", measure.MaxClientBytes) },
		"as many times as there may be": func(m *workerv1.StepMeasurement) {
			m.Requests[0].OnTime, m.Requests[0].Overdue = make([]int64, maxTimes), make([]int64, maxTimes)
		},
		"as much is due of it as was sent": func(m *workerv1.StepMeasurement) { m.Requests[0].Due = 10 },
	} {
		m := honest(t)
		change(m)
		if _, err := Decode(m, 1); err != nil {
			t.Errorf("%s: refused: %v", name, err)
		}
	}
	many := measure.Streams{Tokened: maxCount} // 2^30 for each are more than 63 bits count
	if checkTokens("", maxCount, &many) != nil || checkTokens("", maxCount+1, &many) == nil {
		t.Error("as many tokens as may be are refused, or more are accepted")
	}
}

// Any whole response may be an expected one: a plan may ask for 429.
func TestSeriesMayExpectAnyResponse(t *testing.T) {
	for o := measure.Success; o.Responded(); o++ {
		s := measure.NewSeries(time.Second)
		p := &s.Points[0]
		p.Due, p.Sent, p.Expected, p.Outcomes[o], p.Longest = 1, 1, 1, 1, time.Millisecond
		p.Times[measure.TimeSlot(time.Millisecond)] = 1
		m := &workerv1.StepMeasurement{Due: 1, Series: EncodeSeries(s), Requests: []*workerv1.RequestMeasurement{{Sent: 1, Expected: 1, Outcomes: p.Outcomes[:]}}}
		if _, err := ReadSeries(m, time.Second); err != nil {
			t.Errorf("%s: refused: %v", o, err)
		}
	}
}

// The operator bounds what it keeps by these sizes: each part that is kept counts.
func TestSizesCountEachPart(t *testing.T) {
	type message = workerv1.StepMeasurement
	read := func(change func(*message)) int {
		t.Helper()
		m := honest(t)
		change(m)
		r, err := Read(m, 1)
		must.Succeed(t, err)
		return r.Size()
	}
	const least, steps, because = 16, measure.MaxJourneySteps, "if: it is so"
	asItIs := func(*message) {}
	for name, part := range map[string]struct {
		without, with func(*message)
		least         int
	}{
		"7 status codes": {func(m *message) { m.Requests[0].StatusCodes = nil }, func(m *message) {
			m.Requests[0].StatusCodes = map[int32]int64{200: 1, 201: 1, 202: 1, 203: 1, 204: 1, 206: 1, 429: 4}
		}, 7 * least},
		"3 traces":   {func(m *message) { m.Requests[0].Traces = nil }, asItIs, 3 * least},
		"an error":   {func(m *message) { m.Requests[0].Errors = nil }, asItIs, measure.MaxErrorBytes},
		"streams":    {func(m *message) { m.Requests[0].Streams = nil }, asItIs, measure.NumStreamTimes},
		"a timeline": {asItIs, func(m *message) { m.Timeline = fromTimeline(&measure.Timeline{}) }, 3 * measure.TimelineSlots * 8},
		"times within which requests are on time": {asItIs, func(m *message) {
			q := m.Requests[0]
			q.OnTime, q.IdealOnTime, q.Overdue = make([]int64, maxTimes), make([]int64, maxTimes), make([]int64, maxTimes)
		}, 3 * maxTimes * 8},
		"a journey, and what became of another in its steps": {asItIs, func(m *message) {
			j := m.Journeys[0]
			j.FailedIn, j.ByCondition, j.LeftOut = make([]int64, steps), make([]int64, steps), make([]int64, steps)
			j.FailedIn[0], j.Because = 1, slices.Repeat([]string{because}, steps)
			m.Journeys = append(m.Journeys, &workerv1.JourneyMeasurement{})
		}, int(unsafe.Sizeof(measure.Journey{})) + perJourney*int(unsafe.Sizeof(histogram{})) + steps*(3*8+16+len(because))},
	} {
		if size := read(part.with) - read(part.without); size < part.least {
			t.Errorf("%s: %d bytes, at least %d", name, size, part.least)
		}
	}
	none := read(asItIs)
	if least := int(unsafe.Sizeof(measure.Request{})); none < least {
		t.Errorf("a request takes %d bytes, at least %d", none, least)
	}
	var s Series
	m := &workerv1.StepMeasurement{Series: EncodeSeries(measure.NewSeries(time.Minute)), Requests: []*workerv1.RequestMeasurement{{}}}
	if one, err := ReadSeries(m, time.Minute); err != nil {
		t.Fatal(err)
	} else {
		s.Add(one)
	}
	points := s.Size()
	if s.points[0] = make([]byte, 100); s.Size() != points+100 {
		t.Errorf("a point of 100 bytes takes %d", s.Size()-points)
	}
	if got := s.Size(); got < 60*least {
		t.Errorf("60 points take %d bytes, at least %d each", got, least)
	}
}
