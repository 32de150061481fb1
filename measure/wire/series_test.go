package wire

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

const seriesWindow = 3 * time.Second

// seriesOf is a series, and the measurement of the step that it is of.
func seriesOf(t testing.TB, rng *rand.Rand, requests int) (*measure.Series, *workerv1.StepMeasurement) {
	t.Helper()
	all := measure.NewSeries(seriesWindow)
	whole := measure.NewMeasurement(1)
	r := &whole.Requests[0]
	for range requests {
		p := &all.Points[rng.IntN(len(all.Points))]
		took := time.Duration(rng.Int64N(1 << (1 + rng.IntN(43))))
		o := measure.Outcome(rng.IntN(measure.NumOutcomes))
		p.Due, p.Sent, r.Sent = p.Due+1, p.Sent+1, r.Sent+1
		r.Outcomes[o]++
		if o == measure.Unfinished {
			continue
		}
		r.Response.Record(took)
		p.Outcomes[o]++
		p.Times[measure.TimeSlot(took)]++
		p.Longest = max(p.Longest, took)
		if o.Responded() && r.Sent%3 == 0 {
			p.FirstOnConnection++
		}
		if o == measure.Success {
			p.Expected, r.Expected = p.Expected+1, r.Expected+1
		}
	}
	whole.Due = r.Sent
	m, err := Encode(whole)
	must.Succeed(t, err)
	m.Series = EncodeSeries(all)
	return all, m
}

// The sum of several workers' series is that of their points, whatever their order.
func TestSeriesTravelAndAddUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	want := measure.NewSeries(seriesWindow)
	var sum, reverse Series
	var all []*Series
	for n := range 5 {
		one, m := seriesOf(t, rng, 300*n)
		got, err := ReadSeries(m, seriesWindow)
		must.Succeed(t, err)
		same.As(t, "after the way", one, got.Series())
		for i := range want.Points {
			p, o := rowOf(&want.Points[i]), rowOf(&one.Points[i])
			for slot := range p {
				p[slot] += o[slot]
			}
			first := want.Points[i].FirstOnConnection + one.Points[i].FirstOnConnection
			want.Points[i] = p.point(max(want.Points[i].Longest, one.Points[i].Longest))
			want.Points[i].FirstOnConnection = first
		}
		all = append(all, got)
		sum.Add(got)
	}
	for i := range all {
		reverse.Add(all[len(all)-1-i])
	}
	for name, got := range map[string]Series{"forwards": sum, "backwards": reverse} {
		if diff := cmp.Diff(want, got.Series()); diff != "" || got.Workers() != 5 {
			t.Errorf("added up %s, of %d workers (-want +got):\n%s", name, got.Workers(), diff)
		}
	}
}

// A worker of an older image does not count new connections: then they are not known of the sum.
func TestConnectionsOfAnOlderWorkerAreNotKnown(t *testing.T) {
	_, m := seriesOf(t, rand.New(rand.NewPCG(11, 12)), 100)
	counts, err := ReadSeries(m, seriesWindow)
	must.Succeed(t, err)
	m.Series.FirstOnConnection = nil
	lacks, err := ReadSeries(m, seriesWindow)
	must.Succeed(t, err)
	for name, of := range map[string][]*Series{"the first": {lacks, counts}, "the last": {counts, lacks}, "the only one": {lacks}} {
		var sum Series
		for _, s := range of {
			sum.Add(s)
		}
		all := sum.Series()
		for i := range all.Points {
			if all.CountsConnections || all.Points[i].FirstOnConnection != 0 {
				t.Errorf("%s: point %d has %d new connections, known: %t", name, i, all.Points[i].FirstOnConnection, all.CountsConnections)
			}
		}
	}
	if m := EncodeSeries(lacks.Series()); m.FirstOnConnection != nil {
		t.Errorf("what is not known is sent as %v", m.FirstOnConnection)
	}
	if !counts.Series().CountsConnections {
		t.Error("what was added is not known any more")
	}
}

// What was copied does not change with what is added.
func TestAddingLeavesACopyAsItWas(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	one, m := seriesOf(t, rng, 100)
	read, err := ReadSeries(m, seriesWindow)
	must.Succeed(t, err)
	var sum Series
	sum.Add(read)
	before := sum.Clone()
	sum.Add(read)
	for name, s := range map[string]*Series{"the copy": &before, "what was added": read} {
		same.As(t, name, one, s.Series())
	}
}

func TestPointsOfARow(t *testing.T) {
	if p := (&row{1, 2, 3}).point(4); p.Due != 1 || p.Sent != 2 || p.Expected != 3 || p.Longest != 4 {
		t.Errorf("%d due, %d sent, %d expected, the longest %d", p.Due, p.Sent, p.Expected, p.Longest)
	}
	longest := row{firstOutcome: 1, rowSlots - 1: 1}
	if none, most, more := (&row{}).check(-1), longest.check(maxSpan), longest.check(maxSpan+1); none == nil || most != nil || more == nil {
		t.Errorf("a longest time below 0: %v, the longest of all: %v, and a longer one: %v", none, most, more)
	}
}

