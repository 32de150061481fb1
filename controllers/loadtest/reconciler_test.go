package loadtest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

const onePassed = `# HELP loadtest_runs_finished_total Finished runs by verdict.
# TYPE loadtest_runs_finished_total counter
loadtest_runs_finished_total{verdict="Canceled"} 0
loadtest_runs_finished_total{verdict="Error"} 0
loadtest_runs_finished_total{verdict="Failed"} 0
loadtest_runs_finished_total{verdict="Inconclusive"} 0
loadtest_runs_finished_total{verdict="Passed"} 1
`

func TestRunFromItsAcceptanceToItsVerdict(t *testing.T) {
	t.Parallel()
	c := apiserver.Client(t)
	r, lt := newFixture(t, c), hello(t)
	registry := prometheus.NewRegistry()
	r.Metrics = loadtest.NewMetrics(registry)
	var last []*v1beta1.LoadTestStatus
	r.Finished = func(uid types.UID, s *v1beta1.LoadTestStatus) {
		if last = append(last, s); uid != lt.UID {
			t.Errorf("finished: run %s, want %s", uid, lt.UID)
		}
	}

	r.mustPass(lt)
	if lt.Status.Phase != v1beta1.PhaseStarting || len(lt.Status.Steps) != 1 || lt.Status.Workers.Desired != 2 {
		t.Fatalf("after the first pass: %+v", lt.Status)
	}
	job := &batchv1.Job{}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(lt), job); !apierrors.IsNotFound(err) {
		t.Fatalf("the Job is there before the status was read back: %v", err)
	}
	r.mustPass(lt)
	bringPods(t, lt)

	r.mustPass(lt)
	if lt.Status.Steps[0].State != v1beta1.StepRunning {
		t.Fatalf("step is %s, want Running", lt.Status.Steps[0].State)
	}
	if r.workers.last().Start != nil {
		t.Fatal("workers were started by a choice that was not yet stored")
	}
	chosen := lt.Status.Steps[0].StartTime

	r.mustPass(lt)
	if start := r.workers.last().Start; start == nil || !start.At.Equal(chosen.Time) {
		t.Fatalf("workers start at %v, want what is stored: %v", start, chosen)
	}
	r.after(2 * time.Second)
	r.mustPass(lt)
	if !meta.IsStatusConditionTrue(lt.Status.Conditions, v1beta1.ConditionCarriedOut) || lt.Status.Verdict != v1beta1.VerdictPassed {
		t.Fatalf("not complete and passed: %+v", lt.Status)
	}
	same.As(t, "sent", 20, lt.Status.Steps[0].Result.Sent)
	if err := testutil.GatherAndCompare(registry, strings.NewReader(onePassed), "loadtest_runs_finished_total"); err != nil {
		t.Error(err)
	}
	if len(last) != 1 || last[0].Verdict != v1beta1.VerdictPassed || last[0].Steps[0].Result.Sent != 20 {
		t.Errorf("the last status was given away %d times: %+v", len(last), last)
	}
	if said := r.said(); !slices.ContainsFunc(said, func(e string) bool { return strings.HasPrefix(e, "Normal Passed Verdict Passed: ") }) {
		t.Errorf("events %q, want one of the verdict", said)
	}
	same.As(t, "the step that was acknowledged before it was stored", 0, r.workers.last().Acknowledged)

	r.mustPass(lt)
	same.As(t, "times that the last status was given away", 1, len(last))
	if d := r.workers.last(); !d.Finish || d.Acknowledged != plan.MaxSteps {
		t.Errorf("after completion workers are directed %+v, want Finish and every step acknowledged: the cache does not say how many there were", d)
	}
	r.after(time.Minute) // the Job never ends here, so that it is deleted
	r.mustPass(lt)
	same.As(t, "runs that the coordinator forgot while their workers were there", 0, r.workers.forgotten)
	r.mustPass(lt)
	same.As(t, "runs that the coordinator forgot without workers", 1, r.workers.forgotten)
	r.after(10 * time.Minute)
	r.mustPass(lt)
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(lt), lt); !apierrors.IsNotFound(err) {
		t.Errorf("the LoadTest outlives its time to live: %v", err)
	}
}

// change edits the spec as its user does.
func change(t *testing.T, lt *v1beta1.LoadTest, edit func(*v1beta1.LoadTestSpec)) {
	t.Helper()
	edit(&lt.Spec)
	must.Succeed(t, apiserver.Client(t).Update(t.Context(), lt))
}

// What is decided of a later step, or of cutting it, comes to the workers as it is.
func TestDirectives(t *testing.T) {
	t.Parallel()
	r, lt := newFixture(t, apiserver.Client(t)), hello(t)
	change(t, lt, func(s *v1beta1.LoadTestSpec) { s.Ladder.Users = []int32{10, 20} })
	r.prepare(lt)
	for range 10 {
		if r.after(time.Second); lt.Status.CurrentStep == 1 {
			r.workers.silent = true
		}
		r.mustPass(lt)
	}
	if d := r.workers.last(); d.Start == nil || d.Start.Step != 1 || d.Stop || d.Finish {
		t.Fatalf("in the second step workers are directed %+v, start %+v", d, d.Start)
	}
	change(t, lt, func(s *v1beta1.LoadTestSpec) { s.Terminate = true })
	r.mustPass(lt)
	r.mustPass(lt)
	if d := r.workers.last(); d.Start == nil || d.Start.Step != 1 || !d.Stop {
		t.Errorf("in a step that is cut workers are directed %+v", d)
	}
}

