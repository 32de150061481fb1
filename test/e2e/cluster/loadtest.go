package cluster

import (
	"cmp"
	"context"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/audit"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// Create makes a LoadTest from YAML.
func Create(t *testing.T, namespace, name, spec string) *v1beta1.LoadTest {
	t.Helper()
	lt := &v1beta1.LoadTest{}
	must.Succeed(t, yaml.UnmarshalStrict([]byte(spec), &lt.Spec))
	lt.Namespace, lt.Name = namespace, name
	must.Succeed(t, API.Create(t.Context(), lt))
	return lt
}

// Until reads the LoadTest until f is true of it. That it cannot be read
// for a moment is no fault of its own.
func Until(t *testing.T, lt *v1beta1.LoadTest, what string, f func(*v1beta1.LoadTest) bool) {
	t.Helper()
	err := Try(t.Context(), Patience, func(ctx context.Context) error {
		if err := API.Get(ctx, client.ObjectKeyFromObject(lt), lt); err != nil {
			return err
		}
		if !f(lt) {
			return fmt.Errorf("it is in phase %q", lt.Status.Phase)
		}
		return nil
	})
	if err != nil {
		status, _ := yaml.Marshal(lt.Status)
		t.Fatalf("%s is not %s: %v\n%s", lt.Name, what, err, status)
	}
}

// Finish waits for a terminal condition and holds the status to what must
// always be true of a finished run.
func Finish(t *testing.T, lt *v1beta1.LoadTest) {
	t.Helper()
	Until(t, lt, "finished", func(lt *v1beta1.LoadTest) bool {
		return meta.IsStatusConditionTrue(lt.Status.Conditions, v1beta1.ConditionFinished)
	})
	s := lt.Status
	if s.Verdict == "" || s.CompletionTime == nil || s.ObservedGeneration != lt.Generation {
		t.Errorf("finished without verdict (%q), completionTime (%v) or observedGeneration (%d of %d)", s.Verdict, s.CompletionTime, s.ObservedGeneration, lt.Generation)
	}
	ended := s.Verdict == v1beta1.VerdictError || s.Verdict == v1beta1.VerdictCanceled
	if c := Condition(lt, v1beta1.ConditionCarriedOut); c.Status == "" || ended != (c.Status == metav1.ConditionFalse) {
		t.Errorf("finished as %s with CarriedOut %q", s.Verdict, c.Status)
	}
	passed := map[v1beta1.Verdict]metav1.ConditionStatus{v1beta1.VerdictPassed: metav1.ConditionTrue, v1beta1.VerdictFailed: metav1.ConditionFalse}
	if c := Condition(lt, v1beta1.ConditionPassed); c.Status != cmp.Or(passed[s.Verdict], metav1.ConditionUnknown) || c.Reason != string(s.Verdict) {
		t.Errorf("finished as %s with Passed %q, reason %s", s.Verdict, c.Status, c.Reason)
	}
	for _, step := range s.Steps {
		if r := step.Result; r != nil {
			if sum := total(r.Outcomes); sum != r.Sent || r.Due != r.Sent+r.Unsent {
				t.Errorf("step %s: outcomes add up to %d of %d sent; due %d, unsent %d", step.Name, sum, r.Sent, r.Due, r.Unsent)
			}
		}
	}
}

// Sending says whether a run has sent a request.
func Sending(lt *v1beta1.LoadTest) bool {
	return len(lt.Status.Steps) > 0 && lt.Status.Steps[0].Result != nil && lt.Status.Steps[0].Result.Sent > 0
}

func total(o v1beta1.Outcomes) int64 {
	return o.Success + o.RateLimited + o.ClientError + o.ServerError + o.UnexpectedStatus + o.Timeout +
		o.Refused + o.Reset + o.DNS + o.TLS + o.BadResponse + o.Unfinished + o.Other + o.BrokenOff + o.Stalled + o.EndedEarly
}

// Condition is a condition of the LoadTest, empty when absent.
func Condition(lt *v1beta1.LoadTest, kind string) metav1.Condition {
	if c := meta.FindStatusCondition(lt.Status.Conditions, kind); c != nil {
		return *c
	}
	return metav1.Condition{}
}

// SentBy is how many requests a run sent by its status.
func SentBy(lt *v1beta1.LoadTest) (sent int64) {
	for _, s := range lt.Status.Steps {
		if s.Result != nil {
			sent += s.Result.Sent
		}
	}
	return sent
}

// RunsOf are the LoadTests that a schedule controls.
func RunsOf(t *testing.T, s *v1beta1.LoadTestSchedule) []v1beta1.LoadTest {
	t.Helper()
	var list v1beta1.LoadTestList
	must.Succeed(t, API.List(t.Context(), &list, client.InNamespace(s.Namespace), client.MatchingLabels{"loadtest.dev/schedule": s.Name}))
	var runs []v1beta1.LoadTest
	for _, lt := range list.Items {
		if metav1.IsControlledBy(&lt, s) {
			runs = append(runs, lt)
		}
	}
	return runs
}

// Answered says that the run took place and that the target gave every request of the
// smallest step the response that the sample expects, which shows that the sample asks
// what the target has.
func Answered(t *testing.T, lt *v1beta1.LoadTest) {
	t.Helper()
	if why := v1beta1.NotCarriedOut(lt.Status.Conditions); why != nil || lt.Status.Verdict == "" {
		t.Fatalf("verdict %q: %v", lt.Status.Verdict, why)
	}
	first := lt.Status.Steps[0].Result
	if first == nil || first.Sent == 0 || first.Expected != first.Sent {
		t.Errorf("step %s has the result %+v, want every response expected", lt.Status.Steps[0].Name, first)
	}
	sent, failed := audit.Sent(lt.Status)
	t.Logf("verdict %s, %d sent, %d failed", lt.Status.Verdict, sent, failed)
}
