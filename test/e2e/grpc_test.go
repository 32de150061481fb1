//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

const (
	// callsLength is how long the sample calls, instead of half a minute.
	callsLength = 6 * time.Second

	// looped has workers whose users call again as soon as they have a reply.
	looped = callsTarget + `
requests:
  - name: take
    grpc:
      method: loadtest.ratelimiter.v1.RateLimiterService/Take
      metadata: [{name: x-forwarded-for, value: "10.6.0.${user}"}]
    expect: {grpcStatus: [OK, RESOURCE_EXHAUSTED]}
steps: [{users: 8, duration: 8s}, {users: 8, duration: 1s}]
parallelism: 2
`
	// absent calls a method that the descriptors do not have.
	absent = callsTarget + `
requests: [{grpc: {method: loadtest.ratelimiter.v1.RateLimiterService/Give}}]
steps: [{rate: "100", duration: 3s}]
`
	callsTarget = `
target:
  service: {name: ratelimiter, port: 9090}
  protocol: HTTP/2
  grpc: {descriptorsFrom: {configMapKeyRef: {name: descriptors, key: ratelimiter.binpb}}}
`
)

// TestCalls: calls of gRPC to replicas behind Nginx are in the status as the replicas
// counted them, by status.
func TestCalls(t *testing.T) {
	ns := limiter(t, "ratelimiter.service.grpcPort=9090", "ratelimiter.replicas=2")
	describe(t, ns)
	t.Run("sample", func(t *testing.T) { callsAreCounted(t, ns) })
	t.Run("worker lost", func(t *testing.T) { lostCallsAreNotPassed(t, ns) })
	t.Run("absent method", func(t *testing.T) { absentMethodIsNamed(t, ns) })
}

// describe writes the limiter's descriptors into a ConfigMap, as the sample says.
func describe(t *testing.T, ns string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ratelimiter.binpb")
	set := mustCommand(t, "kubectl", "-n", ns, "exec", "deployment/ratelimiter-app", "--", "/ratelimiter", "descriptors")
	if err := os.WriteFile(file, []byte(set), 0o600); err != nil {
		t.Fatal(err)
	}
	mustCommand(t, "kubectl", "-n", ns, "create", "configmap", "descriptors", "--from-file="+file)
}

func callsAreCounted(t *testing.T, ns string) {
	before := ask(t, ns)
	lt := sampleCalls(t, ns)
	finish(t, lt, 2*time.Minute)
	answered(t, lt)
	// Only a busy machine leaves a run of which all is counted without a verdict.
	busy := condition(lt, v1alpha1.ConditionGeneratorHealthy).Status == metav1.ConditionFalse
	if lt.Status.Verdict == v1alpha1.VerdictInconclusive && !busy {
		t.Errorf("verdict Inconclusive: %s", condition(lt, v1alpha1.ConditionThresholdsMet).Message)
	}
	r := lt.Status.Steps[0].Result
	if due := int64(500 * callsLength / time.Second); r.Due != due || r.Sent != due && !busy {
		t.Errorf("%d due, %d sent, want %d: %v", r.Due, r.Sent, due, r.ErrorSamples)
	}
	got, was := callsOf(r), servedSince(t, ns, before)
	if got != was || was.granted == 0 || was.denied == 0 || was.granted != r.Outcomes.Success || was.denied != r.Outcomes.RateLimited {
		t.Errorf("the status counts %+v and %+v, the limiter %+v; want the same, and some of both", got, r.Outcomes, was)
	}
	report := mustCommand(t, "kubectl", "loadtest", "report", lt.Name, "-n", ns)
	if !strings.Contains(report, "with RESOURCE_EXHAUSTED, as expected\n") {
		t.Errorf("the report does not name the status of the calls that were limited:\n%s", report)
	}
}

// sampleCalls creates the sample, shortened.
func sampleCalls(t *testing.T, ns string) *v1alpha1.LoadTest {
	t.Helper()
	text, err := os.ReadFile("../../config/samples/calls.yaml")
	if err != nil {
		t.Fatal(err)
	}
	lt := &v1alpha1.LoadTest{}
	if err := yaml.UnmarshalStrict(text, lt); err != nil {
		t.Fatal(err)
	}
	lt.Namespace, lt.Spec.Steps[0].Duration = ns, &metav1.Duration{Duration: callsLength}
	if err := cluster.Create(t.Context(), lt); err != nil {
		t.Fatal(err)
	}
	return lt
}

// callsOf are the counts of a step by the statuses that the limiter has for its decisions.
func callsOf(r *v1alpha1.StepResult) (s served) {
	for _, c := range r.StatusCodes {
		switch c.Code {
		case measure.GRPCOK:
			s.granted += c.Count
		case measure.GRPCResourceExhausted:
			s.denied += c.Count
		default:
			s.failed += c.Count
		}
	}
	return s
}

// servedSince is what the replicas decided since they were asked before.
func servedSince(t *testing.T, ns string, before served) served {
	t.Helper()
	after := ask(t, ns)
	return served{after.granted - before.granted, after.denied - before.denied, after.failed - before.failed}
}

// lostCallsAreNotPassed kills a worker while users call in a closed loop.
func lostCallsAreNotPassed(t *testing.T, ns string) {
	before := ask(t, ns)
	lt := create(t, ns, "looped", looped)
	until(t, lt, waitTimeout, "sending", sending)
	mustCommand(t, "kubectl", "-n", ns, "delete", "pod", "-l", "loadtest.dev/run="+string(lt.UID)+","+batchv1.JobCompletionIndexAnnotation+"=0", "--grace-period=0", "--force")
	finish(t, lt, 2*time.Minute)
	ready, first := condition(lt, v1alpha1.ConditionWorkersReady), lt.Status.Steps[0]
	if lt.Status.Verdict != v1alpha1.VerdictInconclusive || lt.Status.Workers.Lost != 1 || ready.Reason != v1alpha1.ReasonWorkerLost || first.State != v1alpha1.StepCut {
		t.Errorf("verdict %s, %d lost, WorkersReady %s, step %s; want Inconclusive, 1, WorkerLost, Cut", lt.Status.Verdict, lt.Status.Workers.Lost, ready.Reason, first.State)
	}
	got, was := callsOf(first.Result), servedSince(t, ns, before)
	t.Logf("%d sent, %d unfinished: %+v in the status, %+v served", first.Result.Sent, first.Result.Outcomes.Unfinished, got, was)
	if got.granted > was.granted || got.denied > was.denied || got.failed > was.failed || got.total() == 0 {
		t.Errorf("the status counts %+v, the limiter %+v; want some, and no more than that", got, was)
	}
}

// absentMethodIsNamed: the workers refuse it before the first call.
func absentMethodIsNamed(t *testing.T, ns string) {
	before := ask(t, ns)
	lt := create(t, ns, "absent", absent)
	finish(t, lt, time.Minute)
	failed := condition(lt, v1alpha1.ConditionFailed)
	const want = "service loadtest.ratelimiter.v1.RateLimiterService has no method Give, but Take"
	if lt.Status.Verdict != v1alpha1.VerdictError || failed.Reason != v1alpha1.ReasonInvalidSpec || !strings.Contains(failed.Message, want) {
		t.Errorf("verdict %s, Failed is %s: %q; want Error, InvalidSpec: %q", lt.Status.Verdict, failed.Reason, failed.Message, want)
	}
	t.Logf("%s", failed.Message)
	if was := servedSince(t, ns, before); was != (served{}) {
		t.Errorf("the limiter was called: %+v", was)
	}
}
