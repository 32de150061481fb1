package archive

import (
	"bytes"
	"compress/gzip"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// stepOf is a step of so many requests and seconds, with as many values in each second
// of each request.
func stepOf(t testing.TB, requests, seconds, rate int) Step {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	window := time.Duration(seconds) * time.Second
	all := measure.NewSeries(window)
	step := Step{LoadTest: "checkout", UID: "uid-1", Name: "users-100", Index: 2, WorkersReporting: 4}
	for range requests {
		response, service := measure.NewHistogram(), measure.NewHistogram()
		for i := range seconds {
			p := &all.Points[i]
			for range rate {
				took := time.Duration(math.Exp(rng.NormFloat64()) * float64(20*time.Millisecond))
				response.Record(took)
				service.Record(took * 9 / 10)
				p.Times[measure.TimeSlot(took)]++
				p.Longest = max(p.Longest, took)
			}
			n := int64(rate)
			p.Due, p.Sent, p.Expected, p.Outcomes[measure.Success] = p.Due+n, p.Sent+n, p.Expected+n, p.Outcomes[measure.Success]+n
			step.Due, step.Sent = step.Due+n, step.Sent+n
		}
		r := Request{Name: "GET /path", Type: "Read", Traces: NewTraces(measure.Traces{{ID: measure.TraceID{1}, Response: time.Second}, {ID: measure.TraceID{2}, Response: time.Minute}})}
		var err error
		r.Response, err = NewHistogram(response)
		must.Succeed(t, err)
		r.Service, err = NewHistogram(service)
		must.Succeed(t, err)
		events := measure.NewStreams()
		events.Events, events.InWindow = 2, 1
		events.Record(measure.FirstEvent, 20*time.Millisecond, 20*time.Millisecond)
		events.Record(measure.MeanGap, 10*time.Millisecond, 10*time.Millisecond)
		r.Streams, err = NewStreams(events)
		must.Succeed(t, err)
		step.Requests = append(step.Requests, r)
	}
	step.Series = NewSeries(all, measure.PointWidth(window), 4)
	var timeline measure.Timeline
	for i := range timeline.Outstanding {
		timeline.Outstanding[i] = 1 + rng.Int64N(int64(rate)+1)
	}
	step.Outstanding = NewOutstanding(&timeline, window/measure.TimelineSlots)
	return step
}

// zipped is a text as it is stored.
func zipped(t testing.TB, text string) []byte {
	t.Helper()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write([]byte(text))
	must.Succeed(t, err)
	must.Succeed(t, z.Close())
	return packed.Bytes()
}

// unzipped is the text of what is stored.
func unzipped(t testing.TB, b []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(b))
	must.Succeed(t, err)
	text, err := io.ReadAll(z)
	must.Succeed(t, err)
	return text
}

// encode prints how many bytes a step takes.
func encode(t testing.TB, step Step) []byte {
	t.Helper()
	b, err := Encode(step)
	must.Succeed(t, err)
	t.Logf("%d requests, %d points, %d requests sent: %d bytes", len(step.Requests), len(step.Series.Points), step.Sent, len(b))
	return b
}

func TestRoundTrip(t *testing.T) {
	for name, size := range map[string][3]int{"30 s with 3 requests": {3, 30, 333}, "600 s with 32 requests": {32, 600, 30}, "nothing": {1, 2, 0}} {
		t.Run(name, func(t *testing.T) {
			step := stepOf(t, size[0], size[1], size[2])
			b := encode(t, step)
			if again := encode(t, step); !bytes.Equal(b, again) {
				t.Error("the same step is of other bytes")
			}
			got, err := Decode(b)
			must.Succeed(t, err)
			step.Format = Format
			same.As(t, "after the way", &step, got)
			h, err := got.Requests[0].Response.Decode()
			if err != nil || h.Count() != int64(size[1]*size[2]) {
				t.Errorf("the histogram has %d values, %v", h.Count(), err)
			}
		})
	}
}