func TestReadSeriesRefuses(t *testing.T) {
	type message = workerv1.Series
	rng := rand.New(rand.NewPCG(5, 6))
	_, valid := seriesOf(t, rng, 200)
	// change changes the numbers of the first point.
	change := func(f func(*measure.Point)) func(*message) {
		return func(m *message) {
			s := &Series{points: m.Points, longest: []time.Duration{time.Duration(m.LongestNanos[0])}}
			p := s.point(0)
			f(&p)
			m.Points[0], m.LongestNanos[0] = encodeCounts(rowOf(&p)[:]), int64(p.Longest)
		}
	}
	end := func(p *measure.Point, o measure.Outcome, took time.Duration) {
		p.Outcomes[o]++
		p.Times[measure.TimeSlot(took)]++
	}
	for want, change := range map[string]func(*message){
		"series: 3 points and 4 longest_nanos, the step has 4":    func(m *message) { m.Points = m.Points[1:] },
		"series: 4 points and 5 longest_nanos, the step has 4":    func(m *message) { m.LongestNanos = append(m.LongestNanos, 0) },
		"series: 1 of first_on_connection, the step has 4 points": func(m *message) { m.FirstOnConnection = m.FirstOnConnection[:1] },
		"series: points[0]: first_on_connection: -1 of ":          func(m *message) { m.FirstOnConnection[0] = -1 },
		"series: points[3]: first_on_connection: 201 of ":         func(m *message) { m.FirstOnConnection[3] = 201 },
		"series: points[0]: counts: truncated":                    func(m *message) { m.Points[0] = []byte{0x80} },
		"series: points[0]: counts: a time is longer than 1h":     func(m *message) { m.Points[0] = counts(key(uint64(rowSlots), 1)) },
		"series: points[0]: count: more than sent":                func(m *message) { m.Points[0] = counts(key(0, many), 6*maxCount) },
		"series: points[0]: the points add up to 281474976710657": change(func(p *measure.Point) { p.Due = maxCount + 1 }),
		"series: points[1]: the points add up to 28147497671":     change(func(p *measure.Point) { p.Due = maxCount }),
		"longest_nanos: 1 is not the longest response time":       func(m *message) { m.LongestNanos[0] = 1 },
		"longest_nanos: -1 is not the longest response time":      func(m *message) { m.LongestNanos[0] = -1 },
		"longest_nanos: 9223372036854775807 is not the longest":   func(m *message) { m.LongestNanos[0] = 1<<63 - 1 },
		"response times of":        change(func(p *measure.Point) { p.Times[0]++ }),
		"is more than completed, ": change(func(p *measure.Point) { p.Expected += 1000 }),
		"series: the points add up to due, sent, expected, outcomes [201 200 ": change(func(p *measure.Point) { p.Due++ }),
		"series: the points add up to due, sent, expected, outcomes [200 201 ": change(func(p *measure.Point) { p.Sent++ }),
		"series: the points add up to due, sent, expected, outcomes [200 200 ": change(func(p *measure.Point) { end(p, measure.Timeout, time.Microsecond) }),
		", the step has [200 200 ": change(func(p *measure.Point) { end(p, measure.Unfinished, time.Microsecond) }),
	} {
		t.Run(want, func(t *testing.T) {
			m := proto.Clone(valid).(*workerv1.StepMeasurement)
			change(m.Series)
			if _, err := ReadSeries(m, seriesWindow); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q", err, want)
			}
		})
	}
	if s, err := ReadSeries(&workerv1.StepMeasurement{}, seriesWindow); s != nil || err != nil {
		t.Errorf("of a worker without: %v, %v", s, err)
	}
}

// A worker leaves out what would have its whole measurement refused.
func TestASeriesThatContradictsIsLeftOut(t *testing.T) {
	all, m := seriesOf(t, rand.New(rand.NewPCG(9, 10)), 100)
	if err := AddSeries(m, all); err != nil || m.Series == nil {
		t.Errorf("one that adds up: %v, %v", m.Series, err)
	}
	all.Points[0].Sent++
	if err := AddSeries(m, all); err == nil || m.Series != nil {
		t.Errorf("one that does not: %v, %v", m.Series, err)
	}
}

// Whatever a worker sends is refused or adds up to its step, and takes little memory.
func FuzzReadSeries(f *testing.F) {
	_, valid := seriesOf(f, rand.New(rand.NewPCG(7, 8)), 50)
	raw, err := proto.Marshal(valid)
	must.Succeed(f, err)
	f.Add(raw)
	f.Fuzz(func(t *testing.T, raw []byte) {
		m := &workerv1.StepMeasurement{}
		if proto.Unmarshal(raw, m) != nil {
			return
		}
		s, err := ReadSeries(m, seriesWindow)
		if s == nil || err != nil {
			return
		}
		var due int64
		all := s.Series()
		for i := range all.Points {
			due += all.Points[i].Due
		}
		if due != m.GetDue() || s.Size() > 10*len(raw)+1000 {
			t.Errorf("due %d of %d, %d bytes of %d", due, m.GetDue(), s.Size(), len(raw))
		}
	})
}
