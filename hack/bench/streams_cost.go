package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/loadtest-dev/loadtest-operator/hack/bench/process"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
)

// streamLoad is streams that are open at once, of events whose gaps vary around the same mean.
type streamLoad struct {
	streams, perSecond int
	lasting            time.Duration
}

// events are those of each stream, without the one that says that it is the last.
func (l streamLoad) events() int { return l.perSecond * int(l.lasting/time.Second) }

// gap is the mean time between two events.
func (l streamLoad) gap() time.Duration { return time.Second / time.Duration(l.perSecond) }

// opening is how long a stream has no event. A generator that opens streams slowly, the more so while events come, has
// opened all until then: else the first would end before the last begin.
const opening = 5 * time.Second

// route is in the words of the ground-truth server. The streams begin evenly within one gap, so that their events
// do not come all at once.
func (l streamLoad) route() string {
	return fmt.Sprintf("=stream:%d:%v:%v:%v:completion@uniform:0s:%v", l.events(), opening, l.gap()/2, l.gap(), l.gap())
}

// openStreams is what a generator cost while streams were open.
type openStreams struct {
	streamLoad
	// cost and written are of the time since all streams had come and one had an event, and the time for which they
	// were open since is together streamTime.
	cost       process.Usage
	written    int64
	streamTime time.Duration
	// lasted is from then on until the generator's end, and behind from the server's last event on.
	lasted, behind time.Duration
	// served is from the first event until the last one.
	served time.Duration
	// came is how many events the generator read, of all; -1: it does not tell.
	came, all int64
	// pace is how fast the server was, as a share of its schedule.
	pace        float64
	serverCores float64
	peak        int64 // of streams that were open at once
}

func (s openStreams) perEvent() float64 {
	return float64(s.cost.CPU) / float64(time.Microsecond) / float64(s.written)
}
func (s openStreams) perStreamSecond() float64 {
	return float64(s.cost.CPU) / float64(time.Microsecond) / s.streamTime.Seconds()
}
func (s openStreams) perCore() float64   { return s.streamTime.Seconds() / s.cost.CPU.Seconds() }
func (s openStreams) cores() float64     { return s.cost.CPU.Seconds() / s.lasted.Seconds() }
func (s openStreams) megabytes() float64 { return float64(s.cost.PeakRSS) / 1e6 }
func (s openStreams) read() float64      { return float64(s.came) / float64(s.all) }
func (s openStreams) late() float64      { return s.behind.Seconds() }

// kilobytes is the memory of each stream, beside what the generator has with one.
func (s openStreams) kilobytes(withOne int64) float64 {
	return float64(s.cost.PeakRSS-withOne) / 1024 / float64(s.streams-1)
}

// mark is the state of things when all streams had come and one had an event.
type mark struct {
	at      int64
	cpu     time.Duration
	written int64
	err     error
}

// openAll measures a generator, and its server that it has for itself.
func (b *bench) openAll(ctx context.Context, g streamer, l streamLoad) (s openStreams, err error) {
	t, err := b.serve(serverCore, "-route", l.route(), "-record", fmt.Sprint(l.streams))
	if err != nil {
		return s, err
	}
	s, err = t.streamTo(ctx, g, l)
	_, usage, stopped := t.stop()
	if err = cmp.Or(err, stopped); err != nil {
		return s, fmt.Errorf("%s with %d streams: %w", g.name, l.streams, err)
	}
	s.serverCores = usage.CPU.Seconds() / s.served.Seconds()
	return s, ctx.Err()
}

// streamTo streams to a generator until it ends.
func (t *target) streamTo(ctx context.Context, g streamer, l streamLoad) (s openStreams, err error) {
	p, end, err := g.start(t.URL, l)
	if err != nil {
		return s, err
	}
	defer context.AfterFunc(ctx, p.Kill)()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	begun := make(chan mark, 1)
	go func() { begun <- t.allCame(ctx, p, int64(l.streams)) }()
	came, usage, err := end()
	ended := groundtruth.Now()
	cancel()
	from := <-begun
	if err = cmp.Or(err, from.err); err != nil {
		return s, err
	}
	counters, err := t.counters()
	if err != nil {
		return s, err
	}
	records, err := t.records()
	if err != nil {
		return s, err
	}
	usage.CPU -= from.cpu
	return l.result(from, ended, came, usage, counters, records)
}

