package measure

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/quick"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// byContent makes histograms comparable by what they hold.
var byContent = cmp.Comparer(func(a, b *Histogram) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(b)
})

// randomMeasurement is one of two requests that holds together, but for the times.
func randomMeasurement(seed uint64) *Measurement {
	r := rand.New(rand.NewPCG(seed, 1))
	s := NewMeasurement(2)
	for i := range s.Requests {
		q := &s.Requests[i]
		for range r.IntN(50) {
			o := Outcome(r.IntN(NumOutcomes))
			q.Sent++
			q.Outcomes[o]++
			if o.Responded() {
				q.CountStatus(200+r.IntN(3), 1)
			}
			q.Response.Record(time.Duration(r.Int64N(int64(2 * time.Hour))))
			q.Service.Record(time.Duration(r.Int64N(int64(time.Second))))
			if o == Success {
				q.Expected++
				q.CompletedInWindow++
				q.ExpectedInWindow++
			}
			q.Late += r.Int64N(2)
			q.Redirects += r.Int64N(3)
			if r.IntN(3) == 0 {
				streams := NewStreams()
				streams.Events, streams.InWindow = 2, 1
				streams.Tokened, streams.InputTokens, streams.OutputTokens = r.Int64N(2), r.Int64N(9), r.Int64N(9)
				streams.OnTime, streams.IdealOnTime = []int64{r.Int64N(2)}, []int64{r.Int64N(2)}
				streams.Record(StreamTime(r.IntN(NumStreamTimes)), time.Duration(r.Int64N(int64(time.Second))), time.Duration(r.Int64N(int64(time.Second))))
				if err := q.AddStreams(streams); err != nil {
					panic(err)
				}
			}
			if r.IntN(2) == 0 {
				q.Sampled++
				q.Traces.Add(randomTrace(r, o))
			}
		}
		s.Due += q.Sent
	}
	s.Unsent = r.Int64N(10)
	s.Due += s.Unsent
	s.Lateness.Record(time.Duration(r.Int64N(int64(time.Second))))
	s.ReadLateness.Record(time.Duration(r.Int64N(int64(time.Second))))
	s.ConnectionsOpened, s.OpenedInWindow, s.Reused = r.Int64N(9), r.Int64N(9), r.Int64N(9)
	s.ResumedHandshakes, s.UnsentWithoutRoom = r.Int64N(9), r.Int64N(9)
	if r.IntN(2) == 0 {
		s.Handshakes = NewHistogram()
		s.Handshakes.Record(time.Duration(r.Int64N(int64(time.Second))))
	}
	if r.IntN(4) > 0 {
		s.Timeline = &Timeline{Outstanding: [TimelineSlots]int64{1: r.Int64N(9)}, Answered: [TimelineSlots]int64{2: r.Int64N(9)}}
	}
	if r.IntN(4) > 0 {
		s.FirstStart = time.Unix(r.Int64N(100), 0).UTC()
		s.LastStart = s.FirstStart
	}
	s.Window, s.ClockError = time.Duration(r.Int64N(100)), time.Duration(r.Int64N(100))
	s.Health = Health{
		CPUThrottled: time.Duration(r.Int64N(99)), CPUThrottledMax: time.Duration(r.Int64N(99)), CPU: time.Duration(r.Int64N(99)),
		Stalled: time.Duration(r.Int64N(99)), StalledMax: time.Duration(r.Int64N(99)),
		RunQueueWait: time.Duration(r.Int64N(99)), RunQueueWaitMax: time.Duration(r.Int64N(99)),
		GCPauseMax: time.Duration(r.Int64N(99)), DescriptorsExhausted: r.Int64N(9), PortsExhausted: r.Int64N(9),
	}
	s.Transport, s.Engine = string(rune('a'+r.IntN(3))), string(rune('a'+r.IntN(3)))
	if r.IntN(2) == 0 {
		s.Requests[0].Errors = map[Outcome]string{Timeout: string(rune('a' + r.IntN(5))), Outcome(2 + r.IntN(9)): "b"}
	}
	if r.IntN(2) == 0 {
		s.Clients = clientsOf(map[string]*Ledger{string(rune('a' + r.IntN(3))): randomLedger(seed)})
		s.Clients.Untracked = r.Int64N(9)
	}
	return s
}

