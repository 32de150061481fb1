//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
)

// steady is one rung, long enough to be disturbed.
func steady(seconds int) string {
	return fmt.Sprintf(`
target:
  service: {name: ratelimiter, port: 80}
requests:
  - path: /api
    headers: [{name: X-Forwarded-For, value: "10.7.0.${user}"}]
    expect: {status: [200, 429]}
ladder: {users: [60, 90], ratePerUser: "1", duration: %ds}
parallelism: 3
`, seconds)
}

func sending(lt *v1alpha1.LoadTest) bool {
	return len(lt.Status.Steps) > 0 && lt.Status.Steps[0].Result != nil && lt.Status.Steps[0].Result.Sent > 0
}

// TestOperatorRestart: the operator dies in the middle of a step; the workers go
// on, and nothing is lost or counted twice.
func TestOperatorRestart(t *testing.T) {
	ns := limiter(t)
	before := ask(t, ns)
	lt := create(t, ns, "restart", steady(10))
	until(t, lt, waitTimeout, "sending", sending)
	mustCommand(t, "kubectl", "-n", operatorNamespace, "delete", "pod", "-l", "app.kubernetes.io/name=loadtest-operator", "--grace-period=0", "--force")
	finish(t, lt, waitTimeout)

	var due, sent int64
	for _, step := range lt.Status.Steps {
		if step.Result == nil || step.WorkersReporting != 3 {
			t.Fatalf("step %s: %d workers reporting, want 3", step.Name, step.WorkersReporting)
		}
		due += step.Result.Due
		sent += step.Result.Sent
	}
	after := ask(t, ns)
	if got := after.total() - before.total(); got != sent {
		t.Errorf("the target was asked %d times; the status says %d sent", got, sent)
	}
	// A busy machine may leave the last of a step unsent.
	if want := int64(60*10 + 90*10); due != want {
		t.Errorf("%d due, want %d", due, want)
	}
}

// anyWorker is the name of the pod of one of the workers.
func anyWorker(t *testing.T, ns string) string {
	t.Helper()
	var pods corev1.PodList
	if err := cluster.List(t.Context(), &pods, client.InNamespace(ns), client.HasLabels{"loadtest.dev/run"}); err != nil {
		t.Fatal(err)
	}
	if len(pods.Items) == 0 {
		t.Fatal("there is no worker")
	}
	return pods.Items[0].Name
}

// TestWorkerLoss: a worker is killed in the middle of a step; its last report
// counts, the status says how much may be missing, and the verdict is Inconclusive.
func TestWorkerLoss(t *testing.T) {
	ns := limiter(t)
	before := ask(t, ns)
	lt := create(t, ns, "loss", steady(20)) // the loss ends it
	until(t, lt, waitTimeout, "sending", sending)
	mustCommand(t, "kubectl", "-n", ns, "delete", "pod", anyWorker(t, ns), "--grace-period=0", "--force")
	finish(t, lt, waitTimeout)

	ready := condition(lt, v1alpha1.ConditionWorkersReady)
	if lt.Status.Verdict != v1alpha1.VerdictInconclusive || lt.Status.Workers.Lost != 1 || ready.Reason != v1alpha1.ReasonWorkerLost {
		t.Errorf("verdict %s, %d lost, WorkersReady %s; want Inconclusive, 1, WorkerLost", lt.Status.Verdict, lt.Status.Workers.Lost, ready.Reason)
	}
	first, second := lt.Status.Steps[0], lt.Status.Steps[1]
	if first.State != v1alpha1.StepCut || second.State != v1alpha1.StepSkipped {
		t.Errorf("the steps are %s and %s, want Cut and Skipped", first.State, second.State)
	}
	if first.MissingAtMost == nil {
		t.Fatal("the step does not say how many requests at most are missing")
	}
	after := ask(t, ns)
	if missing := after.total() - before.total() - first.Result.Sent; missing < 0 || missing > *first.MissingAtMost {
		t.Errorf("the target was asked %d times more than the status says were sent, want none to %d", missing, *first.MissingAtMost)
	}
}

// TestWorkerIsDeletedWithGrace: a worker hands over what it measured, as when its node
// is drained. All that it sent is counted, and what it did not send makes the verdict
// Inconclusive: in the last step of a run of one worker, too.
func TestWorkerIsDeletedWithGrace(t *testing.T) {
	for name, workers := range map[string]string{"one worker": "1", "three workers": "3"} {
		t.Run(name, func(t *testing.T) {
			ns := limiter(t)
			before := ask(t, ns)
			spec := strings.NewReplacer("parallelism: 3", "parallelism: "+workers, "[60, 90]", "[60]").Replace(steady(20))
			lt := create(t, ns, "drained", spec)
			until(t, lt, waitTimeout, "sending", sending)
			mustCommand(t, "kubectl", "-n", ns, "delete", "pod", anyWorker(t, ns), "--wait=false")
			finish(t, lt, waitTimeout)

			s := lt.Status
			met, ready := condition(lt, v1alpha1.ConditionThresholdsMet), condition(lt, v1alpha1.ConditionWorkersReady)
			t.Logf("%s: %s; %s", s.Verdict, met.Message, ready.Message)
			if s.Verdict != v1alpha1.VerdictInconclusive || s.Workers.Lost != 1 || ready.Reason != v1alpha1.ReasonWorkerLost {
				t.Errorf("verdict %s, %d lost, WorkersReady %s; want Inconclusive, 1, WorkerLost", s.Verdict, s.Workers.Lost, ready.Reason)
			}
			step := s.Steps[0]
			if step.State != v1alpha1.StepCut || step.Result.Due >= step.Load.Requests || !strings.Contains(met.Message, step.Message) || step.Message == "" {
				t.Errorf("the step is %s (%q), with %d of %d due; want Cut, with fewer, and the verdict to say so", step.State, step.Message, step.Result.Due, step.Load.Requests)
			}
			after := ask(t, ns)
			got, sent := after.total()-before.total(), step.Result.Sent
			if got > sent || got < sent-step.Result.Outcomes.Unfinished || step.MissingAtMost == nil || *step.MissingAtMost != 0 {
				t.Errorf("the target was asked %d times; the status says %d sent, and %v missing at most, want 0", got, sent, step.MissingAtMost)
			}
		})
	}
}

// TestKubectl: what people type works.
func TestKubectl(t *testing.T) {
	ns := limiter(t)
	lt := create(t, ns, "kubectl", steady(2))
	mustCommand(t, "kubectl", "-n", ns, "wait", "--for=condition=Finished", "ldt/kubectl", "--timeout=120s")
	finish(t, lt, waitTimeout)
	table := strings.Split(strings.TrimSpace(mustCommand(t, "kubectl", "-n", ns, "get", "loadtests")), "\n")
	t.Log("\n" + strings.Join(table, "\n"))
	if got, want := strings.Fields(table[0]), []string{"NAME", "PHASE", "STEP", "WORKERS", "GOODPUT", "P95", "ERRORS", "VERDICT", "AGE"}; strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("columns are %v, want %v", got, want)
	}
	if row := strings.Fields(table[1]); len(row) != 9 || row[1] != "Complete" || row[2] != "2/2" || row[3] != "3/3" || row[7] != string(lt.Status.Verdict) {
		t.Errorf("row is %v", row)
	}
	report := mustCommand(t, "kubectl", "loadtest", "report", "kubectl", "-n", ns)
	if !strings.Contains(report, "Requests") || !strings.Contains(report, "Latency") {
		t.Errorf("the report is\n%s", report)
	}
}
