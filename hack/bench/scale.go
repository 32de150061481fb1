package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/hack/bench/process"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
	"github.com/loadtest-dev/loadtest-operator/test/harness"
)

const (
	// processes share the users: each may have 20,000 descriptors, and each
	// server is at an address of its own, as each has ports for 28,000.
	processes = 6
	// period is how often each of the users sends a request, perUser the rate that
	// this is.
	period  = 10 * time.Second
	perUser = "0.1"
	// holdAll is how long each response of the first step is held: longer than it
	// takes to send the requests of all users.
	holdAll = 20 * time.Second
)

// benchScale drives many users: first one request of each, all in flight at
// once; then one request of each every period.
func benchScale(ctx context.Context, b *bench) (string, error) {
	if err := enoughTracked(b.users); err != nil {
		return "", err
	}
	users := int32(b.users)
	x, err := b.enlist(ctx, harness.Burst(users, 1), harness.PacedUsers(users, perUser, b.length(30*time.Second)))
	if err != nil {
		return "", err
	}
	defer x.end()
	if err := x.drive(0, holdAll); err != nil {
		return "", err
	}
	if err := x.drive(1, 0); err != nil {
		return "", err
	}
	return x.report(b)
}

// enoughTracked refuses to fill the kernel's table of tracked connections: it
// would drop packets of everything on the machine, this benchmark's first.
func enoughTracked(users int64) error {
	now, most, ok := process.Tracked()
	if ok && now+users+users/10 > most {
		return fmt.Errorf("the kernel tracks %d connections and can track %d, which is too few for %d more; "+
			"raise net.netfilter.nf_conntrack_max, wait two minutes for old ones, or set --users", now, most, users)
	}
	return nil
}

// fleet is servers and workers in pairs.
type fleet struct {
	servers []*target
	crew    crew
	opened  time.Duration // how long it took to open the connections
	steps   []flight
	rss     int64
}

// flight is one step, as the workers measured it and as the servers saw it.
type flight struct {
	measured *measure.Measurement
	total    measure.Request
	served   int64
	inFlight int64 // at most, of all servers at one time
	open     int64
}

// enlist starts servers and workers, which open their connections.
func (b *bench) enlist(ctx context.Context, steps ...v1beta1.Step) (x *fleet, err error) {
	x = &fleet{}
	defer func() {
		if err != nil {
			x.end()
		}
	}()
	began := time.Now()
	for i := range int32(processes) {
		t, err := b.serve(process.Anywhere, "-address", fmt.Sprintf("127.0.0.%d:0", 2+i))
		if err != nil {
			return x, err
		}
		x.servers = append(x.servers, t)
		w, err := b.startWorker(loadTest(t.URL, processes, steps...), i, process.Anywhere, "", "-open-for", "3m")
		if err != nil {
			return x, err
		}
		x.crew = append(x.crew, w)
	}
	fmt.Fprintf(b.log, "opening %d connections\n", b.users)
	if err := x.crew.ready(); err != nil {
		return x, err
	}
	x.opened = time.Since(began)
	return x, ctx.Err()
}

// end ends what still runs.
func (x *fleet) end() {
	_, _ = x.crew.stop() // a failure was reported where it happened
	for _, t := range x.servers {
		_, _ = t.process.Stop()
	}
}

// look adds the counters of all servers up.
func (x *fleet) look() (sum groundtruth.Counters, err error) {
	for _, t := range x.servers {
		c, err := t.counters()
		if err != nil {
			return sum, err
		}
		sum.Requests += c.Requests
		sum.InFlight += c.InFlight
		sum.Open += c.Open
	}
	return sum, nil
}

// drive runs a step in which each response is held for some time.
func (x *fleet) drive(index int32, hold time.Duration) error {
	latency := ""
	if hold > 0 {
		latency = "fixed:" + hold.String()
	}
	for _, t := range x.servers {
		if err := t.hold(latency); err != nil {
			return err
		}
	}
	before, err := x.look()
	if err != nil {
		return err
	}
	var f flight
	stop, watched := make(chan struct{}), make(chan error, 1)
	go func() { watched <- x.watch(&f, stop) }()
	_, f.measured, err = x.crew.run(index)
	close(stop)
	if err = errors.Join(err, <-watched); err != nil {
		return err
	}
	if f.total, err = f.measured.Total(); err != nil {
		return err
	}
	after, err := x.look()
	f.served = after.Requests - before.Requests
	x.rss = max(x.rss, x.crew.peakRSS())
	x.steps = append(x.steps, f)
	return err
}

// watch records the peaks of the sums over all servers.
func (x *fleet) watch(f *flight, stop <-chan struct{}) error {
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-stop:
			return nil
		case <-ticker.C:
			now, err := x.look()
			if err != nil {
				return err
			}
			f.inFlight, f.open = max(f.inFlight, now.InFlight), max(f.open, now.Open)
		}
	}
}

// report writes the table and what can be said of it.
func (x *fleet) report(b *bench) (string, error) {
	fmt.Fprintf(b.out, "%d users, %d workers, %d servers, one machine of %s. Connections opened in %v.\n\n",
		b.users, len(x.crew), len(x.servers), process.Processor(), x.opened.Round(time.Second))
	t := newTable("step", "due", "sent", "unsent", "served", "in flight at once", "connections", "failed", "late", "response p50", "response p99", "lateness p99")
	names := []string{fmt.Sprintf("one request of each, held %v", holdAll), fmt.Sprintf("one request of each every %v", period)}
	failed := int64(0)
	for i, f := range x.steps {
		failed += f.total.Sent - f.total.Expected
		t.row(names[i], f.measured.Due, f.total.Sent, f.measured.Unsent, f.served, f.inFlight, f.open, f.total.Sent-f.total.Expected,
			f.total.Late, reported(f.total.Response, 0.5), reported(f.total.Response, 0.99), reported(f.measured.Lateness, 0.99))
	}
	t.write(b.out)
	fmt.Fprintf(b.out, "\n%s\n", x.verdict(b.users))
	peak := max(x.steps[0].inFlight, x.steps[1].inFlight)
	open := max(x.steps[0].open, x.steps[1].open)
	for _, f := range x.steps {
		if f.measured.Due != f.total.Sent+f.measured.Unsent {
			return "", fmt.Errorf("%d due is not %d sent and %d unsent", f.measured.Due, f.total.Sent, f.measured.Unsent)
		}
	}
	return fmt.Sprintf("bench-scale: users=%d inflight=%d rss-mb=%d errors=%d", open, peak, x.rss/1e6, failed), nil
}

// verdict is whether the machine drove the load; where it did not, the figures
// say nothing of the servers.
func (x *fleet) verdict(users int64) string {
	for i, f := range x.steps {
		late, _ := f.measured.Lateness.Quantile(0.99)
		switch {
		case f.measured.Unsent > 0:
			return fmt.Sprintf("Inconclusive: in step %d this machine sent %d of %d requests that were due.", i+1, f.total.Sent, f.measured.Due)
		case f.open < users:
			return fmt.Sprintf("Inconclusive: in step %d there were connections for %d of %d users.", i+1, f.open, users)
		case f.served != f.total.Sent:
			return fmt.Sprintf("Inconclusive: in step %d the servers got %d of %d requests that were sent.", i+1, f.served, f.total.Sent)
		case i > 0 && late > measure.LateAfter:
			return fmt.Sprintf("Inconclusive: in step %d requests were sent up to %s (p99) late by the generator's own fault.", i+1, short(late))
		}
	}
	return "Conclusive: all that was due was sent in time, and the servers got it."
}