// lookEvery is how often a benchmark asks whether all streams have come.
const lookEvery = 20 * time.Millisecond

// allCame waits until all requests have come, and the first event was written.
func (t *target) allCame(ctx context.Context, p *process.Process, streams int64) (m mark) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			m.err = errors.New("the generator ended before all streams had come and one had an event")
			return m
		case <-ticker.C:
		}
		c, err := t.counters()
		if m.err = err; err != nil {
			return m
		}
		if c.Requests >= streams && c.Streams[""].Events > 0 {
			m.at, m.written = groundtruth.Now(), c.Streams[""].Events
			m.cpu, m.err = p.CPU()
			return m
		}
	}
}

// result is what a load has cost. Streams that did not end as they should are an error.
func (l streamLoad) result(from mark, ended, came int64, u process.Usage, c groundtruth.Counters, records []groundtruth.Record) (s openStreams, err error) {
	n, counted := int64(l.streams), c.Streams[""]
	// A generator may close a connection after the last event: Ended need not be all.
	if c.Requests != n || counted.Events != n*int64(l.events()) {
		return s, fmt.Errorf("%d streams were asked for, with %d events; want %d of %d", c.Requests, counted.Events, n, l.events())
	}
	s = openStreams{
		streamLoad: l, cost: u, written: counted.Events - from.written, lasted: time.Duration(ended - from.at),
		came: came, all: counted.Events + n, peak: c.PeakInFlight,
	}
	earliest, latest, spans := int64(math.MaxInt64), int64(0), int64(0)
	for _, r := range records {
		earliest, latest = min(earliest, r.First), max(latest, r.Last)
		spans += r.Last - r.First
		s.streamTime += time.Duration(max(0, r.Last-max(r.Received, from.at)))
	}
	s.behind, s.served = time.Duration(ended-latest), time.Duration(latest-earliest)
	s.pace = float64(l.gap()) * float64(l.events()-1) * float64(n) / float64(spans)
	if s.written == 0 || s.streamTime == 0 || s.cost.CPU <= 0 {
		return s, errors.New("the streams ended before all had come: let --duration be longer")
	}
	return s, nil
}

// streamCosts measures generators side by side, and then the worker with many streams. It returns its part of the
// last line.
func (b *bench) streamCosts(ctx context.Context, list []streamer, d time.Duration) (string, error) {
	withOne := map[string]int64{}
	for _, g := range list {
		s, err := b.openAll(ctx, g, streamLoad{1, 10, time.Second})
		if err != nil {
			return "", err
		}
		withOne[g.name] = s.cost.PeakRSS
	}
	results := map[streamKey][]openStreams{}
	for round := range b.rounds {
		for _, perSecond := range eventRates {
			for _, g := range list {
				s, err := b.openAll(ctx, g, streamLoad{b.streams, perSecond, d})
				if err != nil {
					return "", err
				}
				fmt.Fprintf(b.log, "round %d: %-10s %2d/s %8.0f streams/core %7.2f us\n", round+1, g.name, perSecond, s.perCore(), s.perEvent())
				results[streamKey{g.name, perSecond}] = append(results[streamKey{g.name, perSecond}], s)
			}
		}
	}
	ours, many := list[0], map[streamKey][]openStreams{}
	for _, perSecond := range eventRates {
		s, err := b.openAll(ctx, ours, streamLoad{manyTimes * b.streams, perSecond, d})
		if err != nil {
			return "", err
		}
		many[streamKey{ours.name, perSecond}] = []openStreams{s}
	}
	fmt.Fprintf(b.out, "\n%d streams at once, events at random times around a mean; medians of %d rounds, and of their ratios.\n%s\n\n", b.streams, b.rounds, costsMethod)
	b.writeStreams(list, results, withOne)
	fmt.Fprintf(b.out, "\nThe worker with %d streams, one round:\n\n", manyTimes*b.streams)
	b.writeStreams(list[:1], many, withOne)
	line := streamsLine(list, results, many, withOne)
	if at := slices.IndexFunc(list, func(g streamer) bool { return g.name == guidellm }); at > 0 {
		few, err := b.openFew(ctx, []streamer{ours, list[at]}, d, results)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(b.out, "\nThe worker and guidellm with as many streams as guidellm nearly keeps up with, medians of %d rounds:\n\n", b.rounds)
		b.writeStreams([]streamer{ours, list[at]}, few, withOne)
		line += fewLine(few, results)
	}
	return line, nil
}

