package wire

import (
	"fmt"
	"maps"
	mathrand "math/rand"
	"math/rand/v2"
	"reflect"
	"testing"
	"testing/quick"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// requests is how many requests the plan of a randomMeasurement has.
const requests = 2

// randomMeasurement is a step as a worker may measure it: it adds up.
type randomMeasurement struct{ *measure.Measurement }

func (randomMeasurement) Generate(src *mathrand.Rand, size int) reflect.Value {
	rng := rand.New(rand.NewPCG(src.Uint64(), src.Uint64()))
	s := measure.NewMeasurement(requests)
	for i := range s.Requests {
		randomRequest(rng, &s.Requests[i], s.Lateness, rng.IntN(10*size+1))
	}
	for range min(rng.Int64N(5), s.Lateness.Count()) {
		s.ReadLateness.Record(time.Duration(rng.Int64N(int64(time.Minute))))
	}
	for i := range s.Requests {
		s.Due += s.Requests[i].Due
		s.Unsent += s.Requests[i].Due - s.Requests[i].Sent
	}
	s.UnsentByGenerator = rng.Int64N(s.Unsent + 1)
	s.Sessions.Started = rng.Int64N(s.Due - s.Unsent + 1)
	s.Sessions.Due = s.Sessions.Started + rng.Int64N(s.Unsent+1)
	s.Window, s.ClockError = time.Duration(rng.Int64N(1e12)), time.Duration(rng.Int64N(1e6))
	s.UserTime, s.BurstSpread = s.Window*time.Duration(rng.Int64N(1e6)), time.Duration(rng.Int64N(1e9))
	s.Waited, s.HeldUp = s.UserTime/time.Duration(1+rng.IntN(9)), s.UserTime/time.Duration(1+rng.IntN(9))
	randomTimeline(rng, s)
	s.ConnectionsOpened, s.Reused = rng.Int64N(1e6), rng.Int64N(1e6)
	if rng.IntN(10) > 0 {
		s.FirstStart = time.Unix(0, 1+rng.Int64N(1<<60)).UTC()
		s.LastStart = s.FirstStart
	}
	for o := measure.RateLimited; int(o) < measure.NumOutcomes; o++ {
		if rng.IntN(3) == 0 {
			if s.Requests[0].Errors == nil {
				s.Requests[0].Errors = map[measure.Outcome]string{}
			}
			s.Requests[0].Errors[o] = "message of " + o.String()
		}
	}
	if rng.IntN(3) > 0 {
		throttled := time.Duration(rng.Int64N(1e12))
		s.Health = measure.Health{
			CPUThrottled: throttled, CPUThrottledMax: throttled, CPU: time.Duration(rng.Int64N(1e12)), GCPauseMax: time.Duration(rng.Int64N(1e9)),
			Stalled: 2 * throttled, StalledMax: 2 * throttled,
			RunQueueWait: 3 * throttled, RunQueueWaitMax: 3 * throttled,
			DescriptorsExhausted: rng.Int64N(1e6), PortsExhausted: rng.Int64N(1e6),
		}
		s.Transport = []string{"http1", "net/http HTTP/2"}[rng.IntN(2)]
		s.Engine = []string{"event loops", "goroutines"}[rng.IntN(2)]
	}
	if rng.IntN(2) == 0 {
		s.ConnectionsOpened, s.OpenedInWindow, s.Handshakes = 9, rng.Int64N(9), measure.NewHistogram()
		s.Handshakes.Record(time.Duration(rng.Int64N(int64(time.Hour))))
		s.ResumedHandshakes = rng.Int64N(2)
	}
	randomJourneys(rng, s)
	randomClients(rng, s)
	return reflect.ValueOf(randomMeasurement{s})
}

// randomJourneys has no more journeys begun than there are requests.
func randomJourneys(rng *rand.Rand, s *measure.Measurement) {
	s.Journeys = measure.NewJourneys(2)
	for i := range s.Journeys {
		j := &s.Journeys[i]
		for range s.Requests[i].Sent {
			j.Started, j.Due = j.Started+1, j.Due+1
			if rng.IntN(2) == 0 {
				j.LeaveOut(rng.IntN(4))
			}
			switch took := time.Duration(rng.Int64N(int64(time.Hour))); rng.IntN(4) {
			case 0:
				step := rng.IntN(3)
				j.Fail(step)
				j.Excused += rng.Int64N(2)
				if rng.IntN(2) == 0 {
					j.FailByCondition(step, fmt.Sprintf("until never held in %d tries", 2+rng.IntN(3)))
				}
			case 1:
				j.Unfinished.Record(took)
			case 2:
				j.Complete(took, took/time.Duration(1+rng.IntN(2)))
			}
		}
	}
}

func randomRequest(rng *rand.Rand, r *measure.Request, lateness *measure.Histogram, n int) {
	r.Ideal = measure.NewHistogram()
	for range n {
		o := measure.Outcome(rng.IntN(measure.NumOutcomes))
		r.Sent++
		r.Outcomes[o]++
		if o.Responded() {
			r.CountStatus([]int{measure.GRPCOK, measure.MaxGRPC, measure.MinStatus, 200, 503, measure.MaxStatus}[rng.IntN(6)], 1)
		}
		// All magnitudes, and some above an hour.
		d := time.Duration(rng.Int64N(1 << (1 + rng.IntN(43))))
		if o != measure.Unfinished {
			ideal := d / time.Duration(1+rng.IntN(2))
			r.Ideal.Record(ideal)
			r.Response.Record(d)
			r.Service.Record(d / 2)
			if o != measure.Success {
				r.Failed.Record(d, d/2, ideal)
			}
		}
		lateness.Record(d / 1000)
		if rng.IntN(2) == 0 {
			randomTrace(rng, r, o, d)
		}
		if o.Responded() && rng.IntN(2) == 0 {
			r.CompletedInWindow++
			if o == measure.Success {
				r.ExpectedInWindow++
			}
		}
	}
	r.Expected = r.Outcomes[measure.Success]
	r.Late = rng.Int64N(r.Sent + 1)
	onTime := rng.Int64N(r.Expected + 1)
	r.Due = r.Sent + rng.Int64N(100)
	r.OnTime, r.Overdue = []int64{onTime, r.Expected}, []int64{r.Due, rng.Int64N(r.Due + 1)}
	if rng.IntN(2) == 0 {
		r.IdealOnTime = []int64{r.Expected, r.Expected}
	}
	r.Displaced, r.Undecided = rng.Int64N(r.Sent+1), rng.Int64N(r.Outcomes[measure.Unfinished]+1)
	r.Excused = rng.Int64N(r.Outcomes[measure.Timeout] + 1)
	randomStreams(rng, r)
	r.Redirects = rng.Int64N(10*r.Sent + 1)
}

func randomStreams(rng *rand.Rand, r *measure.Request) {
	if rng.IntN(3) == 0 {
		return
	}
	r.Streams = measure.NewStreams()
	r.Streams.OnTime, r.Streams.IdealOnTime = []int64{rng.Int64N(r.Successes() + 1)}, []int64{rng.Int64N(r.Successes() + 1)}
	if r.Streams.Tokened = rng.Int64N(r.ExpectedInWindow + 1); r.Streams.Tokened > 0 {
		r.Streams.InputTokens, r.Streams.OutputTokens = rng.Int64N(1000), rng.Int64N(1000)
	}
	for range r.Sent {
		for t := range measure.StreamTime(measure.NumStreamTimes) {
			d := time.Second + time.Duration(rng.Int64N(int64(time.Hour)))
			if r.Streams.Events++; rng.IntN(2) == 0 {
				r.Streams.InWindow++
			}
			r.Streams.Record(t, d, d/2)
		}
	}
}

// randomTimeline has no more outstanding than was due, and no more answered than completed.
func randomTimeline(rng *rand.Rand, s *measure.Measurement) {
	if rng.IntN(3) == 0 {
		return
	}
	s.Timeline = &measure.Timeline{}
	for i := range s.Requests {
		for range s.Requests[i].Completed() {
			s.Timeline.Answered[rng.IntN(measure.TimelineSlots)]++
		}
	}
	if s.Due > 0 {
		for range 20 {
			slot := rng.IntN(measure.TimelineSlots)
			s.Timeline.Outstanding[slot] = rng.Int64N(s.Due)
			s.Timeline.Unsent[slot] = rng.Int64N(s.Timeline.Outstanding[slot] + 1)
		}
	}
}

func randomTrace(rng *rand.Rand, r *measure.Request, o measure.Outcome, d time.Duration) {
	x := measure.Trace{Outcome: o, Expected: o == measure.Success, Response: d, Service: d / 2}
	for i := range x.ID {
		x.ID[i] = byte(rng.Uint32())
	}
	if o.Responded() || o == measure.BadResponse {
		x.Status = []int{measure.MinStatus, measure.MaxStatus}[rng.IntN(2)]
	}
	r.Sampled++
	r.Traces.Add(x)
}

// randomClients divides what was sent between some clients.
func randomClients(rng *rand.Rand, s *measure.Measurement) {
	left := s.Requests[0].Sent
	for _, name := range []string{"10.0.0.1", "größe", ""} {
		if left == 0 || rng.IntN(2) == 0 {
			continue
		}
		l := &measure.Ledger{}
		for ; left > 0 && rng.IntN(20) > 0; left-- {
			sent := time.Duration(rng.Int64N(1e9))
			l.Record(rng.IntN(measure.MaxSlices), sent, sent+time.Duration(rng.Int64N(1e9)), measure.Outcome(rng.IntN(measure.NumOutcomes)))
		}
		if s.Clients == nil {
			s.Clients = measure.NewClients(measure.MaxLedgerBytes)
		}
		s.Clients.Add(name, l)
	}
	if s.Clients != nil {
		s.Clients.Untracked = rng.Int64N(left + 1)
	}
}

func TestRoundTrip(t *testing.T) {
	property := func(in randomMeasurement) bool {
		out, err := Decode(travel(t, in.Measurement), requests)
		if err != nil {
			t.Error(err)
			return false
		}
		diff := cmp.Diff(flat(t, in.Measurement), flat(t, out))
		if diff != "" {
			t.Errorf("after the round trip (-want +got):\n%s", diff)
		}
		return diff == ""
	}
	if err := quick.Check(property, &quick.Config{MaxCount: 20}); err != nil {
		t.Error(err)
	}
}

// TestMergeIsThatOfMeasurements holds Merge against measure's own.
func TestMergeIsThatOfMeasurements(t *testing.T) {
	property := func(in [4]randomMeasurement) bool {
		want := measure.NewMeasurement(requests)
		want.Journeys = measure.NewJourneys(len(in[0].Journeys))
		var readings []*Reading
		for _, s := range in {
			s.Clients = nil // which are read apart
			must.Succeed(t, want.Merge(s.Measurement))
			r, err := Read(travel(t, s.Measurement), requests)
			must.Succeed(t, err)
			readings = append(readings, r)
		}
		got, err := Merge(requests, readings...)
		if err != nil {
			t.Error(err)
			return false
		}
		again, err := Merge(requests, readings[3], readings[1], readings[0], readings[2])
		if err != nil {
			t.Error(err)
			return false
		}
		diff := cmp.Diff(flat(t, want), flat(t, got)) + cmp.Diff(flat(t, got), flat(t, again))
		if diff != "" {
			t.Errorf("merged (-want +got):\n%s", diff)
		}
		return diff == ""
	}
	if err := quick.Check(property, &quick.Config{MaxCount: 5}); err != nil {
		t.Error(err)
	}
}

func TestMergeOfNothing(t *testing.T) {
	got, err := Merge(requests)
	must.Succeed(t, err)
	same.As(t, "merge of nothing", flat(t, measure.NewMeasurement(requests)), flat(t, got))
}

// Workers of one plan have the same journeys.
func TestMergeRefusesOtherJourneys(t *testing.T) {
	read := func(journeys int, groups ...int32) *Reading {
		s := measure.NewMeasurement(1)
		s.Journeys = measure.NewJourneys(journeys)
		r, err := ReadGroups(grouped(t, s, groups), 1, groups)
		must.Succeed(t, err)
		return r
	}
	for name, readings := range map[string][]*Reading{
		"of each request": {read(1), read(2)}, "of groups": {read(1, 0), read(2, 0)},
		"of both": {read(1, 0), read(1), read(2)}, "of each other": {read(1, 0), read(2)},
	} {
		if got, err := Merge(1, readings...); err == nil {
			t.Errorf("%s: merged as %+v", name, got)
		}
	}
}

// oneSuccess is a measurement of one request that was answered as expected.
func oneSuccess() *measure.Measurement {
	s := measure.NewMeasurement(1)
	s.Due, s.Requests[0].Sent, s.Requests[0].Expected, s.Requests[0].Outcomes[measure.Success] = 1, 1, 1, 1
	s.Requests[0].Response.Record(time.Millisecond)
	s.Requests[0].Service.Record(time.Millisecond)
	return s
}

func TestMergeLeavesTheReadingsAlone(t *testing.T) {
	r, err := Read(travel(t, oneSuccess()), 1)
	must.Succeed(t, err)
	for range 3 {
		got, err := Merge(1, r, r)
		must.Succeed(t, err)
		if got.Requests[0].Response.Count() != 2 {
			t.Fatalf("two of one: %+v", got)
		}
	}
}

func TestEncodeRefusesWhatAMessageCannotHold(t *testing.T) {
	s := measure.NewMeasurement(1)
	s.Clients = measure.NewClients(measure.MaxLedgerBytes)
	s.Clients.Add("\xff", &measure.Ledger{})
	if _, err := Encode(s); err == nil || err.Error() != `clients: names[0] is not UTF-8` {
		t.Errorf("Encode: %v", err)
	}
	s.Requests[0].Errors = map[measure.Outcome]string{measure.Timeout: "late"}
	for _, groups := range [][]int32{nil, {0}} {
		if _, err := EncodeGroups(s, groups, true); err == nil || s.Requests[0].Errors == nil {
			t.Errorf("EncodeGroups: %v; the errors of what is encoded are %v", err, s.Requests[0].Errors)
		}
	}
}

func TestEncodeIsDeterministic(t *testing.T) {
	s := measure.NewMeasurement(1)
	s.Requests[0].Errors = map[measure.Outcome]string{measure.Timeout: "b", measure.Other: "a", measure.ClientError: "c"}
	m, err := Encode(s)
	must.Succeed(t, err)
	var got []int32
	for _, e := range m.GetRequests()[0].GetErrors() {
		got = append(got, e.GetOutcome())
	}
	same.As(t, "order of errors", []int32{int32(measure.ClientError), int32(measure.Timeout), int32(measure.Other)}, got)
}

// travel is Encode and the way through bytes.
func travel(t *testing.T, s *measure.Measurement) *workerv1.StepMeasurement {
	t.Helper()
	m, err := Encode(s)
	must.Succeed(t, err)
	b, err := proto.Marshal(m)
	must.Succeed(t, err)
	arrived := &workerv1.StepMeasurement{}
	must.Succeed(t, proto.Unmarshal(b, arrived))
	return arrived
}

// flat is a step with its histograms as they are stored, to be compared.
func flat(t *testing.T, s *measure.Measurement) map[string]any {
	t.Helper()
	type counted struct {
		Encoded string
		Clamped int64
	}
	encode := func(h *measure.Histogram) counted {
		encoded, err := h.Encode()
		must.Succeed(t, err)
		return counted{encoded, h.Clamped()}
	}
	copied := *s
	copied.Requests, copied.Journeys = nil, nil
	copied.Lateness, copied.ReadLateness, copied.Handshakes, copied.Clients = nil, nil, nil, nil
	all := map[string]any{"step": copied, "lateness": encode(s.Lateness), "read lateness": encode(s.ReadLateness)}
	if s.Handshakes != nil {
		all["handshakes"] = encode(s.Handshakes)
	}
	var rs []measure.Request
	var histograms []counted
	for _, r := range s.Requests {
		histograms = append(histograms, encode(r.Response), encode(r.Service), encode(r.Ideally()))
		if r.Failed.Response != nil {
			histograms = append(histograms, encode(r.Failed.Response), encode(r.Failed.Service), encode(r.Failed.Ideally()))
		}
		r.Response, r.Service, r.Ideal, r.Failed = nil, nil, nil, measure.FailedTimes{}
		rs = append(rs, r)
	}
	var js []measure.Journey
	for _, j := range s.Journeys {
		histograms = append(histograms, encode(j.Time), encode(j.Unfinished), encode(j.Ideally()))
		j.Time, j.Unfinished, j.Ideal = nil, nil, nil
		js = append(js, j)
	}
	all["requests"], all["journeys"], all["histograms"] = rs, js, histograms
	if c := s.Clients; c != nil {
		all["clients"] = []any{maps.Collect(c.All()), c.Below(), c.Untracked, c.Unseen}
	}
	return all
}
