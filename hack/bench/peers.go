package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/loadtest-dev/loadtest-operator/hack/bench/incluster"
	"github.com/loadtest-dev/loadtest-operator/hack/bench/peer"
	"github.com/loadtest-dev/loadtest-operator/hack/deploy"
)

// leastPeers is the shortest test in which a stall of two seconds begins and ends.
const leastPeers = 10 * time.Second

// benchPeers runs the same load by several tools within one cluster.
func benchPeers(ctx context.Context, b *bench) (string, error) {
	d := b.length(20 * time.Second)
	if d < leastPeers {
		return "", fmt.Errorf("--duration must be at least %v: a stall of 2s happens within a test", leastPeers)
	}
	k6, locust, err := b.peerVersions()
	if err != nil {
		return "", err
	}
	report, err := incluster.Run(ctx, incluster.Options{
		Root: b.root, Work: b.work, Seconds: int(d / time.Second), Tools: deploy.Tools{Out: b.log, Err: b.log},
	})
	if err != nil {
		return "", err
	}
	fmt.Fprintf(b.out, peersIntroduction, orNone(report.K6Operator), k6, locust, incluster.Workers, d)
	writePeers(b.out, report)
	if err := writeManifests(b.out, report.Results); err != nil {
		return "", err
	}
	return peerLines(report.Results), nil
}

// peerVersions are those that the images have.
func (b *bench) peerVersions() (k6, locust string, err error) {
	p, err := peer.Named("k6")
	if err != nil {
		return "", "", err
	}
	text, err := os.ReadFile(b.shopFile("requirements.txt"))
	if err != nil {
		return "", "", err
	}
	if locust = peer.Pinned(string(text), "locust"); locust == "" {
		return "", "", errors.New("requirements.txt does not pin locust")
	}
	return p.Version, locust, nil
}

const peersIntroduction = `k6-operator %s with k6 %s, Locust %s and this operator, in one local cluster on this machine, each with %d workers of at most
one processor and 1 GiB, for %v a test. All that runs shares the processors of the machine: the targets, the tools and the cluster.

"due" is what the schedule has. "came" and "served" are counted by the target: the shortener by its metrics, the target of known truth
by itself. "says sent" is the tool's own count, and "says p99" its 99th percentile of response time: of k6-operator one for each runner,
since it has none of all; of Locust the master's, which rounds times; of ours from when a request was due, which k6 and Locust do not
know. "true p99" is known of the target of known truth alone, which is told to hold each request for 5ms and, in the test "stall", to
stand still for 2s. Request i is due i/rate after the first one; what is due in the stall waits for its end, and all are held for as long
as the target's own records say. So it is that of the schedule, however much of it a tool sent, without the network.

Locust has no rate: as its documentation says, it has as many users with constant_throughput(1) as requests a second. They are started at
once, and begin at random between one and two seconds later, for which it runs a second longer. k6 has constant-arrival-rate with users
allocated before: its documentation has the median duration of an iteration times the rate, and a reserve; here it is a fifth of the
rate, or what 200ms would need. It may allocate up to three times the rate while it runs. A worker is killed by kubectl delete pod --force
--grace-period=0.

Images are built here: of the Go module proxy, PyPI and Debian, at the versions that this repository pins. k6-operator 1.6.0 is not in that
proxy. Left out, and not tried: the operators for Locust, Gatling operator, Testkube, Kangal.

Before each test, what is left to write to the disk is written (sync), and another tool begins with each test. Each test ran once: a p99 at
the shortener has the pauses of its database in it, which any of the tools may meet.

"CPU s" is processor time of the workers' pods by their control groups, read each 200 ms; "rest" is that of the tool's other pods: its
operator during the test, its initializer and starter, its master.

`

// writePeers writes the table, and what the tools said.
func writePeers(w io.Writer, report incluster.Report) {
	t := newTable("test", "rate", "tool", "due", "came", "served", "says sent", "says failed", "says p99", "true p99", "CPU s", "rest")
	for _, r := range report.Results {
		t.row(r.Test.Name, r.Test.Rate, r.Tool, r.Test.Due(), r.Sent, r.Served, r.Said.Sent, r.Said.Failed, saidP99(r), trueP99(r), seconds(r.Workers), seconds(r.Control))
	}
	t.write(w)
	for _, r := range report.Results {
		if r.Error != "" {
			fmt.Fprintf(w, "\n%s of %s is not complete: %s\n", r.Test.Name, r.Tool, r.Error)
		}
	}
	for _, m := range report.Missing {
		fmt.Fprintf(w, "\nNot measured: %s\n", m)
	}
	writeWords(w, report.Results)
}

// writeWords quotes what was said of the tests in which something happened, or requests failed.
func writeWords(w io.Writer, results []incluster.Result) {
	fmt.Fprintf(w, "\n## What each said\n\nOf a stall of the target, of a worker that was killed in the middle, and of tests in which a tool says that requests failed.\n")
	for _, r := range results {
		if r.Test.Mix() && r.Said.Failed == 0 {
			continue
		}
		fmt.Fprintf(w, "\n%s at %d/s, %s; %d of %d came, %d were served:\n\n```text\n", r.Test.Name, r.Test.Rate, r.Tool, r.Sent, r.Test.Due(), r.Served)
		fmt.Fprintf(w, "sent: %d, failed: %d, p99: %s\n", r.Said.Sent, r.Said.Failed, saidP99(r))
		for _, word := range r.Said.Words {
			fmt.Fprintln(w, strings.ReplaceAll(word, "```", "'''"))
		}
		fmt.Fprintln(w, "```")
	}
}

// writeManifests quotes what each tool was told in the test with a stall.
func writeManifests(w io.Writer, results []incluster.Result) error {
	fmt.Fprint(w, "\n## Manifests\n\nThose of the test \"stall\", of [these files](../../hack/bench/incluster/manifests). Those of the shortener have its mix, of which a fifth creates a link.\n")
	for _, r := range results {
		if r.Test.StallFor == 0 {
			continue
		}
		text, err := incluster.Manifest(r.Tool, r.Test)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "\n%s:\n\n```yaml\n%s```\n", r.Tool, text)
	}
	return nil
}

// peerLines are the last lines: one for each test and tool.
func peerLines(results []incluster.Result) string {
	var lines []string
	for _, r := range results {
		lines = append(lines, fmt.Sprintf("bench-peers: tool=%s test=%s rate=%d due=%d sent=%d served=%d says-sent=%d p99-reported=%s p99-true=%s cpu-s=%s rest-cpu-s=%s",
			r.Tool, r.Test.Name, r.Test.Rate, r.Test.Due(), r.Sent, r.Served, r.Said.Sent, saidP99(r), trueP99(r), seconds(r.Workers), seconds(r.Control)))
	}
	return strings.Join(lines, "\n")
}

// saidP99 is the percentile that a tool reports, or those of its workers.
func saidP99(r incluster.Result) string {
	var all []string
	for _, p := range r.Said.P99 {
		all = append(all, rounded(p))
	}
	return orNone(strings.Join(all, ","))
}

func trueP99(r incluster.Result) string {
	if r.True == 0 {
		return orNone("")
	}
	return rounded(r.True)
}

// rounded is a time in as many digits as a comparison needs.
func rounded(d time.Duration) string {
	if d >= time.Second {
		return d.Round(time.Millisecond).String()
	}
	return d.Round(10 * time.Microsecond).String()
}

func seconds(d time.Duration) string { return digits(d.Seconds(), 2) }

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}