// guidellm is the name of that generator.
const guidellm = "guidellm"

// fewStreams are how many streams guidellm nearly keeps up with on a core, by the events a second of each. What it does
// not keep up with it reads many at once, for less each and without true times.
var fewStreams = map[int]int{1: 1000, 10: 300, 50: 60}

// openFew measures generators side by side with as few streams. What was measured with as many is taken over.
func (b *bench) openFew(ctx context.Context, list []streamer, d time.Duration, measured map[streamKey][]openStreams) (map[streamKey][]openStreams, error) {
	few := map[streamKey][]openStreams{}
	for _, perSecond := range eventRates {
		n := fewStreams[perSecond]
		for round := range b.rounds {
			for _, g := range list {
				key := streamKey{g.name, perSecond}
				if n >= b.streams {
					few[key] = measured[key]
					continue
				}
				s, err := b.openAll(ctx, g, streamLoad{n, perSecond, d})
				if err != nil {
					return nil, err
				}
				fmt.Fprintf(b.log, "round %d: %-10s %2d/s %8.0f streams/core %7.2f us, %d streams\n", round+1, g.name, perSecond, s.perCore(), s.perEvent(), n)
				few[key] = append(few[key], s)
			}
		}
	}
	return few, nil
}

// fewLine is the part of the last line with what few streams cost, beside each other and beside what the worker made of
// many: kept-up is how many times as many streams of a core the worker has, each with as many as it keeps up with.
func fewLine(few, many map[streamKey][]openStreams) string {
	var line strings.Builder
	for _, perSecond := range eventRates {
		ours, theirs := streamKey{"loadworker", perSecond}, streamKey{guidellm, perSecond}
		keptUp := map[streamKey][]openStreams{ours: many[ours], theirs: few[theirs]}
		fmt.Fprintf(&line, " few-%[1]d=%[2]d few-vs-guidellm-%[1]d=%[3]s few-guidellm-late-s-%[1]d=%[4]s kept-up-vs-guidellm-%[1]d=%[5]s", perSecond, few[theirs][0].streams,
			versus(few, ours.name, guidellm, perSecond), typical(few[theirs], openStreams.late, 2), versus(keptUp, ours.name, guidellm, perSecond))
	}
	return line.String()
}

const costsMethod = `The first event of a stream comes 5 s after its request. What is measured begins when all requests have come and one event
was written, so that neither the start of a program nor its connections count, and lasts to the program's end. Each event
is a chunk of a text completion, of 147 bytes.
Streams of a core are the seconds for which streams were open, for each second of the generator's processor time.
A generator that did not keep up ended long after the server had written the last event: by "ended after s". Its events
had no true times, and cost it less each, as it read many at once. guidellm ends later in any case: its scheduler takes
three messages of each request, one at a time.
"came" is the share of the events that were written which the generator says it read. k6 reads bodies: it says
nothing of events, has no time of any, and fails if a body is not whole. aiohttp and httpx are clients of our own: they
take the time of each event, read its JSON, keep no statistics, and run on uvloop. They do less than vLLM's benchmark and
inference-perf, which are built on aiohttp, and guidellm, which is built on httpx; of httpx, there is a client for every
50 streams, as more cost it too much. The worker reads the text of events for their end, and JSON only for what a
LoadTest asks for, which is nothing here.
guidellm is guidellm 0.3.1, the last release that does not require torch; later ones divide the work among their
processes in another way. It runs by the function behind its command, with its scheduler, worker processes and report, at
"concurrent". Its processor time is that of all of its processes, on one core; they would be spread over several. There
is a worker process for every 100 streams, the fewest, as each has 100 connections; ten for 1,000 are its default on as many
cores as here. Different from its defaults, each in its favour: no progress and no table is printed, nor a file written; no log is written, as its
level WARNING has it, by which a message costs less than where logging is disabled; its scheduler sleeps for 3 ms between
two looks for results, not 0.1 ms, by a setting; and a worker process that has found no request sleeps for 0.1 s, where it
would look again at once, from when its first stream has ended.
"pace" is how fast the server was, as a share of its schedule: where it is far below 1, the server had no more to give.
The memory of a stream is what the generator has more of than with one; for guidellm that is also of nine more processes.
Its memory is the sum of the proportional set sizes of its processes, which counts what they share once.`

