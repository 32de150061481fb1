package loadtest_test

import (
	"context"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// The baseline of a run that is applied together with it is waited for, and read whole
// when it has finished: the cache has no results of it. Its deletion changes nothing.
func TestBaselineIsReadBeforeTheRunBegins(t *testing.T) {
	t.Parallel()
	direct, kept, lt := apiserver.Client(t), cached(t), hello(t)
	lt.Spec.Baseline = &v1beta1.Baseline{Name: "before"}
	must.Succeed(t, direct.Update(t.Context(), lt))
	r := newFixture(t, kept)
	r.readPastCache(unhurried{direct})
	pass := func() time.Duration {
		t.Helper()
		cachedAs(t, kept, lt, &v1beta1.LoadTest{})
		r.after(time.Second) // what a run waits for is written once a second
		return r.mustPass(lt).RequeueAfter
	}
	waits := func(want string) {
		t.Helper()
		if pass() <= 0 {
			t.Error("nothing looks at the baseline again")
		}
		if got := workersReady(lt); got.Reason != v1beta1.ReasonBaselinePending || got.Message != want {
			t.Errorf("WorkersReady is %s: %s; want %s", got.Reason, got.Message, want)
		}
		if err := direct.Get(t.Context(), client.ObjectKeyFromObject(lt), &batchv1.Job{}); !apierrors.IsNotFound(err) {
			t.Errorf("the Job: %v, want none before the baseline is known", err)
		}
	}
	const until = " The run gives up at 10:05:01 UTC (startDeadlineSeconds)."
	pass()
	waits("LoadTest before (spec.baseline) does not exist." + until)

	before := &v1beta1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: lt.Namespace, Name: "before"}, Spec: *lt.Spec.DeepCopy()}
	before.Spec.Baseline = nil
	must.Succeed(t, direct.Create(t.Context(), before))
	cachedAs(t, kept, before, &v1beta1.LoadTest{})
	waits("LoadTest before (spec.baseline) has not finished." + until)

	finish(t, before)
	cachedAs(t, kept, before, &v1beta1.LoadTest{})
	pass()
	must.Succeed(t, direct.Delete(t.Context(), before))
	pass()
	if copied := lt.Status.Baseline; copied == nil || copied.UID != string(before.UID) || len(copied.Steps) != 1 || copied.Steps[0].Sent != 7 {
		t.Errorf("copied %+v", copied)
	}
	must.Report(t, "the Job, after the baseline was copied and deleted", direct.Get(t.Context(), client.ObjectKeyFromObject(lt), &batchv1.Job{}))
}

// Of the LoadTests that passed and have the labels, the last to finish is read: none of another
// namespace, or that failed, runs, is being deleted, or is the run itself. The cache has the labels of none of them.
func TestLastThatPassedIsRead(t *testing.T) {
	t.Parallel()
	direct, kept, lt := apiserver.Client(t), cached(t), hello(t)
	lt.Labels, lt.Spec.Baseline = map[string]string{"app": "shop"}, &v1beta1.Baseline{Selector: map[string]v1beta1.LabelValue{"app": "shop"}}
	must.Succeed(t, direct.Update(t.Context(), lt))
	other := apiserver.Namespace(t)
	for _, run := range []struct {
		namespace, name, app string
		verdict              v1beta1.Verdict
		minute               int
	}{
		{lt.Namespace, "first", "shop", v1beta1.VerdictPassed, 1},
		{lt.Namespace, "second", "shop", v1beta1.VerdictPassed, 2}, // the one to read
		{lt.Namespace, "a-third", "shop", v1beta1.VerdictFailed, 3},
		{lt.Namespace, "fourth", "cart", v1beta1.VerdictPassed, 4},
		{lt.Namespace, "fifth", "shop", "", 5},
		{lt.Namespace, "sixth", "shop", v1beta1.VerdictPassed, 6}, // deleted below
		{other, "seventh", "shop", v1beta1.VerdictPassed, 7},
	} {
		created := &v1beta1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: run.namespace, Name: run.name, Labels: map[string]string{"app": run.app}}, Spec: *lt.Spec.DeepCopy()}
		created.Spec.Baseline = nil
		if run.name == "sixth" {
			created.Finalizers = []string{"example.com/held"}
		}
		must.Succeed(t, direct.Create(t.Context(), created))
		if run.verdict == "" {
			continue
		}
		finishAs(t, created, run.verdict, created.CreationTimestamp.Add(time.Duration(run.minute)*time.Minute))
		if run.name == "sixth" {
			must.Succeed(t, direct.Delete(t.Context(), created))
			t.Cleanup(func() { release(t, created) })
		}
	}
	r := newFixture(t, kept)
	r.readPastCache(unhurried{direct})
	cachedAs(t, kept, lt, &v1beta1.LoadTest{})
	r.mustPass(lt)
	if copied := lt.Status.Baseline; copied == nil || copied.Name != "second" || len(copied.Steps) != 1 {
		t.Errorf("copied %+v of %+v", copied, lt.Status.Conditions)
	}
}

