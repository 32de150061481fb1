package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/loadtest-dev/loadtest-operator/hack/bench/process"
)

// Names of the rows.
const (
	bareRedirect   = "bare handler, 302"
	cachedRedirect = "shortener, redirect from Redis"
	storedRedirect = "shortener, redirect from Postgres"
	createLink     = "shortener, create"
	bareAppend     = "bare handler, event"
	durableAppend  = "eventstore, append"
	bareTake       = "bare handler, 200"
	limiterTake    = "ratelimiter, lua"
)

// grouped is how many events the larger transactions of the plain loop have,
// and how many clients the store has at most.
const grouped = 256

// targetResults are all rounds.
type targetResults struct {
	entries []entry
	hits    map[key][]hit
	// plain is events per second of the plain loop, by events per transaction.
	plain      map[int][]float64
	fileSystem string
}

// insert runs the plain loop of package sqlite, on the core of the services.
func (x *testEnv) insert(ctx context.Context, d time.Duration, plain map[int][]float64) error {
	var out bytes.Buffer
	p, err := process.Start(process.Command{
		Path: x.path("sqlite.test"), Core: serverCore, Env: []string{"TMPDIR=" + x.work}, Stdin: strings.NewReader(""), Stdout: &out,
		Args: []string{"-test.run", "^$", "-test.bench", fmt.Sprintf("^BenchmarkPlainInsert$/^transaction=(1|64|%d)$", grouped), "-test.benchtime", d.String()},
	})
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, p.Kill)()
	if _, err := p.Wait(); err != nil {
		return err
	}
	rates, err := loopRates(out.String())
	for size, rate := range rates {
		plain[size] = append(plain[size], rate)
	}
	return err
}

// loopRates finds the events per second, by events per transaction, in the output
// of the benchmark.
func loopRates(out string) (map[int]float64, error) {
	rates := map[int]float64{}
	for line := range strings.Lines(out) {
		_, rest, ok := strings.Cut(line, "/transaction=")
		fields := strings.Fields(rest)
		unit := slices.Index(fields, "events/s")
		if !ok || unit < 1 {
			continue
		}
		size, err := strconv.Atoi(fields[0])
		if err != nil {
			return nil, fmt.Errorf("events per transaction in %q: %w", line, err)
		}
		if rates[size], err = strconv.ParseFloat(fields[unit-1], 64); err != nil {
			return nil, fmt.Errorf("events per second in %q: %w", line, err)
		}
	}
	if rates[1] == 0 || rates[grouped] == 0 {
		return nil, fmt.Errorf("the plain loop did not say how fast it was:\n%s", out)
	}
	return rates, nil
}

// of is one figure of all rounds of a row.
func (r targetResults) of(name string, connections int64, figure func(hit) float64) []float64 {
	return column(r.hits[entry{name: name, connections: connections}.key()], figure)
}

func (r targetResults) write(b *bench, d time.Duration) {
	fmt.Fprintf(b.out, "Each service is one replica on one core (GOMAXPROCS=1); the generator has the other core, with Redis and Postgres.\n"+
		"%v each, median of %d rounds. A bare handler is net/http, which says the same and does nothing for it. The services\n"+
		"have a memory limit, as in the chart, with which the event store collects garbage less often. Redirects are of %d\n"+
		"links, without clicks. Appends are synced to the disk (%s, synchronous=full); Postgres is durable.\n\n", d, b.rounds, lastHot-firstHot+1, r.fileSystem)
	t := newTable("what", "connections", "req/s (min..max)", "x bare", "CPU us/req", "bare's / its", "cores", "behind us/req", "generator cores")
	for _, e := range r.entries {
		hits := r.hits[e.key()]
		rates, costs := column(hits, hit.rate), column(hits, hit.serverCost)
		row := []any{e.name, e.connections, spread(rates),
			"", digits(median(costs), 2), "", typical(hits, hit.serverCores, 2), "", typical(hits, hit.generatorCores, 2)}
		if bare, ok := r.hits[key{name: e.bare}]; ok {
			row[3] = digits(ratio(rates, column(bare, hit.rate)), 2)
			row[5] = digits(ratio(column(bare, hit.serverCost), costs), 2)
		}
		if e.behind != nil {
			row[7] = typical(hits, hit.behindCost, 2)
		}
		t.row(row...)
	}
	t.write(b.out)
	r.writePlain(b.out)
	if names := disturbed(r.alone()); len(names) > 0 {
		fmt.Fprintf(b.out, "\nDo not trust this run: something else kept cores busy, since neither generator nor service had its own with %s.\n",
			strings.Join(names, ", "))
	}
}

func (r targetResults) writePlain(w io.Writer) {
	fmt.Fprintf(w, "\nAppends at %d connections against a plain loop over the same table, driver and settings, which sends no replies:\n\n", grouped)
	t := newTable("events per transaction", "events/s (min..max)", "appends / it")
	appends := r.of(durableAppend, grouped, hit.rate)
	for _, size := range slices.Sorted(maps.Keys(r.plain)) {
		rates := r.plain[size]
		t.row(size, spread(rates), digits(ratio(appends, rates), 2))
	}
	t.write(w)
}

// alone are the rows in which either core has to be busy.
func (r targetResults) alone() map[key][]sample {
	all := map[key][]sample{}
	for _, e := range r.entries {
		if e.waits {
			continue
		}
		for _, h := range r.hits[e.key()] {
			all[e.key()] = append(all[e.key()], h.sample)
		}
	}
	return all
}

// lastLine has rates, and of each bar what it is by processor time too: what else
// keeps a machine busy takes from the rates of both unevenly, and hardly from that.
func (r targetResults) lastLine() string {
	appends := r.of(durableAppend, grouped, hit.rate)
	redirect, redirectCPU := r.against(cachedRedirect, bareRedirect, connections)
	stored, storedCPU := r.against(durableAppend, bareAppend, grouped)
	limiter, limiterCPU := r.against(limiterTake, bareTake, connections)
	return fmt.Sprintf("bench-targets: redirect-vs-bare=%.2f redirect-vs-bare-cpu=%.2f append-per-s=%.0f append-vs-sqlite=%.2f append-vs-sqlite-by-%d=%.2f"+
		" append-vs-bare=%.2f append-vs-bare-cpu=%.2f limiter-vs-bare=%.2f limiter-vs-bare-cpu=%.2f",
		redirect, redirectCPU, median(appends), ratio(appends, r.plain[1]), grouped, ratio(appends, r.plain[grouped]),
		stored, storedCPU, limiter, limiterCPU)
}

// against compares a service with a bare handler: requests per second, and per
// second of its core.
func (r targetResults) against(name, bare string, n int64) (byRate, byCPU float64) {
	return ratio(r.of(name, n, hit.rate), r.of(bare, n, hit.rate)),
		ratio(r.of(bare, n, hit.serverCost), r.of(name, n, hit.serverCost))
}