// What there is no room for is left out, the series never.
func TestWhatDoesNotFitIsOmitted(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	large := func(bytes int) *Histogram {
		text := make([]byte, bytes)
		for i := range text {
			text[i] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[rng.IntN(64)]
		}
		return &Histogram{HDR: string(text)}
	}
	for name, tt := range map[string]struct {
		response, service int
		want              []string
	}{
		"all fits":      {200 << 10, 200 << 10, nil},
		"no service":    {600 << 10, 800 << 10, []string{"requests.service"}},
		"no histograms": {2 << 20, 1, []string{"requests.service", "requests.response"}},
	} {
		t.Run(name, func(t *testing.T) {
			step := stepOf(t, 2, 600, 20)
			step.Requests[1].Response, step.Requests[1].Service = large(tt.response), large(tt.service)
			b := encode(t, step)
			raw := string(unzipped(t, b))
			if len(b) > MaxBytes {
				t.Errorf("%d bytes, at most %d", len(b), MaxBytes)
			}
			if step.Requests[0].Service == nil || step.Omitted != nil {
				t.Error("the step itself was changed")
			}
			for _, what := range []string{"requests.service", "requests.response"} {
				want := strings.Contains(strings.Join(tt.want, " "), what)
				if got := strings.Contains(raw, what); got != want {
					t.Errorf("%s is said to be omitted: %v, want %v", what, got, want)
				}
			}
			if strings.Contains(raw, `"service":{`) != (len(tt.want) < 1) || strings.Contains(raw, `"response":{`) != (len(tt.want) < 2) {
				t.Error("other histograms are there than those that are not omitted")
			}
			if omitted := strings.Contains(raw, "requests.withoutGenerator"); omitted != (len(tt.want) > 1) {
				t.Errorf("the times without the generator are said to be omitted: %v", omitted)
			}
			if n := strings.Count(raw, `"due":40,`); n != 600 {
				t.Errorf("%d points, want 600", n)
			}
		})
	}
}

// The times without the generator go before the response times do.
func TestTimesWithoutTheGeneratorAreOmittedFirst(t *testing.T) {
	step := stepOf(t, 1, 600, 20)
	text := make([]byte, 2<<20)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range text {
		text[i] = byte('0' + rng.IntN(64))
	}
	step.Requests[0].WithoutGenerator = &Histogram{HDR: string(text)}
	got, err := Decode(encode(t, step))
	must.Succeed(t, err)
	same.As(t, "omitted", []string{"requests.service", OmittedWithoutGenerator}, got.Omitted)
	if got.Requests[0].WithoutGenerator != nil || got.Requests[0].Response == nil {
		t.Error("other times are there than those that are not omitted")
	}
}

func TestLengthsOfLists(t *testing.T) {
	traces := func(requests, each int) string {
		one := `{"traces": [` + strings.TrimSuffix(strings.Repeat("{}, ", each), ", ") + "]}"
		return "[" + strings.TrimSuffix(strings.Repeat(one+", ", requests), ", ") + "]"
	}
	for raw, want := range map[string]length{`[1, {"a": []}]`: 2, "[]": 0, `{"a": 1}`: 0, "5": 0, `"[1]"`: 0} {
		var got length
		if err := got.UnmarshalJSON([]byte(raw)); err != nil || got != want {
			t.Errorf("%s has %d elements, %v; want %d", raw, got, err, want)
		}
	}
	for raw, want := range map[string]requestList{traces(32, 2): {32, 2}, traces(33, 2): {33, 0}} {
		var got requestList
		if err := got.UnmarshalJSON([]byte(raw)); err != nil || got != want {
			t.Errorf("%.30s: %+v, %v; want %+v", raw, got, err, want)
		}
	}
	var n length
	var list requestList
	for what, err := range map[string]error{
		"no JSON in a list": n.UnmarshalJSON([]byte("[1, x]")), "requests that are none": list.UnmarshalJSON([]byte(`["a"]`)), "no JSON": checkBounds([]byte("x")),
	} {
		if err == nil {
			t.Errorf("%s: it is taken", what)
		}
	}
	must.Report(t, "as many traces as there may be", checkBounds([]byte(`{"requests": `+traces(1, measure.MaxTraces)+"}")))
}

func TestPointsSayWhatHappened(t *testing.T) {
	all := measure.NewSeries(3 * time.Second)
	p := &all.Points[0]
	p.Due, p.Sent, p.Expected, p.Longest = 5, 4, 2, 4*time.Millisecond
	p.Outcomes[measure.Success], p.Outcomes[measure.Timeout] = 2, 1
	p.Times[measure.TimeSlot(10*time.Microsecond)], p.Times[measure.TimeSlot(4*time.Millisecond)] = 2, 1
	all.Points[2].Due = 1
	p.FirstOnConnection = 2
	all.Points[3].Outcomes[measure.Reset], all.Points[3].Times[0] = 1, 1
	micros := func(n int64) *int64 { return &n }
	want := &Series{
		Seconds: 1, Workers: 2,
		Points: []Point{{Due: 5, Sent: 4, Completed: 2, Expected: 2, Outcomes: map[string]int64{"success": 2, "timeout": 1}, P50: micros(10), Longest: micros(4000), FirstOnConnection: micros(2)},
			{FirstOnConnection: micros(0)}, {Due: 1, FirstOnConnection: micros(0)}},
		After: Point{Outcomes: map[string]int64{"reset": 1}, Longest: micros(0), FirstOnConnection: micros(0)},
	}
	same.As(t, "series", want, NewSeries(all, time.Second, 2))
	if got := NewSeries(measure.NewSeries(3*time.Second), time.Second, 1); len(got.Points) != 0 {
		t.Errorf("a series in which nothing happened has %d points", len(got.Points))
	}
}

