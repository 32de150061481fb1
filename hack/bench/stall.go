package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/hack/bench/peer"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
	"github.com/loadtest-dev/loadtest-operator/test/harness"
)

// truths says what the two are that response times are compared with.
const truths = `By arithmetic: a request that is due while the server stands still, or works off what has piled up, takes
until the server goes on, and then as much processor time as the server uses until it has answered the
request; all others take no time. Nothing of the generator is in that: while the server waits for a request
that is sent late, it uses no processor time. By the server's clock: from when each request was due until
the server had written its reply. That leaves out only the way back and the reading of the reply; how late
the generator sent, which is in it, is beside it. The larger of the errors against the two is the result.`

// stall compares response times over a stall with both truths. The result is the
// error at p99 of arrivals as the operator runs them, against that truth from
// which they are farther. Over TCP it has others beside them.
func (b *bench) stall(ctx context.Context, over protocol, d time.Duration) (float64, error) {
	t := newTable("generator", "requests", "p50", "p90", "p99", "p99.9", "max", "lateness p99", "p99 of arithmetic", "p99 of the server's clock")
	args := []string{"-event", fmt.Sprintf("stall:%v:%v", stallAt, stallFor), "-route", "=" + wholeReply(over), "-record", fmt.Sprint(perSecond * int64(d/time.Second))}
	cases := []struct {
		name string
		step v1beta1.Step
		args []string
	}{
		{"loadworker, arrivals", arrivals(perSecond, d), nil},
		{"loadworker, arrivals on ten connections", arrivals(perSecond, d), []string{"-max-connections", fmt.Sprint(tenWorkers)}},
		{"loadworker, 1000 users", harness.PacedUsers(1000, "1", d), nil},
	}
	if over != overTCP {
		cases = cases[:1]
	}
	result := 0.0
	for i, c := range cases {
		o, err := b.observe(over, c.step, 1, args, c.args)
		if err != nil {
			return 0, err
		}
		ideal, served := stalled(o, d), answered(o)
		if i == 0 {
			t.row(quantilesOf("truth, by arithmetic", ideal)...)
		}
		h := o.total.Response
		p99, _ := h.Quantile(0.99)
		t.row(c.name, h.Count(), reported(h, 0.5), reported(h, 0.9), reported(h, 0.99), reported(h, 0.999), short(h.Max()),
			reported(o.measured.Lateness, 0.99), share(p99, ideal), share(p99, served))
		t.row(quantilesOf("the same, by the server's clock", served)...)
		if i == 0 {
			for _, truth := range [][]time.Duration{ideal, served} {
				off := errorPercent(p99, nearestRank(truth, 0.99))
				result = max(result, off, -off)
			}
		}
	}
	if over == overTCP {
		if err := b.negativeControl(ctx, d, t); err != nil {
			return 0, err
		}
	}
	fmt.Fprintf(b.out, "\nResponse time at %d requests/s over %s for %v; the server stands still for %v after %v.\n%s\n\n", perSecond, over, d, stallFor, stallAt, truths)
	t.write(b.out)
	return result, nil
}

// quantilesOf is a row of a truth.
func quantilesOf(name string, sorted []time.Duration) []any {
	row := []any{name, len(sorted)}
	for _, q := range []float64{0.5, 0.9, 0.99, 0.999, 1} {
		row = append(row, short(nearestRank(sorted, q)))
	}
	return row
}

// share is a p99 in percent of that of the truth.
func share(p99 time.Duration, sorted []time.Duration) string {
	return digits(100+errorPercent(p99, nearestRank(sorted, 0.99)), 2) + "%"
}

// stalled is the response time of each request of a schedule, by arithmetic, sorted.
func stalled(o observed, d time.Duration) []time.Duration {
	used := make(map[int64]int64, len(o.records))
	for _, r := range o.records {
		used[r.Number] = r.Processor
	}
	list := make([]time.Duration, 0, perSecond*int(d/time.Second))
	for i := range perSecond * int64(d/time.Second) {
		list = append(list, waited(o.counters.Stalls, o.start+i*int64(time.Second)/perSecond, used[i]))
	}
	slices.Sort(list)
	return list
}

// waited is how long a request takes that is due at an instant, and is answered once the
// server has used so much processor time: until the end of a stall, and then as much as the
// server has used since. For one that is due when the server has worked off what piled up,
// that has passed.
func waited(stalls []groundtruth.Stalled, due, used int64) time.Duration {
	took := int64(0)
	for _, s := range stalls {
		if s.From <= due {
			took = max(took, s.To+max(0, used-s.Processor)-due)
		}
	}
	return time.Duration(took)
}

// answered is the time from when each request was due until the server had
// written its reply, sorted.
func answered(o observed) []time.Duration {
	due := schedule{start: o.start, perSecond: perSecond}.due
	list := make([]time.Duration, 0, len(o.records))
	for _, r := range o.records {
		if r.Answered > 0 {
			list = append(list, time.Duration(r.Answered-due(r.Number)))
		}
	}
	slices.Sort(list)
	return list
}

func reported(h *measure.Histogram, q float64) string {
	d, ok := h.Quantile(q)
	if !ok {
		return ""
	}
	return short(d)
}

// short is in milliseconds with two digits.
func short(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d)/1e6) }

// vegetaReport is the part of `vegeta report -type=json` that is shown.
type vegetaReport struct {
	Requests  int64 `json:"requests"`
	Latencies struct {
		P50 time.Duration `json:"50th"`
		P90 time.Duration `json:"90th"`
		P99 time.Duration `json:"99th"`
		Max time.Duration `json:"max"`
	} `json:"latencies"`
}

// negativeControl is vegeta with ten workers: the same test, and blind to the
// stall. A comparison that does not show that would show nothing.
func (b *bench) negativeControl(ctx context.Context, d time.Duration, t *table) error {
	p, err := peer.Named("vegeta")
	if err != nil {
		return err
	}
	path, err := b.peers.Find(ctx, p)
	if err != nil {
		fmt.Fprintf(b.out, "\nNot measured: vegeta with ten workers, the negative control (%v)\n", err)
		return nil
	}
	s, err := b.serve(serverCore, "-event", fmt.Sprintf("stall:%v:%v", stallAt, stallFor))
	if err != nil {
		return err
	}
	results := b.path("vegeta.bin")
	_, err = b.invoke(ctx, path, peer.VegetaAtRate(s.URL+"/", perSecond, tenWorkers, int(d/time.Second), results), "")
	if err != nil {
		return err
	}
	c, _, err := s.stop()
	if err != nil {
		return err
	}
	text, err := exec.CommandContext(ctx, path, "report", "-type=json", results).Output()
	if err != nil {
		return fmt.Errorf("vegeta report: %w", err)
	}
	var r vegetaReport
	if err := json.Unmarshal(text, &r); err != nil {
		return fmt.Errorf("vegeta's report: %w", err)
	}
	truth := stalled(observed{start: c.First, counters: c}, d)
	t.row("vegeta -max-workers=10 (negative control)", r.Requests, short(r.Latencies.P50), short(r.Latencies.P90), short(r.Latencies.P99), "", short(r.Latencies.Max),
		"", share(r.Latencies.P99, truth))
	return nil
}
