package main

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/hack/bench/peer"
	"github.com/loadtest-dev/loadtest-operator/hack/bench/process"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
	"github.com/loadtest-dev/loadtest-operator/test/harness"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestStreamsAreAssignedAsEvents(t *testing.T) {
	lt := streamTest("http://127.0.0.1:7", "[DONE]", harness.Burst(5, 1), weighted{"steady", "/${seq}", 9}, weighted{"stalled", "/stalled/${seq}", 1})
	a, err := assignment(lt, 0)
	must.Succeed(t, err)
	same.As(t, "requests", 2, len(a.GetRequests()))
	for _, r := range a.GetRequests() {
		if s := r.GetStream(); s.GetUntil() != "[DONE]" || s.GetEvents() != workerv1.StreamEvents_STREAM_EVENTS_SSE {
			t.Errorf("the stream of %s is %v, want server-sent events up to [DONE]", r.GetName(), s)
		}
	}
}

// The routes are those that the ground-truth server understands, and mean what the comparison supposes.
func TestRoutesOfStreamsAreUnderstood(t *testing.T) {
	l := streamLoad{streams: 10, perSecond: 50, lasting: 10 * time.Second}
	_, route, err := groundtruth.ParseRoute(l.route())
	must.Succeed(t, err)
	s := route.Reply.Stream
	same.As(t, "events", 500, s.Events)
	same.As(t, "time to open all", opening, s.First)
	same.As(t, "chunks of a completion", true, s.Completion)
	same.As(t, "mean gap", 20*time.Millisecond, s.Every+s.Jitter/2)
	same.As(t, "spread of their starts", groundtruth.Latency(groundtruth.Uniform{To: 20 * time.Millisecond}), route.Latency)
	for _, text := range slices.Concat(accuracyRoutes(groundtruth.SSE), accuracyRoutes(groundtruth.WebSocket)) {
		name, route, err := groundtruth.ParseRoute(text)
		must.Succeed(t, err)
		s := route.Reply.Stream
		same.As(t, "events", streamEvents, s.Events)
		same.As(t, "without a last event", true, s.Unended)
		if name == "stalled" {
			same.As(t, "stall", streamStall, s.Stall)
		} else if s.Stall != 0 || s.Every+s.Jitter >= streamStall/2 {
			t.Error("a stream without a stall has gaps as long as one")
		}
	}
}

func TestTimesOfTheServerAreReadFromItsRecords(t *testing.T) {
	ms := func(n int64) int64 { return n * int64(time.Millisecond) }
	records := []groundtruth.Record{
		{Number: 1, Events: 3, First: ms(300), Last: ms(2300), Gap: ms(1990), Times: []int64{ms(300), ms(310), ms(2300)}},
		{Number: 0, Events: 1, First: ms(150), Last: ms(150), Times: []int64{ms(150)}},
		{Number: 2}, // has no event yet
	}
	due := schedule{start: ms(100), perSecond: 100}.due
	same.As(t, "first events", []time.Duration{50 * time.Millisecond, 190 * time.Millisecond}, firstEvents(records, due))
	same.As(t, "gaps", []time.Duration{10 * time.Millisecond, 1990 * time.Millisecond}, gapsOf(records))
	same.As(t, "stalls", []time.Duration{1990 * time.Millisecond}, stalls(records))
}

func TestTimesAreComparedWithWhatIsAllowed(t *testing.T) {
	of := func(n int, d time.Duration) (*measure.Histogram, []time.Duration) {
		h, truth := measure.NewHistogram(), []time.Duration{}
		for range n {
			h.Record(d)
			truth = append(truth, d)
		}
		return h, truth
	}
	same.As(t, "of a short time", 0.5, compared{10*time.Millisecond - 25*time.Microsecond, 10 * time.Millisecond}.ofAllowed())
	same.As(t, "of a long time", 0.25, compared{2*time.Second + time.Millisecond, 2 * time.Second}.ofAllowed())
	h, _ := of(1000, 1024*time.Microsecond)
	_, truth := of(1000, time.Millisecond)
	table := newTable("time", "quantile", "server", "measured", "error", "error", "of allowed")
	worst, err := compareTimes(table, "gaps", h, truth)
	must.Succeed(t, err)
	same.As(t, "error", "24 us, 0.48", digits(worst.us, 0)+" us, "+digits(worst.ofAllowed, 2))
	same.As(t, "rows", 3, len(table.rows))
	same.As(t, "a row", []string{"gaps", "p50", "1ms", "1.024ms", "24µs", "2.400%", "0.48"}, table.rows[0])
	if _, err := compareTimes(table, "gaps", h, truth[1:]); err == nil || err.Error() != "gaps: the worker has 1000 times, the server 999" {
		t.Errorf("compareTimes with one more = %v", err)
	}
	h, truth = of(1, time.Millisecond)
	if _, err := compareTimes(table, "gaps", h, truth); err == nil || !strings.HasPrefix(err.Error(), "gaps: 1 times are too few") {
		t.Errorf("compareTimes of one = %v", err)
	}
	if _, err := compareTimes(table, "gaps", measure.NewHistogram(), nil); err == nil {
		t.Error("nothing is compared with nothing")
	}
}