func sumOf(t *testing.T, all ...*Measurement) *Measurement {
	t.Helper()
	sum := NewMeasurement(2)
	for _, s := range all {
		must.Succeed(t, sum.Merge(s))
	}
	return sum
}

func TestMeasurementMergeIsAssociativeAndCommutative(t *testing.T) {
	property := func(x, y, z uint64) bool {
		a, b, c := randomMeasurement(x), randomMeasurement(y), randomMeasurement(z)
		want := sumOf(t, a, b, c)
		for _, got := range []*Measurement{
			sumOf(t, sumOf(t, a, b), c), sumOf(t, a, sumOf(t, b, c)), sumOf(t, c, b, a), sumOf(t, b, a, c),
		} {
			if diff := cmp.Diff(want, got, byContent); diff != "" {
				t.Log(diff)
				return false
			}
		}
		return true
	}
	if err := quick.Check(property, &quick.Config{MaxCount: 8}); err != nil {
		t.Error(err)
	}
}

func TestMeasurementMergeLeavesTheOtherAlone(t *testing.T) {
	a, b := randomMeasurement(1), randomMeasurement(2)
	b.Clients = clientsOf(map[string]*Ledger{"x": randomLedger(3)})
	b.Requests[0].CountStatus(204, 1)
	before := sumOf(t, b)
	sum := sumOf(t, a, b)
	must.Succeed(t, sum.Merge(a))
	sum.Clients.Ledger("x").Record(0, 1, 2, Success)
	sum.Requests[0].CountStatus(204, 1)
	if diff := cmp.Diff(before, sumOf(t, b), byContent); diff != "" {
		t.Errorf("merging changed what was merged (-before +after):\n%s", diff)
	}
}

func TestMeasurementMergeKeepsTheEquations(t *testing.T) {
	property := func(seeds [4]uint64) bool {
		sum := NewMeasurement(2)
		for _, seed := range seeds {
			if err := sum.Merge(randomMeasurement(seed)); err != nil {
				return false
			}
		}
		total, err := sum.Total()
		if err != nil {
			return false
		}
		outcomes := int64(0)
		for _, n := range total.Outcomes {
			outcomes += n
		}
		return outcomes == total.Sent && sum.Due == total.Sent+sum.Unsent && total.Response.Count() == total.Sent &&
			total.StatusCodes.Sum() == total.Completed()
	}
	if err := quick.Check(property, &quick.Config{MaxCount: 8}); err != nil {
		t.Error(err)
	}
}

func TestMeasurementMergeTimes(t *testing.T) {
	at := func(s int64) time.Time { return time.Unix(s, 0).UTC() }
	late := &Measurement{FirstStart: at(7), LastStart: at(7), Window: 3, ClockError: 9}
	early := &Measurement{FirstStart: at(5), LastStart: at(5), Window: 8, ClockError: 2}
	never := &Measurement{}
	sum := NewMeasurement(0)
	for _, s := range []*Measurement{never, late, early, never} {
		must.Succeed(t, sum.Merge(s))
	}
	if !sum.FirstStart.Equal(at(5)) || !sum.LastStart.Equal(at(7)) || sum.Window != 8 || sum.ClockError != 9 {
		t.Errorf("got %+v, want from 5 to 7, window 8, clock error 9", sum)
	}
}

func TestMeasurementMergeRefusesAnotherPlan(t *testing.T) {
	if err := NewMeasurement(2).Merge(NewMeasurement(3)); err == nil {
		t.Error("steps of 2 and 3 requests were merged")
	}
}

func TestCompleted(t *testing.T) {
	q := NewRequest()
	for o := range q.Outcomes {
		q.Outcomes[o] = 1 << o
	}
	if got, want := q.Completed(), int64(1|2|4|8|16); got != want {
		t.Errorf("Completed() = %d, want %d: those with a whole response", got, want)
	}
}

func TestRequestReset(t *testing.T) {
	q := randomMeasurement(5).Requests[0]
	q.CountStatus(204, 1)
	q.Reset()
	same.As(t, "after Reset", NewRequest(), q, byContent, cmpopts.EquateEmpty())
}