// What was outstanding ends with the last slot in which something was.
func TestOutstandingEndsWithTheLastSlotThatHasAny(t *testing.T) {
	var timeline measure.Timeline
	timeline.Outstanding[0], timeline.Outstanding[2] = 4, 7
	want := &Outstanding{SlotMicros: 100_000, Requests: []int64{4, 0, 7}}
	same.As(t, "outstanding", want, NewOutstanding(&timeline, 100*time.Millisecond))
	if got := NewOutstanding(nil, time.Second); got != nil {
		t.Errorf("outstanding of a worker that did not count it: %+v", got)
	}
	if got := NewOutstanding(&timeline, 0); got != nil {
		t.Errorf("outstanding in slots of no length: %+v", got)
	}
}

// What is written again by other tools may say that there was none of an outcome.
func TestDecodeTakesAnOutcomeWithoutRequests(t *testing.T) {
	step := stepOf(t, 1, 3, 10)
	step.Series.Points[1].Outcomes["timeout"] = 0
	if _, err := Decode(encode(t, step)); err != nil {
		t.Error(err)
	}
}

// A plan's names are bounded; if they were not, a ConfigMap would not be written.
func TestStepThatCannotFitIsRefused(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	name := make([]byte, 2<<20)
	for i := range name {
		name[i] = byte('a' + rng.IntN(26))
	}
	step := stepOf(t, 1, 1, 1)
	step.Name = string(name)
	if b, err := Encode(step); err == nil || !strings.Contains(err.Error(), "at most 921600") {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

func TestDecodeTakesTheMostThatItUnpacks(t *testing.T) {
	for spaces, fits := range map[int]bool{0: true, 1: false} {
		step := `{"format":"` + Format + `"}`
		if _, err := Decode(zipped(t, step+strings.Repeat(" ", maxJSON-len(step)+spaces))); (err == nil) != fits {
			t.Errorf("%d bytes more than the most: %v", spaces, err)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	for want, change := range map[string]func(*Step){
		`format: "loadtest.dev/step-results/v2"`: func(s *Step) { s.Format = "loadtest.dev/step-results/v2" },
		"33 requests, at most 32":                func(s *Step) { s.Requests = make([]Request, 33) },
		"due -1 and sent":                        func(s *Step) { s.Due = -1 },
		"requests[0].response: decode histogram": func(s *Step) { s.Requests[0].Response.HDR = "AAAA" },
		"requests[0].service: decode histogram":  func(s *Step) { s.Requests[0].Service.Clamped = 1 << 40 },
		"requests[0].withoutGenerator: decode":   func(s *Step) { s.Requests[0].WithoutGenerator = &Histogram{HDR: "AAAA"} },
		"36 traces of a request, at most 35":     func(s *Step) { s.Requests[0].Traces = make([]Trace, 36) },
		"requests[0].traces[1].id: 3 bytes":      func(s *Step) { s.Requests[0].Traces[1].ID = "4bf" },
		"requests[0].traces[0].id: 32 bytes":     func(s *Step) { s.Requests[0].Traces[0].ID = strings.Repeat("G", 32) },
		"requests[0].traces[0]: it does not add": func(s *Step) { s.Requests[0].Traces[0].ServiceMicros = 3 },
		"expected: decode histogram":             func(s *Step) { s.Expected = &Histogram{HDR: "AAAA"} },
		"outstanding: 201 slots, at most 200":    func(s *Step) { s.Outstanding.Requests = make([]int64, 201) },
		"outstanding: slots of 0 microseconds":   func(s *Step) { s.Outstanding.SlotMicros = 0 },
		"outstanding.requests[3]: -1, must not":  func(s *Step) { s.Outstanding.Requests[3] = -1 },
		"series: 601 points of 1 seconds":        func(s *Step) { s.Series.Points = make([]Point, 601) },
		"series: 3 points of 0 seconds":          func(s *Step) { s.Series.Seconds = 0 },
		"series.points[0]: it does not add up": func(s *Step) {
			s.Series.Points[0].FirstOnConnection = new(int64)
			*s.Series.Points[0].FirstOnConnection--
		},
		"series.points[1]: it does not add up":    func(s *Step) { s.Series.Points[1].Expected = -1 },
		"series.points[2]: it does not add up":    func(s *Step) { s.Series.Points[2].Outcomes = map[string]int64{"a": math.MaxInt64, "b": 1} },
		"series.after: it does not add up":        func(s *Step) { s.Series.After.Completed = 1 },
		"usage: 5 containers, at most 4":          func(s *Step) { s.Usage = make([]Usage, 5) },
		"usage: 241 points of a container":        func(s *Step) { s.Usage = []Usage{{}, {Points: make([]UsagePoint, 241)}} },
		"streams: 3 events in the window, of 2":   func(s *Step) { s.Requests[0].Streams = &Streams{Events: 2, InWindow: 3} },
		"streams: a number of tokens is negative": func(s *Step) { s.Requests[0].Streams = &Streams{OutputTokens: -1} },
		"streams, time 1: ":                       func(s *Step) { s.Requests[0].Streams = &Streams{BetweenEvents: &Histogram{HDR: "x"}} },
		"usage[1].a limit must not be negative":   func(s *Step) { s.Usage = []Usage{{}, {MemoryLimitBytes: -1}} },
		"usage[0].points[1]: it does not add up":  func(s *Step) { s.Usage = []Usage{{Points: []UsagePoint{{}, {FromMillis: 2, ToMillis: 1}}}} },
		"decompress step: more than 8388608":      func(s *Step) { s.Name = strings.Repeat("a", maxJSON) },
	} {
		t.Run(want, func(t *testing.T) {
			step := stepOf(t, 1, 3, 10)
			step.Format = Format
			step.Requests[0].Traces = NewTraces(measure.Traces{{ID: measure.TraceID{1}, Response: 1000}, {ID: measure.TraceID{2}, Response: 2000}})
			change(&step)
			b, err := pack(&step)
			must.Succeed(t, err)
			if _, err := Decode(b); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q", err, want)
			}
		})
	}
	whole := encode(t, stepOf(t, 1, 3, 10))
	whole[len(whole)-5]++ // of the checksum
	for _, b := range []string{"", "{}", "\x1f\x8b", string(whole), string(zipped(t, `{"format":"`+Format+`","due":"many"}`))} {
		if _, err := Decode([]byte(b)); err == nil {
			t.Errorf("%q was decoded", b)
		}
	}
}

// Lists that are too long are refused by their length: what they have is not kept.
func TestDecodeRefusesLongListsBeforeItDecodesThem(t *testing.T) {
	const elements = 1_000_000
	long := "[" + strings.Repeat("{},", elements-1) + "{}]"
	for json, want := range map[string]string{
		`"requests":` + long:                                 "1000000 requests, at most 32",
		`"requests":[{}, {"traces":` + long + `}]`:           "1000000 traces of a request, at most 35",
		`"requests":` + long + `,"requests":[]`:              "1000000 requests, at most 32",
		`"REQUESTS":` + long:                                 "1000000 requests, at most 32",
		`"outstanding":{"requests":` + long + `}`:            "outstanding: 1000000 slots",
		`"series":{"seconds":1,"points":` + long + `}`:       "series: 1000000 points of 1 seconds",
		`"usage":` + long:                                    "usage: 1000000 containers",
		`"usage":[{}, {"points":` + long + `}]`:              "usage: 1000000 points of a container",
		`"series":{"points":` + long + `},"series":{"a": 1}`: "series: 1000000 points",
	} {
		packed := zipped(t, `{"format":"`+Format+`",`+json+`}`)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Decode(packed)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
		// 3 MB are unpacked into a growing buffer, and read again to count.
		if took := after.TotalAlloc - before.TotalAlloc; took > 48<<20 {
			t.Errorf("%.40s: %d MiB were allocated", json, took>>20)
		}
	}
}

// Whatever is decoded is encoded again.
func FuzzDecode(f *testing.F) {
	for _, step := range []Step{stepOf(f, 1, 3, 10), stepOf(f, 1, 1, 0)} {
		b, err := Encode(step)
		must.Succeed(f, err)
		f.Add(unzipped(f, b))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		step, err := Decode(zipped(t, string(raw)))
		if err != nil {
			return
		}
		again, err := Encode(*step)
		if err != nil {
			return // the names may be larger than what fits
		}
		if _, err := Decode(again); err != nil {
			t.Errorf("what was decoded and encoded again: %v", err)
		}
	})
}

func TestPointsThatDoNotAddUp(t *testing.T) {
	whole := Point{Due: 0, Sent: 0, Completed: 2, Expected: 1, Outcomes: map[string]int64{"a": 1, "b": 1, "c": 0}}
	for name, tc := range map[string]struct {
		edit func(*Point)
		want bool
	}{
		"whole":                {func(*Point) {}, true},
		"nothing":              {func(p *Point) { *p = Point{} }, true},
		"due before":           {func(p *Point) { p.Due = -1 }, false},
		"sent before":          {func(p *Point) { p.Sent = -1 }, false},
		"less than none":       {func(p *Point) { p.Expected = -1 }, false},
		"all were expected":    {func(p *Point) { p.Expected = 2 }, true},
		"more than came":       {func(p *Point) { p.Expected = 3 }, false},
		"more came than ended": {func(p *Point) { p.Completed = 3 }, false},
		"an outcome of minus":  {func(p *Point) { p.Outcomes = map[string]int64{"a": 4, "b": -1} }, false},
		"more, and once around": {func(p *Point) {
			*p = Point{Outcomes: map[string]int64{"a": math.MaxInt64, "b": math.MaxInt64, "c": 3}}
		}, false},
		"more than a number has": {func(p *Point) { p.Outcomes = map[string]int64{"a": math.MaxInt64, "b": 1} }, false},
	} {
		p := whole
		tc.edit(&p)
		if got := p.isPlausible(); got != tc.want {
			t.Errorf("%s: it adds up: %t", name, got)
		}
	}
}

func TestSmallestStepsAreTaken(t *testing.T) {
	slowest := strings.Repeat("0", 32)
	step := Step{
		Format: Format, Usage: []Usage{{Points: []UsagePoint{{}}}}, Outstanding: &Outstanding{SlotMicros: 1, Requests: []int64{0}}, Series: &Series{Seconds: 1},
		Requests: []Request{{Traces: []Trace{{ID: slowest, ResponseMicros: 1, ServiceMicros: 0}, {ID: slowest}}}},
	}
	if err := step.check(); err != nil {
		t.Error(err)
	}
	for name, edit := range map[string]func(*Step){
		"sent before": func(s *Step) { s.Sent = -1 }, "due before": func(s *Step) { s.Due = -1 },
		"served before it was sent": func(s *Step) {
			s.Requests = []Request{{Traces: []Trace{{ID: slowest, ResponseMicros: 1, ServiceMicros: -1}}}}
		},
		"served after it ended": func(s *Step) { s.Requests = []Request{{Traces: []Trace{{ID: slowest, ServiceMicros: 1}}}} },
	} {
		wrong := step
		if edit(&wrong); wrong.check() == nil {
			t.Errorf("%s: it is taken", name)
		}
	}
	for _, h := range []*measure.Histogram{nil, measure.NewHistogram()} {
		if got, err := NewHistogram(h); got != nil || err != nil {
			t.Errorf("%+v, %v of no values", got, err)
		}
	}
	if NewOutstanding(&measure.Timeline{}, time.Microsecond) == nil || NewOutstanding(&measure.Timeline{}, time.Microsecond-1) != nil {
		t.Error("what was outstanding is known of other slots than of a microsecond and more")
	}
	traces := NewTraces(measure.Traces{{Response: time.Second}, {Response: time.Minute}})
	if len(traces) != 2 || traces[0].ResponseMicros != time.Minute.Microseconds() {
		t.Errorf("the slowest is not first: %+v", traces)
	}
	one := measure.Series{Points: make([]measure.Point, 3)}
	one.Points[0].Due = 1
	if got := NewSeries(&one, time.Second, 1); len(got.Points) != 1 {
		t.Errorf("%d points, of which one has something", len(got.Points))
	}
	line := measure.Timeline{}
	if got := NewOutstanding(&line, time.Second); len(got.Requests) != 0 {
		t.Errorf("%v of nothing outstanding", got.Requests)
	}
	line.Outstanding[0] = 1
	if got := NewOutstanding(&line, time.Second); len(got.Requests) != 1 {
		t.Errorf("%v of one outstanding at first", got.Requests)
	}
}
