package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
)

const (
	// streamsPerSecond of streamEvents events each, whose times are compared.
	streamsPerSecond, streamEvents = 200, 20
	// streamReply has an event every 20 ms to 30 ms. It ends without one that says that it is the last, of
	// which the server keeps no time.
	streamReply = "stream:20:0s:20ms:10ms:unended"
	// firstLatency is that of the first event.
	firstLatency = "lognormal:200ms:0.3"
	// streamStall is how long one stream in ten pauses, after its 10th event.
	streamStall = 2 * time.Second
	// allowedShare of a time, or allowedTime, whichever is longer, is how far it may be from the truth.
	allowedShare, allowedTime = 0.002, 50 * time.Microsecond
)

// streamProtocol is one over which streams come.
type streamProtocol struct {
	name, prefix string
	server       groundtruth.Protocol
	target       v1beta1.Protocol
	format       groundtruth.Format
}

var streamProtocols = []streamProtocol{
	{"HTTP/1.1", "", groundtruth.HTTP1, v1beta1.ProtocolHTTP1, groundtruth.SSE},
	{"HTTP/2 by prior knowledge", "h2-", groundtruth.H2C, v1beta1.ProtocolHTTP2, groundtruth.SSE},
	{"WebSocket", "ws-", groundtruth.HTTP1, v1beta1.ProtocolHTTP1, groundtruth.WebSocket},
}

// comparedQuantiles are those whose error counts.
var comparedQuantiles = []float64{0.5, 0.95, 0.99}

// compared is a time as it was measured, and in truth.
type compared struct{ measured, truth time.Duration }

// by is the error.
func (c compared) by() time.Duration { return (c.measured - c.truth).Abs() }

// ofAllowed is the error as a share of what it may be.
func (c compared) ofAllowed() float64 {
	return float64(c.by()) / max(allowedShare*float64(c.truth), float64(allowedTime))
}

// compareTimes compares the quantiles of a histogram with times, in rows of a table, and returns the largest
// errors. Both must have the same number, and enough for a quantile.
func compareTimes(t *table, name string, h *measure.Histogram, truth []time.Duration) (worst deviation, err error) {
	if h.Count() != int64(len(truth)) {
		return worst, fmt.Errorf("%s: the worker has %d times, the server %d", name, h.Count(), len(truth))
	}
	for _, q := range comparedQuantiles {
		got, ok := h.Quantile(q)
		if !ok {
			continue // too few samples
		}
		c := compared{got, nearestRank(truth, q)}
		worst.us, worst.ofAllowed = max(worst.us, float64(c.by())/1e3), max(worst.ofAllowed, c.ofAllowed())
		t.row(name, quantileName(q), c.truth.Round(time.Microsecond), c.measured, c.by().Round(time.Microsecond),
			digits(errorPercent(c.measured, c.truth), 3)+"%", digits(c.ofAllowed(), 2))
	}
	if _, ok := h.Quantile(comparedQuantiles[0]); !ok {
		return worst, fmt.Errorf("%s: %d times are too few for a quantile: let --duration be longer", name, len(truth))
	}
	return worst, nil
}

// deviation is an error in microseconds, and as a share of what it may be.
type deviation struct{ us, ofAllowed float64 }

// timedStreams are the errors of the times of one round.
type timedStreams struct{ first, gap, stall deviation }

