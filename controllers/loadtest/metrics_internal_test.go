package loadtest

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
)

// A run is counted when it gets its verdict, and not again.
func TestFinishedRunsAreCounted(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := NewMetrics(registry)
	running, passed, failed := v1alpha1.LoadTestStatus{}, v1alpha1.LoadTestStatus{Verdict: v1alpha1.VerdictPassed}, v1alpha1.LoadTestStatus{Verdict: v1alpha1.VerdictFailed}
	for _, change := range [][2]v1alpha1.LoadTestStatus{
		{running, running}, {running, passed}, {passed, passed}, {running, passed}, {running, failed}, {failed, failed},
	} {
		m.observe(change[0], change[1])
	}
	want := `
# HELP loadtest_runs_finished_total Finished runs by verdict.
# TYPE loadtest_runs_finished_total counter
loadtest_runs_finished_total{verdict="Failed"} 1
loadtest_runs_finished_total{verdict="Passed"} 2
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
	(*Metrics)(nil).observe(running, passed) // of an operator without metrics
}
