package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/hack/bench/process"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
	"github.com/loadtest-dev/loadtest-operator/test/harness"
)

const (
	// replayedPerSecond is the rate of the log that is replayed, at both sizes: the larger one has
	// 10 million requests in 10 minutes.
	replayedPerSecond = 10_000_000 / 600
	// replayShort and replayLong are how long the log is.
	replayShort, replayLong = 12 * time.Second, 10 * time.Minute
	// replayRecords is of how many requests the server's times are compared at most; they are spread over the log.
	replayRecords = 500_000
	replayLog     = "access.log"
	bareTimes     = "times"
	replaySeed    = 59
	// replayedOnce is from when on a replay is measured once, since the moments in which the machine stands still are
	// a small part of it. Of shorter ones, the median counts.
	replayedOnce = 5 * time.Minute
)

// replaySpeeds are those at which it is replayed, unless one is asked for, of at most maxSpeed.
var replaySpeeds = []int{1, 5}

const maxSpeed = 10

// benchReplay replays a log and compares when its requests came with when they were due. It measures what a
// worker takes of memory with the log and with a tenth of it, and how many requests it sends in the time in which
// it sends the same rate without a log.
func benchReplay(_ context.Context, b *bench) (string, error) {
	d := replayShort
	if b.full {
		d = replayLong
	}
	d = b.length(d)
	times, err := b.writeLog(d)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(b.out, "One core for the generator, one for the server, and %d connections between them; a log of %d requests in %v, at instants that are drawn.\n"+
		"The times are those at which the server's kernel had received one request of %d; read is by when the server had read it.\n"+
		"The bare sender sends the same requests at the same instants, and measures nothing: the least that this machine permits.\n"+
		"Figures of the last line are medians of the rounds.\n\n", replayConnections, len(times), d, comparedOf(len(times)))
	t := newTable("speed", "round", "generator", "due", "sent", "p50 late", "p99 late", "p99.9 late", "longest", "p99 read", "memory", "CPU a request")
	rates := newTable("speed", "round", "sent with the log", "sent without a log", "CPU a request", "sent of those")
	last := "bench-replay:"
	speeds := replaySpeeds
	if b.speed > 0 {
		speeds = []int{b.speed}
	}
	for _, speed := range speeds {
		line, err := b.replayAt(times, speed, d/time.Duration(speed), t, rates)
		if err != nil {
			return "", err
		}
		last += line
	}
	short := max(d/10, time.Second) // the shortest step
	if times, err = b.writeLog(short); err != nil {
		return "", err
	}
	seen, err := b.replayOnce(times, 1, short)
	if err != nil {
		return "", err
	}
	t.write(b.out)
	fmt.Fprintln(b.out)
	rates.write(b.out)
	fmt.Fprintf(b.out, "\nWith a log of %d requests, the generator takes %d MB.\n", len(times), seen.usage.PeakRSS/1e6)
	return last + fmt.Sprintf(" tenth-mb=%.0f", float64(seen.usage.PeakRSS)/1e6), nil
}

// replayAt replays the log at a speed in so many rounds, and adds rows of them. It returns a part of the last line, of
// which each figure is the median.
func (b *bench) replayAt(times []int64, speed int, length time.Duration, t, rates *table) (string, error) {
	rounds := b.rounds
	if length >= replayedOnce {
		rounds = 1
	}
	var late, bareLate, ratios, memory []float64
	for round := range rounds {
		r, err := b.replayRound(times, speed, length)
		if err != nil {
			return "", err
		}
		r.addTo(t, rates, speed, round+1)
		late = append(late, float64(nearestRank(r.seen.late, 0.99))/1e3)
		bareLate = append(bareLate, float64(nearestRank(r.bare.late, 0.99))/1e3)
		ratios = append(ratios, r.ofThoseWithout())
		memory = append(memory, float64(r.seen.usage.PeakRSS)/1e6)
	}
	return fmt.Sprintf(" speed-%[1]d-p99-late-us=%.0[2]f speed-%[1]d-bare-p99-late-us=%.0[3]f speed-%[1]d-ratio=%.3[4]f speed-%[1]d-mb=%.0[5]f", speed,
		median(late), median(bareLate), median(ratios), median(memory)), nil
}

