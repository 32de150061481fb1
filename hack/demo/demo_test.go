package main

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/hack/deploy"
	"github.com/loadtest-dev/loadtest-operator/hack/deploy/deploytest"
	"github.com/loadtest-dev/loadtest-operator/test/golden"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// fixture is a demo whose kubectl and helm note their calls.
type fixture struct {
	*deploytest.Programs
	demo *demo
	out  bytes.Buffer
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	s := &fixture{Programs: deploytest.New(t, "kubectl", "helm")}
	t.Chdir("../..")
	where, err := deploy.ClusterOf(func(string) string { return "" })
	must.Succeed(t, err)
	s.demo = &demo{Tools: deploy.Tools{Out: &s.out, Err: &s.out}, cluster: where}
	return s
}

// stubSuccess is a cluster on which all goes well.
func (s *fixture) stubSuccess() {
	s.Stub("helm status", "exit 1") // nothing is installed yet
	for ns, verdict := range map[string]v1beta1.Verdict{"limiter-hash": v1beta1.VerdictFailed, "limiter-lua": v1beta1.VerdictPassed} {
		s.Returns("kubectl get deployments --namespace "+ns+" --output=json", map[string]any{
			"items": []any{map[string]any{"metadata": map[string]any{"name": "ratelimiter-app"}}},
		})
		s.Returns("kubectl get loadtests --namespace "+ns, runs(verdict))
	}
	s.Returns("kubectl get deployments --namespace loadtest-system --output=json", map[string]any{"items": []any{}})
}

// runs are the three scenarios with a verdict.
func runs(verdict v1beta1.Verdict) v1beta1.LoadTestList {
	var list v1beta1.LoadTestList
	for _, name := range []string{"single-client-burst", "five-clients", "burst-then-steady"} {
		lt := v1beta1.LoadTest{ObjectMeta: metav1.ObjectMeta{Name: name}}
		lt.Status.Verdict = verdict
		lt.Status.Steps = []v1beta1.StepStatus{{Result: &v1beta1.StepResult{RateLimit: &v1beta1.RateLimitStatus{Granted: 154, OverLimitGrants: 104}}}}
		list.Items = append(list.Items, lt)
	}
	return list
}

// TestDemoRunsEveryPhase compares all that the demo does on a fresh cluster with what a
// person reviewed.
func TestDemoRunsEveryPhase(t *testing.T) {
	fresh, err := filepath.Abs("testdata/fresh.txt")
	must.Succeed(t, err)
	s := newFixture(t)
	s.stubSuccess()
	s.Stub("kubectl loadtest run --namespace limiter-hash", "exit 1") // Failed, as it should be
	if err := s.demo.phases(t.Context()); err != nil {
		t.Fatalf("phases() = %v\n%s", err, s.out.String())
	}
	if n := len(s.demo.results); n != 6 {
		t.Errorf("%d results, want 6", n)
	}
	got := s.Calls()
	golden.Check(t, fresh, got)
	for _, part := range []string{"==> Install the operator", "done in", "STRATEGY", "make cluster-down"} {
		if !strings.Contains(s.out.String(), part) {
			t.Errorf("the output does not say %q:\n%s", part, s.out.String())
		}
	}
}

// TestInconclusiveScenarioRunsOnceMore: what the generator could not judge is no result of the demo
// until it could not be judged twice.
func TestInconclusiveScenarioRunsOnceMore(t *testing.T) {
	for _, second := range []v1beta1.Verdict{v1beta1.VerdictPassed, v1beta1.VerdictInconclusive} {
		t.Run(string(second), func(t *testing.T) {
			s := newFixture(t)
			s.stubSuccess()
			list := runs(v1beta1.VerdictPassed)
			list.Items[0].Status.Verdict = v1beta1.VerdictInconclusive
			list.Items[0].Status.Conditions = []metav1.Condition{{Type: v1beta1.ConditionFinished, Message: "the burst took 10.2ms"}}
			s.Returns("kubectl get loadtests --namespace limiter-lua", list)
			again := "kubectl loadtest run --namespace limiter-lua --replace"
			s.Stub(again, "touch $ANSWERS.again; exit 3")
			list.Items[0].Status.Verdict = second
			text, err := json.Marshal(list)
			must.Succeed(t, err)
			s.Edit("kubectl get loadtests --namespace limiter-lua", "cat <<", "[ -e $ANSWERS.again ] && echo '"+string(text)+"' && exit\ncat <<")
			if err := s.demo.phases(t.Context()); err != nil {
				t.Fatalf("phases() = %v\n%s", err, s.out.String())
			}
			if n := strings.Count(s.Calls(), " --replace "); n != 1 || !strings.Contains(s.Calls(), again+" --filename config/samples/seeds/004/burst.yaml\n") {
				t.Errorf("the scenario did not run again alone, once:\n%s", s.Calls())
			}
			if got := s.demo.results[3].Verdict; got != second || len(s.demo.results) != 6 {
				t.Errorf("the verdict is %s of %d results, want %s of 6", got, len(s.demo.results), second)
			}
			if want := "single-client-burst is Inconclusive, and runs once more: the burst took 10.2ms"; !strings.Contains(s.out.String(), want) {
				t.Errorf("the output does not say %q:\n%s", want, s.out.String())
			}
		})
	}
}

