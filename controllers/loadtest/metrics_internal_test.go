package loadtest

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/resultkeeper"
)

// A run is counted when it gets its verdict, and not again, and a load is no run; a write is counted with what
// it takes in the store.
func TestWrittenStatusesAreCounted(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := NewMetrics(registry)
	running := v1beta1.LoadTestStatus{Phase: v1beta1.PhaseRunning}
	passed := v1beta1.LoadTestStatus{Phase: v1beta1.PhaseFinished, Verdict: v1beta1.VerdictPassed}
	failed := v1beta1.LoadTestStatus{Phase: v1beta1.PhaseFinished, Verdict: v1beta1.VerdictFailed}
	for _, change := range [][2]v1beta1.LoadTestStatus{
		{running, running}, {running, passed}, {passed, passed}, {running, passed}, {running, failed}, {failed, failed},
	} {
		m.wrote(&v1beta1.LoadTest{Status: change[0]}, &change[1], 1000)
	}
	load := &v1beta1.LoadTest{Status: running} // which ends as part of a run
	load.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1beta1.GroupVersion.String(), Kind: "LoadTest", Name: "sale", Controller: ptr.To(true)}}
	m.wrote(load, &passed, 500)
	m.refused(refusedJob)
	m.refused(refusedStatus)
	m.refused(refusedStatus)
	m.panicked()
	m.queued(4)
	m.Tried(resultkeeper.Archive, true)
	m.Tried(resultkeeper.Archive, false)
	m.Tried(resultkeeper.Archive, false)
	m.Tried(resultkeeper.Announcement, true)
	m.lostResults()
	want := `
# HELP loadtest_panics_total Reconcile passes that panicked.
# TYPE loadtest_panics_total counter
loadtest_panics_total 1
# HELP loadtest_queue_length LoadTests that wait for others to end.
# TYPE loadtest_queue_length gauge
loadtest_queue_length 4
# HELP loadtest_refusals_total Writes that the API server refused, by what was written: a Job, a LoadTest of a load, a status, the results of a step, a deletion.
# TYPE loadtest_refusals_total counter
loadtest_refusals_total{of="Deletion"} 0
loadtest_refusals_total{of="Job"} 1
loadtest_refusals_total{of="LoadTest"} 0
loadtest_refusals_total{of="Results"} 0
loadtest_refusals_total{of="Status"} 2
# HELP loadtest_results_attempts_total Attempts to archive the results of finished runs or to announce their verdicts.
# TYPE loadtest_results_attempts_total counter
loadtest_results_attempts_total{of="Announcement",outcome="Done"} 1
loadtest_results_attempts_total{of="Announcement",outcome="Failed"} 0
loadtest_results_attempts_total{of="Archive",outcome="Done"} 1
loadtest_results_attempts_total{of="Archive",outcome="Failed"} 2
# HELP loadtest_results_lost_total LoadTests that were deleted after their time to live, and the wait after it, without archived results.
# TYPE loadtest_results_lost_total counter
loadtest_results_lost_total 1
# HELP loadtest_runs_finished_total Finished runs by verdict.
# TYPE loadtest_runs_finished_total counter
loadtest_runs_finished_total{verdict="Canceled"} 0
loadtest_runs_finished_total{verdict="Error"} 0
loadtest_runs_finished_total{verdict="Failed"} 1
loadtest_runs_finished_total{verdict="Inconclusive"} 0
loadtest_runs_finished_total{verdict="Passed"} 2
# HELP loadtest_status_bytes_total Bytes of the LoadTests at each write of their status, as they are stored.
# TYPE loadtest_status_bytes_total counter
loadtest_status_bytes_total 6500
# HELP loadtest_status_writes_total Statuses written.
# TYPE loadtest_status_writes_total counter
loadtest_status_writes_total 7
# HELP loadtest_transitions_total Runs that entered a phase.
# TYPE loadtest_transitions_total counter
loadtest_transitions_total{to="Finished"} 3
loadtest_transitions_total{to="Queued"} 0
loadtest_transitions_total{to="Running"} 0
loadtest_transitions_total{to="Starting"} 0
loadtest_transitions_total{to="Suspended"} 0
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
	var none *Metrics // of an operator without metrics
	none.wrote(&v1beta1.LoadTest{Status: running}, &passed, 1)
	none.refused(refusedJob)
	none.panicked()
}