// replayRound is a replay, the same requests by the bare sender, and the same rate without a log.
type replayRound struct {
	seen, bare replayed
	rate       observed
}

func (b *bench) replayRound(times []int64, speed int, length time.Duration) (r replayRound, err error) {
	if r.seen, err = b.replayOnce(times, speed, length); err != nil {
		return r, err
	}
	if r.bare, err = b.sendBare(times, speed); err != nil {
		return r, err
	}
	r.rate, err = b.withoutLog(int64(len(times))*int64(time.Second)/int64(length), length)
	return r, err
}

// ofThoseWithout is how many were sent with the log, of those without.
func (r *replayRound) ofThoseWithout() float64 {
	return float64(r.seen.sent) / float64(r.rate.total.Sent)
}

// addTo adds rows of a round.
func (r *replayRound) addTo(t, rates *table, speed, round int) {
	for _, of := range []struct {
		name string
		replayed
	}{{"loadworker", r.seen}, {"bare sender", r.bare}} {
		t.row(speed, round, of.name, of.due, of.sent, lateBy(of.late, 0.5), lateBy(of.late, 0.99), lateBy(of.late, 0.999), lateBy(of.late, 1),
			lateBy(of.read, 0.99), fmt.Sprintf("%d MB", of.usage.PeakRSS/1e6), each(of.usage, of.sent))
	}
	rates.row(speed, round, r.seen.sent, r.rate.total.Sent, each(r.rate.usage, r.rate.total.Sent), fmt.Sprintf("%.3f", r.ofThoseWithout()))
}

func lateBy(late []time.Duration, quantile float64) string {
	return nearestRank(late, quantile).Round(time.Microsecond).String()
}

// writeLog writes a log of so long, as Envoy does, with the number of each request at the end of its
// path. It returns when each came after the first.
func (b *bench) writeLog(d time.Duration) ([]int64, error) {
	random := rand.New(rand.NewPCG(replaySeed, uint64(d)))
	times := make([]int64, replayedPerSecond*int64(d/time.Millisecond)/1000)
	for i := range times {
		times[i] = random.Int64N(int64(d))
	}
	slices.Sort(times)
	f, err := os.Create(b.path(replayLog))
	if err != nil {
		return nil, err
	}
	w := bufio.NewWriter(f)
	began := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	for i, at := range slices.Backward(times) {
		times[i] = at - times[0]
	}
	for i, at := range times {
		fmt.Fprintf(w, "[%s] \"GET /items/%d HTTP/1.1\" 200 - 0 12 4 3 \"-\" \"agent\" \"id\" \"shop\" \"-\"\n", began.Add(time.Duration(at)).Format("2006-01-02T15:04:05.000000000Z"), i)
	}
	if err := w.Flush(); err != nil {
		return nil, err
	}
	return times, f.Close()
}

// replayed is what the server saw of a replay.
type replayed struct {
	due, sent int64
	// late is by how much requests had come after they were due, and read by how much the server had read them
	// after that; both ascend.
	late, read []time.Duration
	usage      process.Usage
}

// replayOnce replays the log. A request that comes before it is due is an error.
func (b *bench) replayOnce(times []int64, speed int, length time.Duration) (seen replayed, err error) {
	t, err := b.serveStamped(times)
	if err != nil {
		return seen, err
	}
	lt := loadTest(t.URL, 1)
	fast, most := v1beta1.NewDecimal(fmt.Sprint(speed)), v1beta1.NewDecimal("999999999")
	lt.Spec.Replay = &v1beta1.Replay{
		From:  v1beta1.Content{ConfigMap: &v1beta1.KeyReference{Name: "bench", Key: replayLog}},
		Speed: &fast, MaxRate: &most, Duration: *harness.Lasting(length),
	}
	w, err := b.startWorker(lt, 0, generatorCore, "", limitReplay()...)
	if err != nil {
		return seen, err
	}
	c := crew{w}
	if err := c.ready(); err != nil {
		return seen, err
	}
	start, measured, err := c.run(0)
	if err != nil {
		return seen, err
	}
	seen.due, seen.sent = measured.Due, measured.Requests[0].Sent
	err = seen.end(t, c.stop, times, start, int64(speed))
	return seen, err
}

