package main

import (
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/hack/bench/incluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func peersReport() incluster.Report {
	tests := incluster.Tests(10)
	return incluster.Report{
		Results: []incluster.Result{
			{
				Tool: incluster.Ours, Test: tests[0], Sent: 2000, Served: 1999, Workers: 1500 * time.Millisecond, Control: 250 * time.Millisecond,
				Said: incluster.Said{Sent: 2000, Failed: 1, P99: []time.Duration{4378912}, Words: []string{"verdict: Passed"}},
			},
			{
				Tool: incluster.K6Operator, Test: tests[3], Sent: 4500, Served: 4500, True: 1904999999,
				Said: incluster.Said{Sent: 4500, P99: []time.Duration{1954000000, 11390148}, Words: []string{"```", "TestRun: stage finished"}},
			},
			{Tool: incluster.Locust, Test: tests[4], Error: "the log has no statistics"},
		},
		Missing: []string{"a tool (it cannot be built)"},
	}
}

func TestReportOfPeersHasTheTargetsCounts(t *testing.T) {
	var out strings.Builder
	report := peersReport()
	quiet := report.Results[0]
	quiet.Said.Failed, quiet.Said.Words = 0, []string{"nothing happened"}
	report.Results = append(report.Results, quiet)
	writePeers(&out, report)
	must.Succeed(t, writeManifests(&out, report.Results))
	for _, want := range []string{
		"| shortener | 200  | ours        | 2000 | 2000 | 1999   | 2000      | 1           | 4.38ms         | none     | 1.50  | 0.25 |\n",
		"| stall     | 500  | k6-operator | 5000 | 4500 | 4500   | 4500      | 0           | 1.954s,11.39ms | 1.905s   |",
		"killed of locust is not complete: the log has no statistics\n",
		"Not measured: a tool (it cannot be built)\n",
		"shortener at 200/s, ours; 2000 of 2000 came, 1999 were served:\n\n```text\nsent: 2000, failed: 1, p99: 4.38ms\nverdict: Passed\n```\n",
		"stall at 500/s, k6-operator; 4500 of 5000 came, 4500 were served:\n\n```text\nsent: 4500, failed: 0, p99: 1.954s,11.39ms\n'''\nTestRun: stage finished\n```\n",
		"k6-operator:\n\n```yaml\napiVersion: v1\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report does not say\n%s\nit is\n%s", want, out.String())
		}
	}
	if n := strings.Count(out.String(), "```yaml"); n != 1 {
		t.Errorf("%d manifests are quoted, want one for each tool in the test with a stall", n)
	}
	if strings.Contains(out.String(), "nothing happened") {
		t.Error("what is said of a test in which nothing happened is quoted")
	}
}

func TestLastLinesOfPeers(t *testing.T) {
	same.As(t, "lines", `bench-peers: tool=ours test=shortener rate=200 due=2000 sent=2000 served=1999 says-sent=2000 p99-reported=4.38ms p99-true=none cpu-s=1.50 rest-cpu-s=0.25
bench-peers: tool=k6-operator test=stall rate=500 due=5000 sent=4500 served=4500 says-sent=4500 p99-reported=1.954s,11.39ms p99-true=1.905s cpu-s=0.00 rest-cpu-s=0.00
bench-peers: tool=locust test=killed rate=500 due=5000 sent=0 served=0 says-sent=0 p99-reported=none p99-true=none cpu-s=0.00 rest-cpu-s=0.00`, peerLines(peersReport().Results))
}

func TestPeersAreRefusedInATestWithoutRoomForAStall(t *testing.T) {
	b := &bench{options: options{duration: 9 * time.Second}}
	if _, err := benchPeers(t.Context(), b); err == nil || !strings.Contains(err.Error(), "--duration must be at least 10s") {
		t.Errorf("error is %v", err)
	}
}

func TestRecordsAreNamedForTheirReaders(t *testing.T) {
	for name, want := range map[string]string{"peers": "peers.md", "shop": "bench-shop.md"} {
		if got := file(name); got != want {
			t.Errorf("the record of %s is %s, want %s", name, got, want)
		}
	}
}