func TestMergedNamesAreASet(t *testing.T) {
	merge := func(names ...string) string {
		sum := NewMeasurement(1)
		for _, name := range names {
			m := NewMeasurement(1)
			m.Engine, m.Transport = name, name
			must.Succeed(t, sum.Merge(m))
		}
		if sum.Transport != sum.Engine {
			t.Errorf("of %q there is transport %q, and engine %q", names, sum.Transport, sum.Engine)
		}
		return sum.Engine
	}
	for want, names := range map[string][]string{
		"":                           {"", ""},
		"goroutines":                 {"", "goroutines", "", "goroutines"},
		"event loops and goroutines": {"goroutines", "event loops", "goroutines", "event loops"},
		"a and b and c and d":        {"e", "d and c", "b", "a and b", "f"},
	} {
		if got := merge(names...); got != want {
			t.Errorf("of %q there is %q, want %q", names, got, want)
		}
		slices.Reverse(names)
		if got := merge(names...); got != want {
			t.Errorf("of %q there is %q, want %q", names, got, want)
		}
	}
}

// Of the messages of a class the alphabetically first is kept, in any order.
func TestMergedErrorsKeepTheFirstMessage(t *testing.T) {
	of := func(message string) *Measurement {
		m := NewMeasurement(1)
		m.Requests[0].Errors = map[Outcome]string{Refused: message}
		return m
	}
	for _, order := range [][]string{{"a", "b"}, {"b", "a"}} {
		m := of(order[0])
		must.Succeed(t, m.Merge(of(order[1])))
		if got := m.Requests[0].Errors[Refused]; got != "a" {
			t.Errorf("of %q, %q is kept, want a", order, got)
		}
	}
}

// What counts as late is a part of each result: the status and the reports name it.
func TestLateIsTenMilliseconds(t *testing.T) {
	if LateAfter != 10*time.Millisecond {
		t.Errorf("a request is late after %s", LateAfter)
	}
}

// counts are the fields of a measurement that are numbers or times, with those of its first
// request and journey.
func counts(v reflect.Value, path string, all map[string]reflect.Value) map[string]reflect.Value {
	switch v.Kind() {
	case reflect.Int64:
		all[path] = v
	case reflect.Pointer:
		if !v.IsNil() {
			counts(v.Elem(), path, all)
		}
	case reflect.Slice:
		if v.Len() > 0 {
			counts(v.Index(0), path, all)
		}
	case reflect.Array:
		for i := range v.Len() {
			counts(v.Index(i), fmt.Sprint(path, " ", i), all)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && v.Type() != reflect.TypeFor[time.Time]() {
				counts(v.Field(i), path+"."+v.Type().Field(i).Name, all)
			}
		}
	}
	return all
}

// A field that a merge leaves out would be that of one worker.
func TestMergeLeavesNoFieldOut(t *testing.T) {
	longest := []string{"Window", "ClockError", "BurstSpread", "CPUThrottledMax", "RunQueueWaitMax", "StalledMax", "GCPauseMax"}
	filled := func(n int64) *Measurement {
		m := NewMeasurement(1)
		m.Journeys, m.Replay = NewJourneys(1), &Replay{}
		r := &m.Requests[0]
		r.Streams, r.OnTime, r.IdealOnTime, r.Overdue = NewStreams(), make([]int64, 1), make([]int64, 1), make([]int64, 1)
		r.Streams.OnTime, r.Streams.IdealOnTime = make([]int64, 1), make([]int64, 1)
		for _, v := range counts(reflect.ValueOf(m).Elem(), "", map[string]reflect.Value{}) {
			v.SetInt(n)
		}
		return m
	}
	a := filled(2)
	must.Succeed(t, a.Merge(filled(3)))
	for name, v := range counts(reflect.ValueOf(a).Elem(), "", map[string]reflect.Value{}) {
		want := int64(5)
		if slices.Contains(longest, name[strings.LastIndex(name, ".")+1:]) {
			want = 3
		}
		if v.Int() != want {
			t.Errorf("%s is %d after the merge of 2 and 3, want %d", name, v.Int(), want)
		}
	}
	a.Requests[0].Reset()
	for name, v := range counts(reflect.ValueOf(a.Requests).Index(0), "", map[string]reflect.Value{}) {
		if v.Int() != 0 {
			t.Errorf("%s is %d after the reset", name, v.Int())
		}
	}
}