// end reads what the server has recorded, and stops the generator and the server.
func (r *replayed) end(t *target, stopGenerator func() (process.Usage, error), times []int64, start, speed int64) error {
	records, err := t.records()
	if err != nil {
		return err
	}
	if r.usage, err = stopGenerator(); err != nil {
		return err
	}
	if _, _, err := t.stop(); err != nil {
		return err
	}
	return r.setLateness(records, times, start, speed)
}

// comparedOf is of how many requests that follow one another the times of one are compared, if there are so many.
func comparedOf(requests int) int { return (requests + replayRecords - 1) / replayRecords }

// serveStamped starts a server that keeps when its kernel had received requests.
func (b *bench) serveStamped(times []int64) (*target, error) {
	return b.serve(serverCore, "-record", fmt.Sprint(replayRecords), "-every", fmt.Sprint(comparedOf(len(times))), "-stamp")
}

// setLateness sets by how much requests came after they were due. One that came before is an error.
func (r *replayed) setLateness(records []groundtruth.Record, times []int64, start, speed int64) error {
	for _, record := range records {
		due := start + times[record.Number]/speed
		by := time.Duration(record.Came - due)
		switch {
		case record.Came == 0:
			return fmt.Errorf("the kernel does not say when request %d came", record.Number)
		case by < 0:
			return fmt.Errorf("request %d came %v before it was due", record.Number, -by)
		}
		r.late, r.read = append(r.late, by), append(r.read, time.Duration(record.Received-due))
	}
	slices.Sort(r.late)
	slices.Sort(r.read)
	return nil
}

// replayConnections are as many as each generator has. With thousands, of which each would carry a request after
// this machine had stood still, the server could not answer as many requests a second as come, and would not recover.
const replayConnections = 1000

// limitReplay gives a worker so many.
func limitReplay() []string { return []string{"-max-connections", fmt.Sprint(replayConnections)} }

// sendBare sends the requests of the log by the bare sender.
func (b *bench) sendBare(times []int64, speed int) (seen replayed, err error) {
	content := make([]byte, 0, 8*len(times))
	for _, at := range times {
		content = binary.LittleEndian.AppendUint64(content, uint64(at))
	}
	if err := os.WriteFile(b.path(bareTimes), content, 0o600); err != nil {
		return seen, err
	}
	t, err := b.serveStamped(times)
	if err != nil {
		return seen, err
	}
	p, err := process.Start(process.Command{Path: b.path("sender"), Core: generatorCore})
	if err != nil {
		return seen, err
	}
	fmt.Fprintf(p.Stdin, "{\"address\": %q, \"connections\": %d, \"times\": %q, \"speed\": %d}\n", strings.TrimPrefix(t.URL, "http://"), replayConnections, b.path(bareTimes), speed)
	var answer struct{ Sent int64 }
	if err := p.ReadJSON(&answer); err != nil {
		return seen, err
	}
	start := groundtruth.Now() + int64(soon)
	fmt.Fprintln(p.Stdin, start)
	if err := p.ReadJSON(&answer); err != nil {
		return seen, err
	}
	seen.due, seen.sent = int64(len(times)), answer.Sent
	err = seen.end(t, p.Stop, times, start, int64(speed))
	return seen, err
}

// each is the processor time of a generator for each request; that of a replay has both readings of the log.
func each(u process.Usage, requests int64) string {
	return (u.CPU / time.Duration(max(requests, 1))).Round(100 * time.Nanosecond).String()
}

// withoutLog is what a worker does of the same rate without a log, in the same time.
func (b *bench) withoutLog(perSecond int64, length time.Duration) (observed, error) {
	return b.observe(overTCP, arrivals(perSecond, length), 1, nil, limitReplay())
}