// twoStreams is what a server has of two streams of two events each, from 1 s to 3 s and from 2 s to 4 s. They had
// come at 2 s.
func twoStreams() (streamLoad, mark, groundtruth.Counters, []groundtruth.Record) {
	s := int64(time.Second)
	return streamLoad{streams: 2, perSecond: 1, lasting: 2 * time.Second}, mark{at: 2 * s, written: 1},
		groundtruth.Counters{Requests: 2, PeakInFlight: 2, Streams: map[string]groundtruth.StreamCounts{"": {Events: 4}}},
		[]groundtruth.Record{
			{Received: 1 * s, First: s, Last: 3 * s}, {Received: 2 * s, First: 3 * s, Last: 4 * s},
		}
}

func TestACostIsOfTheTimeSinceAllStreamsHadCome(t *testing.T) {
	l, from, counters, records := twoStreams()
	s, err := l.result(from, 5*int64(time.Second), 6, process.Usage{CPU: 3 * time.Millisecond, PeakRSS: 11 << 10}, counters, records)
	must.Succeed(t, err)
	same.As(t, "events", int64(3), s.written)
	same.As(t, "time", 3*time.Second, s.streamTime)
	same.As(t, "time of the server", 3*time.Second, s.served)
	same.As(t, "CPU an event", 1000.0, s.perEvent())
	same.As(t, "CPU a stream second", 1000.0, s.perStreamSecond())
	same.As(t, "streams of a core", 1000.0, s.perCore())
	same.As(t, "cores", 0.001, s.cores())
	same.As(t, "came", 1.0, s.read()) // with the two last ones
	same.As(t, "ended after the last event", time.Second, s.behind)
	same.As(t, "pace", 2.0/3, s.pace)
	same.As(t, "memory", 10.0, s.kilobytes(1<<10))
}

func TestStreamsThatAreNotWholeAreAnError(t *testing.T) {
	usage := process.Usage{CPU: time.Millisecond}
	tests := map[string]struct {
		change func(*mark, *groundtruth.Counters)
		want   string
	}{
		"one too few":    {func(_ *mark, c *groundtruth.Counters) { c.Requests = 1 }, "1 streams were asked for"},
		"one repeated":   {func(_ *mark, c *groundtruth.Counters) { c.Requests = 3 }, "3 streams were asked for"},
		"an event short": {func(_ *mark, c *groundtruth.Counters) { c.Streams[""] = groundtruth.StreamCounts{Events: 3} }, "2 streams were asked for, with 3 events"},
		"too short":      {func(m *mark, _ *groundtruth.Counters) { m.written = 4 }, "the streams ended before all had come"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			l, from, counters, records := twoStreams()
			tt.change(&from, &counters)
			if _, err := l.result(from, from.at, 0, usage, counters, records); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("result = %v, want %s", err, tt.want)
			}
		})
	}
}

