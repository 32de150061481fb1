package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/hack/bench/process"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
	"github.com/loadtest-dev/loadtest-operator/test/harness"
)

const (
	// perSecond is the rate of all accuracy measurements but the pacedUsers's.
	perSecond = 1000
	// pacedUsers is the number of users that send one request a second each.
	pacedUsers = 10_000
	// stallAt and stallFor are when the server stands still.
	stallAt, stallFor = 10 * time.Second, 2 * time.Second
	// tenWorkers is the number of workers of a bounded generator.
	tenWorkers = 10
)

// benchAccuracy compares reported figures with the server's.
func benchAccuracy(ctx context.Context, b *bench) (string, error) {
	d := b.length(30 * time.Second)
	if d <= stallAt+stallFor {
		return "", fmt.Errorf("--duration must be longer than %v: the server stalls until then", stallAt+stallFor)
	}
	fmt.Fprintf(b.out, "One core for the generator, one for the server; %v each, the median of %d rounds counts.\n", d, b.rounds)
	var last strings.Builder
	for _, over := range protocols {
		var paced []float64
		quantiles, err := repeat(ctx, b, func() (float64, error) {
			worst, arrived, err := b.quantiles(over, d)
			paced = append(paced, arrived.worst)
			return worst, err
		})
		if err != nil {
			return "", err
		}
		stall, err := repeat(ctx, b, func() (float64, error) { return b.stall(ctx, over, d) })
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&last, " %[1]squantile-error=%.3[2]f%% %[1]sstall-p99-error=%.2[3]f%%", prefixes[over], quantiles, stall)
		if over != overTCP { // over which it is measured by itself, below
			fmt.Fprintf(&last, " %spacing-error=%.2f%%", prefixes[over], median(paced))
		}
	}
	pacing, err := repeat(ctx, b, func() (float64, error) { return b.pacing(d) })
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("bench-accuracy:%s pacing-error=%.2f%%", last.String(), pacing), nil
}

// prefixes of the figures of protocols in the last line.
var prefixes = map[protocol]string{overTCP: "", overTLS: "tls-", overHTTP2: "h2-", overGRPC: "grpc-"}

// repeat is the median of several rounds.
func repeat(ctx context.Context, b *bench, once func() (float64, error)) (float64, error) {
	values := make([]float64, b.rounds)
	for i := range values {
		var err error
		if values[i], err = once(); err != nil {
			return 0, err
		}
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
	}
	return median(values), nil
}

// observed is a step, as the workers measured it and as the server saw it.
type observed struct {
	start    int64 // on the kernel's clock
	measured *measure.Measurement
	total    measure.Request
	records  []groundtruth.Record
	counters groundtruth.Counters
	usage    process.Usage // of the workers
}

// observe runs one step of some workers against a ground-truth server of its own.
func (b *bench) observe(over protocol, s v1beta1.Step, workers int32, serverArgs, workerArgs []string) (observed, error) {
	return b.observeTest(spoken[over], func(url string) *v1beta1.LoadTest { return speak(over, loadTest(url, workers, s)) }, serverArgs, workerArgs)
}

// observeTest runs the first step of a LoadTest against a ground-truth server of its own.
func (b *bench) observeTest(speaking groundtruth.Protocol, test func(url string) *v1beta1.LoadTest, serverArgs, workerArgs []string) (o observed, err error) {
	t, err := b.serve(serverCore, append(serverArgs, "-protocol", string(speaking))...)
	if err != nil {
		return o, err
	}
	lt := test(t.URL)
	var c crew
	for w := range *lt.Spec.Parallelism {
		one, err := b.startWorker(lt, w, generatorCore, t.ca, workerArgs...)
		if err != nil {
			return o, err
		}
		c = append(c, one)
	}
	if err := c.ready(); err != nil {
		return o, err
	}
	if o.start, o.measured, err = c.run(0); err != nil {
		return o, err
	}
	if o.total, err = o.measured.Total(); err != nil {
		return o, err
	}
	if o.records, err = t.records(); err != nil {
		return o, err
	}
	if o.usage, err = c.stop(); err != nil {
		return o, err
	}
	o.counters, _, err = t.stop()
	return o, err
}