// release lets the API server remove a LoadTest.
func release(t *testing.T, lt *v1beta1.LoadTest) {
	t.Helper()
	released := &v1beta1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: lt.Namespace, Name: lt.Name}}
	if err := apiserver.Client(t).Patch(context.Background(), released, client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"finalizers": null}}`))); err != nil {
		t.Error(err)
	}
}

// The level of a schedule is read from its LoadTests, of whose results the cache has none.
func TestLevelIsReadBeforeTheRunBegins(t *testing.T) {
	t.Parallel()
	direct, kept, lt := apiserver.Client(t), cached(t), hello(t)
	lt.Spec.Baseline = &v1beta1.Baseline{Schedule: "nightly"}
	lt.Spec.Thresholds = []v1beta1.Threshold{{Metric: v1beta1.MetricFailureRate, MaxIncrease: "10%"}}
	must.Succeed(t, direct.Update(t.Context(), lt))
	yes := true
	for _, name := range []string{"nightly-1", "nightly-2", "nightly-3"} {
		passed := &v1beta1.LoadTest{ObjectMeta: metav1.ObjectMeta{
			Namespace: lt.Namespace, Name: name,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: v1beta1.GroupVersion.String(), Kind: "LoadTestSchedule", Name: "nightly", UID: "s", Controller: &yes}},
		}, Spec: *lt.Spec.DeepCopy()}
		passed.Spec.Baseline, passed.Spec.Thresholds = nil, nil
		must.Succeed(t, direct.Create(t.Context(), passed))
		finish(t, passed)
		cachedAs(t, kept, passed, &v1beta1.LoadTest{})
	}
	r := newFixture(t, kept)
	r.readPastCache(unhurried{direct})
	for range 3 {
		cachedAs(t, kept, lt, &v1beta1.LoadTest{})
		r.after(time.Second)
		r.mustPass(lt)
	}
	copied := lt.Status.Baseline
	if copied == nil || copied.Schedule != "nightly" || len(copied.Steps) != 3 || copied.Steps[0].Run != "nightly-1" || copied.Steps[0].Sent != 7 {
		t.Errorf("copied %+v, with conditions %+v", copied, lt.Status.Conditions)
	}
}

// finish stores a LoadTest as one that passed.
func finish(t *testing.T, lt *v1beta1.LoadTest) {
	t.Helper()
	finishAs(t, lt, v1beta1.VerdictPassed, lt.CreationTimestamp.Time)
}

// finishAs stores a LoadTest that finished at a time.
func finishAs(t *testing.T, lt *v1beta1.LoadTest, verdict v1beta1.Verdict, at time.Time) {
	t.Helper()
	now := metav1.NewTime(at)
	lt.Status = v1beta1.LoadTestStatus{
		ObservedGeneration: lt.Generation, StartTime: &now, CompletionTime: &now, Verdict: verdict,
		Phase: v1beta1.PhaseFinished, Workers: v1beta1.WorkerCounts{Desired: 2}, Steps: plan.Steps(&lt.Spec),
		Conditions: []metav1.Condition{{Type: v1beta1.ConditionFinished, Status: metav1.ConditionTrue, Reason: "Passed", LastTransitionTime: now}},
	}
	step := &lt.Status.Steps[0]
	step.State, step.WorkersReporting, step.Result = v1beta1.StepComplete, 2, &v1beta1.StepResult{Goodput: "7.0"}
	step.Result.Sent = 7
	must.Succeed(t, apiserver.Client(t).Status().Update(t.Context(), lt))
}