// TestPhasesOnExistingCluster: images may have been built anew under the same name.
func TestPhasesOnExistingCluster(t *testing.T) {
	s := newFixture(t)
	s.stubSuccess()
	s.Stub("helm status", "exit 0")
	if err := s.demo.phases(t.Context()); err != nil {
		t.Fatalf("phases() = %v\n%s", err, s.out.String())
	}
	if n := strings.Count(s.Calls(), "kubectl rollout restart deployment --namespace"); n != 3 {
		t.Errorf("%d installations were restarted, want 3:\n%s", n, s.Calls())
	}
}

func TestFailedPhasesAreDiagnosed(t *testing.T) {
	pod := func(name string, phase corev1.PodPhase, ready corev1.ConditionStatus) corev1.Pod {
		return corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.PodStatus{
			Phase: phase, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}},
		}}
	}
	tests := map[string]struct {
		words     string
		wantErr   string
		namespace string
	}{
		"the operator is not ready": {words: "helm upgrade --install loadtest-operator", wantErr: "helm upgrade --install: exit status 4", namespace: "loadtest-system"},
		"the limiter is not ready":  {words: "kubectl rollout status deployment/ratelimiter-app --namespace limiter-lua", wantErr: "kubectl rollout status: exit status 4", namespace: "limiter-lua"},
		"a run cannot be followed":  {words: "kubectl loadtest run --namespace limiter-hash", wantErr: "kubectl loadtest run: exit status 4", namespace: "limiter-hash"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t)
			s.stubSuccess()
			s.Stub(test.words, "echo out of memory; exit 4")
			s.Returns("kubectl get pods --namespace="+test.namespace+" --output=json", corev1.PodList{Items: []corev1.Pod{
				pod("good", corev1.PodRunning, corev1.ConditionTrue),
				pod("done", corev1.PodSucceeded, corev1.ConditionFalse),
				pod("bad", corev1.PodRunning, corev1.ConditionFalse),
				{ObjectMeta: metav1.ObjectMeta{Name: "waiting"}},
			}})
			s.Stub("kubectl logs --namespace="+test.namespace+" bad", "echo the last words")
			err := s.demo.phases(t.Context())
			if err == nil || err.Error() != test.wantErr {
				t.Errorf("phases() = %v, want %s", err, test.wantErr)
			}
			for _, part := range []string{"$ kubectl get events --namespace=" + test.namespace, "the last words", "logs --namespace=" + test.namespace + " waiting"} {
				if !strings.Contains(s.out.String(), part) {
					t.Errorf("the output does not say %q:\n%s", part, s.out.String())
				}
			}
			for _, pod := range []string{"good", "done"} {
				if strings.Contains(s.out.String(), "logs --namespace="+test.namespace+" "+pod) {
					t.Errorf("the log of the %s pod is shown:\n%s", pod, s.out.String())
				}
			}
		})
	}
}

// TestAnInterruptedDemoSaysSo: no search for a reason that is known.
func TestAnInterruptedDemoSaysSo(t *testing.T) {
	s := newFixture(t)
	s.stubSuccess()
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	if err := s.demo.phases(ctx); err == nil || !deploy.Interrupted(ctx) {
		t.Errorf("phases() = %v, want that it was interrupted", err)
	}
	s.demo.Diagnose(ctx, "limiter-lua")
	if strings.Contains(s.out.String(), "$ kubectl") {
		t.Errorf("the demo searched for a reason:\n%s", s.out.String())
	}
}

// TestPhasesOutsideRepository: the first thing that is said, before
// anything is installed.
func TestPhasesOutsideRepository(t *testing.T) {
	t.Chdir(t.TempDir())
	var out bytes.Buffer
	d := &demo{Tools: deploy.Tools{Out: &out, Err: &out}}
	err := d.phases(t.Context())
	must.Say(t, err, "run the demo from the root of the repository")
	if out.Len() != 0 {
		t.Errorf("phases() began: %s", out.String())
	}
}