// streamKey is a generator at a number of events per second of each stream.
type streamKey struct {
	name      string
	perSecond int
}

// versus is how many times as many streams of a core one generator has as another; empty if that was not measured.
func versus(results map[streamKey][]openStreams, name, other string, perSecond int) string {
	theirs, ok := results[streamKey{other, perSecond}]
	if !ok {
		return ""
	}
	return digits(ratio(column(results[streamKey{name, perSecond}], openStreams.perCore), column(theirs, openStreams.perCore)), 2)
}

func (b *bench) writeStreams(list []streamer, results map[streamKey][]openStreams, withOne map[string]int64) {
	head := []string{"generator", "events/s each", "open at once", "events", "came", "CPU us/event", "CPU us/stream second", "streams of a core"}
	for _, g := range list[1:] {
		head = append(head, "x "+g.name)
	}
	t := newTable(append(head, "cores", "ended after s", "pace", "server cores", "RSS MB", "KB per stream")...)
	for _, perSecond := range eventRates {
		for _, g := range list {
			s := results[streamKey{g.name, perSecond}]
			row := []any{
				g.name, perSecond, s[0].peak, s[0].all, cameCell(s), typical(s, openStreams.perEvent, 2), typical(s, openStreams.perStreamSecond, 1),
				typical(s, openStreams.perCore, 0),
			}
			for _, other := range list[1:] {
				row = append(row, versus(results, g.name, other.name, perSecond))
			}
			t.row(append(row, typical(s, openStreams.cores, 2), typical(s, openStreams.late, 2),
				typical(s, func(s openStreams) float64 { return s.pace }, 3), typical(s, func(s openStreams) float64 { return s.serverCores }, 2),
				typical(s, openStreams.megabytes, 1), typical(s, func(s openStreams) float64 { return s.kilobytes(withOne[g.name]) }, 1))...)
		}
	}
	t.write(b.out)
}

// cameCell is the least share of the events that came.
func cameCell(list []openStreams) string {
	if list[0].came < 0 {
		return "whole bodies"
	}
	return digits(least(list), 4)
}

func least(list []openStreams) float64 { return slices.Min(column(list, openStreams.read)) }

// streamsLine is the part of the last line with what streams cost.
func streamsLine(list []streamer, results, many map[streamKey][]openStreams, withOne map[string]int64) string {
	var line strings.Builder
	ours := list[0].name
	for _, perSecond := range eventRates {
		s, m := results[streamKey{ours, perSecond}], many[streamKey{ours, perSecond}]
		fmt.Fprintf(&line, " came-%[1]d=%.4[2]f streams-per-core-%[1]d=%[3]s us-per-event-%[1]d=%[4]s kb-per-stream-%[1]d=%[5]s", perSecond, least(s),
			typical(s, openStreams.perCore, 0), typical(s, openStreams.perEvent, 2),
			typical(s, func(s openStreams) float64 { return s.kilobytes(withOne[ours]) }, 1))
		for _, g := range list[1:] {
			fmt.Fprintf(&line, " vs-%s-%d=%s", g.name, perSecond, versus(results, ours, g.name, perSecond))
		}
		fmt.Fprintf(&line, " open-%[1]d=%[2]d open-came-%[1]d=%.4[3]f", perSecond, m[0].peak, least(m))
	}
	return line.String()
}