// Nothing is wanted of the workers of a run that is held: the next ones may have
// another plan.
func TestAHeldRunDirectsNobody(t *testing.T) {
	t.Parallel()
	r, lt := newFixture(t, apiserver.Client(t)), hello(t)
	r.mustPass(lt)
	r.mustPass(lt)
	change(t, lt, func(s *v1beta1.LoadTestSpec) { s.Suspend = true })
	r.mustPass(lt)
	before := len(r.workers.directed)
	r.mustPass(lt)
	if lt.Status.Phase != v1beta1.PhaseSuspended || len(r.workers.directed) != before || before == 0 {
		t.Errorf("phase %s; workers were directed %d times, then %d", lt.Status.Phase, before, len(r.workers.directed))
	}
}

// The same status must not be written again: each write wakes every watcher.
func TestUnchangedStatusIsNotWritten(t *testing.T) {
	t.Parallel()
	writes := 0
	counting := interceptor.NewClient(apiserver.Client(t), interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, c client.Client, name string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			writes++
			return c.SubResource(name).Patch(ctx, obj, patch, opts...)
		},
	})
	r, lt := newFixture(t, counting), hello(t)
	r.workers.absent = true
	for range 3 {
		r.mustPass(lt)
	}
	before, version := writes, lt.ResourceVersion
	r.mustPass(lt)
	if writes != before || lt.ResourceVersion != version || before == 0 {
		t.Errorf("a pass without news wrote %d times more than %d; resourceVersion %s became %s", writes-before, before, version, lt.ResourceVersion)
	}
}

// Events tell of what is stored, and only of that.
func TestNoEventWithoutTheWrite(t *testing.T) {
	t.Parallel()
	conflict := interceptor.NewClient(apiserver.Client(t), interceptor.Funcs{
		SubResourcePatch: func(_ context.Context, _ client.Client, _ string, obj client.Object, _ client.Patch, _ ...client.SubResourcePatchOption) error {
			return apierrors.NewConflict(schema.GroupResource{Resource: "loadtests"}, obj.GetName(), errors.New("changed"))
		},
	})
	r, lt := newFixture(t, conflict), hello(t)
	result := r.mustPass(lt)
	if result.RequeueAfter == 0 {
		t.Error("a conflict is not tried again")
	}
	if said := r.said(); len(said) > 0 {
		t.Errorf("events without a write: %q", said)
	}
	same.As(t, "phase", v1beta1.PhasePending, lt.Status.Phase)
}

// TestEveryCallMayFail fails the nth call to the API server, for each n that a
// life has: the run must end as it would have, and say everything once.
func TestEveryCallMayFail(t *testing.T) {
	t.Parallel()
	failed := true
	for n := 1; failed; n++ {
		failed = false
		t.Run(fmt.Sprintf("call %d", n), func(t *testing.T) {
			calls := 0
			count := func() error {
				calls++
				if calls == n {
					failed = true
					return apierrors.NewInternalError(errors.New("the server has a bad day"))
				}
				return nil
			}
			r, lt := newFixture(t, apiserver.Failing(apiserver.Client(t), count)), hello(t)
			live(r, lt, &failed)
			if lt.Status.Verdict != v1beta1.VerdictPassed || lt.Status.Steps[0].Result.Sent != 20 {
				t.Errorf("verdict %q, result %+v", lt.Status.Verdict, lt.Status.Steps[0].Result)
			}
			verdicts := 0
			for _, e := range r.said() {
				if strings.Contains(e, "Verdict") {
					verdicts++
				}
			}
			same.As(t, "times that the verdict was told", 1, verdicts)
		})
	}
}

// live passes until the run is complete, through errors. A pass in which a call
// failed returns the error, without which it would not be retried.
func live(r *fixture, lt *v1beta1.LoadTest, failed *bool) {
	const bound = 20
	pods := false
	for range bound {
		before := *failed
		if _, err := r.pass(lt); (err != nil) != (*failed != before) {
			r.t.Errorf("a call failed: %t; the pass says %v", *failed != before, err)
		}
		if !pods && r.client.Get(r.t.Context(), client.ObjectKeyFromObject(lt), &batchv1.Job{}) == nil {
			bringPods(r.t, lt)
			pods = true
		}
		if meta.IsStatusConditionTrue(lt.Status.Conditions, v1beta1.ConditionCarriedOut) {
			return
		}
		r.after(time.Second)
	}
	r.t.Fatalf("not complete after %d passes: %+v", bound, lt.Status)
}

// A foreign Job of the same name must be left alone.
func TestForeignJob(t *testing.T) {
	t.Parallel()
	c := apiserver.Client(t)
	r, lt := newFixture(t, c), hello(t)
	foreign := &batchv1.Job{Spec: batchv1.JobSpec{}}
	foreign.Namespace, foreign.Name = lt.Namespace, lt.Name
	foreign.Spec.Template = apiserver.PodTemplate()
	must.Succeed(t, c.Create(t.Context(), foreign))
	r.mustPass(lt)
	r.mustPass(lt)
	failed := v1beta1.NotCarriedOut(lt.Status.Conditions)
	if failed == nil || failed.Reason != v1beta1.ReasonCreateRefused || !strings.Contains(failed.Message, "Job with the name of the LoadTest exists") {
		t.Errorf("CarriedOut is %+v", failed)
	}
	if said := r.said(); !slices.ContainsFunc(said, func(e string) bool { return strings.HasPrefix(e, "Warning CreateRefused ") }) {
		t.Errorf("events %q, want a warning", said)
	}
	r.after(time.Hour)
	r.mustPass(lt)
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(foreign), foreign); err != nil || foreign.DeletionTimestamp != nil {
		t.Errorf("the foreign Job was touched: %v", err)
	}
}