func TestStreamsOfGeneratorsAreCompared(t *testing.T) {
	list := []streamer{{name: "loadworker"}, {name: "k6"}}
	of := func(cpu time.Duration, came int64) openStreams {
		return openStreams{
			streamLoad: streamLoad{streams: 11}, cost: process.Usage{CPU: cpu, PeakRSS: 11 << 10}, written: 100, all: 110, came: came,
			streamTime: 100 * time.Second, lasted: 10 * time.Second, behind: time.Second, pace: 1, peak: 11,
		}
	}
	results, many := map[streamKey][]openStreams{}, map[streamKey][]openStreams{}
	for _, perSecond := range eventRates {
		results[streamKey{"loadworker", perSecond}] = []openStreams{of(time.Second, 110), of(2*time.Second, 99), of(time.Second, 110)}
		results[streamKey{"k6", perSecond}] = []openStreams{of(2*time.Second, -1), of(2*time.Second, -1), of(3*time.Second, -1)}
		many[streamKey{"loadworker", perSecond}] = []openStreams{of(time.Second, 110)}
	}
	withOne := map[string]int64{"loadworker": 1 << 10, "k6": 6 << 10}
	var out strings.Builder
	b := &bench{out: &out}
	b.writeStreams(list, results, withOne)
	rows := strings.Split(out.String(), "\n")
	same.As(t, "ours", strings.Fields("| loadworker | 1 | 11 | 110 | 0.9000 | 10000.00 | 10000.0 | 100 | 2.00 | 0.10 | 1.00 | 1.000 | 0.00 | 0.0 | 1.0 |"), strings.Fields(rows[2]))
	same.As(t, "k6", strings.Fields("| k6 | 1 | 11 | 110 | whole bodies | 20000.00 | 20000.0 | 50 | 1.00 | 0.20 | 1.00 | 1.000 | 0.00 | 0.0 | 0.5 |"), strings.Fields(rows[3]))
	line := streamsLine(list, results, many, withOne)
	want := " came-1=0.9000 streams-per-core-1=100 us-per-event-1=10000.00 kb-per-stream-1=1.0 vs-k6-1=2.00 open-1=11 open-came-1=1.0000"
	if !strings.HasPrefix(line, want+" came-10=") {
		t.Errorf("line %q, want it to begin with %q", line, want)
	}
	same.As(t, "a ratio to what was not measured", "", versus(results, "k6", "httpx", 1))
	few := map[streamKey][]openStreams{}
	for _, perSecond := range eventRates {
		few[streamKey{"loadworker", perSecond}], few[streamKey{guidellm, perSecond}] = results[streamKey{"loadworker", perSecond}], results[streamKey{"k6", perSecond}]
	}
	want = " few-1=11 few-vs-guidellm-1=2.00 few-guidellm-late-s-1=1.00 kept-up-vs-guidellm-1=2.00 few-10="
	if line := fewLine(few, results); !strings.HasPrefix(line, want) {
		t.Errorf("line of few streams %q, want it to begin with %q", line, want)
	}
}

func TestLibrariesOfPythonArePinned(t *testing.T) {
	for name, packages := range map[string][]string{
		"requirements.txt": {"aiohttp", "httpx", "uvloop"},
		"guidellm.txt":     {"guidellm", "httpx", "h2"},
	} {
		text := must.ReadFile(t, "streams/"+name)
		allPinned(t, string(text), packages...)
		same.As(t, name+": torch, which takes gigabytes", "", peer.Pinned(string(text), "torch"))
	}
}

// A generator that ends before its streams were open is an error, and no cost of nothing.
func TestAGeneratorThatOpensTooFewStreamsIsAnError(t *testing.T) {
	for name, counters := range map[string]string{
		"too few":  `{"requests": 9, "streams": {"": {"events": 1}}}`,
		"no event": `{"requests": 10, "streams": {"": {}}}`,
	} {
		t.Run(name, func(t *testing.T) { endsTooSoon(t, counters) })
	}
}

func endsTooSoon(t *testing.T, counters string) {
	t.Helper()
	control := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(counters)) }))
	t.Cleanup(control.Close)
	g := streamer{"true", func(string, streamLoad) (*process.Process, endStreams, error) {
		p, err := process.Start(process.Command{Path: "true", Core: process.Anywhere})
		return p, func() (int64, process.Usage, error) {
			u, err := p.Stop()
			return 0, u, err
		}, err
	}}
	_, err := (&target{Control: control.URL}).streamTo(t.Context(), g, streamLoad{streams: 10, perSecond: 1, lasting: time.Second})
	if err == nil || err.Error() != "the generator ended before all streams had come and one had an event" {
		t.Errorf("streamTo = %v, want that it ended too soon", err)
	}
}