// shown are the quantiles in tables.
var shown = []float64{0.5, 0.75, 0.9, 0.95, 0.99, 0.999}

func quantileName(q float64) string { return fmt.Sprintf("p%.5g", 100*q) }

// latency is long, so that the error of measuring it, and not the loopback's
// tenth of a millisecond, is what remains.
var latency = groundtruth.LogNormal{Median: time.Second, Sigma: 0.3}

const latencyArgument = "lognormal:1s:0.3"

// quantiles compares the service time of two merged workers with how long the
// server really held each request. The result is the largest error, and how the requests
// came.
func (b *bench) quantiles(over protocol, d time.Duration) (worst float64, came arrived, err error) {
	hits := perSecond * int64(d/time.Second)
	o, err := b.observe(over, arrivals(perSecond, d), 2, []string{
		"-route", "=" + wholeReply(over) + "@" + latencyArgument, "-record", fmt.Sprint(hits),
	}, nil)
	if err != nil {
		return 0, came, err
	}
	truth := held(o.records)
	if n := o.total.Service.Count(); n != int64(len(truth)) {
		fmt.Fprintf(b.log, "the workers have %d service times, the server answered %d\n", n, len(truth))
	}
	fmt.Fprintf(b.out, "\nService time of %d requests over %s, two workers merged, latency %s:\n\n", o.total.Service.Count(), over, latencyArgument)
	t := newTable("quantile", "distribution", "server held", "measured", "error")
	for _, q := range shown {
		want := nearestRank(truth, q)
		got, ok := o.total.Service.Quantile(q)
		if !ok {
			continue // too few samples
		}
		e := errorPercent(got, want)
		worst = max(worst, e, -e)
		t.row(quantileName(q), latency.At(q).Round(time.Microsecond), want.Round(time.Microsecond), got, digits(e, 3)+"%")
	}
	t.write(b.out)
	came = schedule{start: o.start, perSecond: perSecond, seconds: int(d / time.Second)}.compare(o.records)
	fmt.Fprintf(b.out, "\n%d requests came before they were due; in no second did those that came differ by more than %s%% from those that were due.\n", came.early, digits(came.worst, 2))
	return worst, came, nil
}

// held is how long the server held each request, sorted.
func held(records []groundtruth.Record) []time.Duration {
	list := make([]time.Duration, 0, len(records))
	for _, r := range records {
		if r.Answered > 0 {
			list = append(list, time.Duration(r.Answered-r.Received))
		}
	}
	slices.Sort(list)
	return list
}

// pacing compares when requests came with when they were due. The result is the
// largest deviation of any second, in percent, at the rate of the others.
func (b *bench) pacing(d time.Duration) (float64, error) {
	t := newTable("load", "due", "sent", "sent of due", "served", "lateness p50", "lateness p99", "early", "worst second")
	cases := []struct {
		name string
		rate int64
		step v1beta1.Step
	}{
		{fmt.Sprintf("%d arrivals/s", perSecond), perSecond, arrivals(perSecond, d)},
		{fmt.Sprintf("%d users, 1/s each", pacedUsers), pacedUsers, harness.PacedUsers(pacedUsers, "1", d)},
	}
	result := 0.0
	for i, c := range cases {
		due := c.rate * int64(d/time.Second)
		o, err := b.observe(overTCP, c.step, 1, []string{"-record", fmt.Sprint(due)}, []string{"-open-for", "1m"})
		if err != nil {
			return 0, err
		}
		arrived := schedule{start: o.start, perSecond: c.rate, seconds: int(d / time.Second)}.compare(o.records)
		if i == 0 {
			result = arrived.worst
		}
		p50, p99 := reported(o.measured.Lateness, 0.5), reported(o.measured.Lateness, 0.99)
		t.row(c.name, o.measured.Due, o.total.Sent, digits(100*float64(o.total.Sent)/float64(due), 3)+"%",
			o.counters.Requests, p50, p99, arrived.early, digits(arrived.worst, 2)+"%")
	}
	fmt.Fprintf(b.out, "\nWhat was due, sent and served, by the server's clock; early is before it was due:\n\n")
	t.write(b.out)
	return result, nil
}