// streamAccuracy compares times of streams over a protocol. It returns its part of the last line.
func (b *bench) streamAccuracy(ctx context.Context, over streamProtocol, d time.Duration) (string, error) {
	var rounds []timedStreams
	for range b.rounds {
		r, err := b.timeStreams(over, d)
		if err != nil {
			return "", fmt.Errorf("streams over %s: %w", over.name, err)
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		rounds = append(rounds, r)
	}
	part := ""
	for _, k := range []struct {
		name string
		of   func(timedStreams) deviation
	}{
		{"first", func(t timedStreams) deviation { return t.first }},
		{"gap", func(t timedStreams) deviation { return t.gap }},
		{"stall", func(t timedStreams) deviation { return t.stall }},
	} {
		part += fmt.Sprintf(" %[1]s%[2]s-error-us=%[3]s %[1]s%[2]s-of-allowed=%[4]s", over.prefix, k.name,
			typical(rounds, func(t timedStreams) float64 { return k.of(t).us }, 0), typical(rounds, func(t timedStreams) float64 { return k.of(t).ofAllowed }, 2))
	}
	return part, nil
}

// timeStreams measures streams without a stall, and then some of which one in ten has one.
func (b *bench) timeStreams(over streamProtocol, d time.Duration) (r timedStreams, err error) {
	o, err := b.observeStreams(over, d, weighted{"stream", "/${seq}", 1})
	if err != nil {
		return r, err
	}
	due := schedule{start: o.start, perSecond: streamsPerSecond}.due
	fmt.Fprintf(b.out, "\n%d streams of %d events in %v over %s, by the server's clock and by the worker's:\n\n", len(o.records), streamEvents, d, over.name)
	t := newTable("time", "quantile", "server", "measured", "error", "error", "of what is allowed")
	if r.first, err = compareTimes(t, "first event, from when it was due", o.timesOf(0, measure.FirstEvent), firstEvents(o.records, due)); err != nil {
		return r, err
	}
	if r.gap, err = compareTimes(t, "between events", o.timesOf(0, measure.BetweenEvents), gapsOf(o.records)); err != nil {
		return r, err
	}
	if o, err = b.observeStreams(over, d, weighted{"steady", "/${seq}", 9}, weighted{"stalled", "/stalled/${seq}", 1}); err != nil {
		return r, err
	}
	longest := stalls(o.records)
	if r.stall, err = compareTimes(t, fmt.Sprintf("longest gap, with a stall of %v", streamStall), o.timesOf(1, measure.LongestGap), longest); err != nil {
		return r, err
	}
	t.write(b.out)
	fmt.Fprintf(b.out, "\nAllowed is %.1f %% of the server's time or %v, whichever is longer. %d of %d streams stalled.\n",
		100*allowedShare, allowedTime, len(longest), len(o.records))
	return r, nil
}

// timesOf are the times of the streams of a request.
func (o observed) timesOf(request int, t measure.StreamTime) *measure.Histogram {
	if s := o.measured.Requests[request].Streams; s != nil {
		return s.Times[t]
	}
	return measure.NewHistogram() // no event came
}

// observeStreams runs requests whose streams have known times.
func (b *bench) observeStreams(over streamProtocol, d time.Duration, requests ...weighted) (observed, error) {
	n, routes := fmt.Sprint(streamsPerSecond*int64(d/time.Second)), accuracyRoutes(over.format)
	return b.observeTest(over.server, func(url string) *v1beta1.LoadTest {
		lt := streamTest(url, "", arrivals(streamsPerSecond, d), requests...)
		lt.Spec.Target.Protocol = over.target
		if over.format == groundtruth.WebSocket {
			asMessages(lt)
		}
		return lt
	}, []string{"-route", routes[0], "-route", routes[1], "-record", n, "-times", fmt.Sprint(streamEvents)}, nil)
}

// asMessages has each request read its events as messages of WebSocket.
func asMessages(lt *v1beta1.LoadTest) {
	for i := range lt.Spec.Requests {
		r := &lt.Spec.Requests[i]
		r.WebSocket, r.HTTP = &v1beta1.WebSocket{Path: r.HTTP.Path, Messages: streamEvents}, nil
	}
}

// accuracyRoutes are streams without a stall, and with one, in the words of the ground-truth server.
func accuracyRoutes(format groundtruth.Format) []string {
	reply := streamReply + ":format=" + string(format)
	return []string{
		"=" + reply + "@" + firstLatency,
		fmt.Sprintf("stalled=%s:stall=10,%v@%s", reply, streamStall, firstLatency),
	}
}

// firstEvents is from when each stream was due until its first event was written, sorted.
func firstEvents(records []groundtruth.Record, due func(number int64) int64) (list []time.Duration) {
	for _, r := range records {
		if r.Events > 0 {
			list = append(list, time.Duration(r.First-due(r.Number)))
		}
	}
	slices.Sort(list)
	return list
}

// gapsOf is between every two events that were written one after the other, sorted.
func gapsOf(records []groundtruth.Record) (list []time.Duration) {
	for _, r := range records {
		for i := 1; i < len(r.Times); i++ {
			list = append(list, time.Duration(r.Times[i]-r.Times[i-1]))
		}
	}
	slices.Sort(list)
	return list
}

// stalls is the longest gap of each stream that stalled, sorted. It is shorter than the stall if the event before it
// was written late.
func stalls(records []groundtruth.Record) (list []time.Duration) {
	for _, r := range records {
		if gap := time.Duration(r.Gap); gap >= streamStall/2 {
			list = append(list, gap)
		}
	}
	slices.Sort(list)
	return list
}
