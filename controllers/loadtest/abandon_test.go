package loadtest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// underWay is a run whose step began; its report is in and is not written yet.
func underWay(t *testing.T, c client.Client, lt *v1beta1.LoadTest) *fixture {
	t.Helper()
	r := newFixture(t, c)
	r.prepare(lt)
	r.mustPass(lt)
	r.mustPass(lt) // directs the workers
	if lt.Status.Steps[0].State != v1beta1.StepRunning {
		t.Fatalf("the step is %s, want Running", lt.Status.Steps[0].State)
	}
	r.after(2 * time.Second)
	return r
}

// passes until the run has ended, and returns how many passes failed before.
func (r *fixture) untilEnded(lt *v1beta1.LoadTest) (failed int) {
	r.t.Helper()
	const bound = 30
	for range bound {
		if _, err := r.pass(lt); err != nil {
			failed++
		}
		if meta.IsStatusConditionTrue(lt.Status.Conditions, v1beta1.ConditionFinished) {
			return failed
		}
	}
	r.t.Fatalf("not ended after %d passes: %+v", bound, lt.Status)
	return 0
}

// count begins to count, and returns a check of a metric.
func (r *fixture) count() (counted func(name, want string)) {
	registry := prometheus.NewRegistry()
	r.Metrics = loadtest.NewMetrics(registry)
	return func(name, want string) {
		r.t.Helper()
		if err := testutil.GatherAndCompare(registry, strings.NewReader(want), name); err != nil {
			r.t.Error(err)
		}
	}
}

// abandoned checks that a run was ended with an error of that reason, and that its Job
// goes.
func (r *fixture) abandoned(lt *v1beta1.LoadTest, reason, message string) {
	r.t.Helper()
	failed := v1beta1.NotCarriedOut(lt.Status.Conditions)
	if failed == nil || failed.Reason != reason || !strings.Contains(failed.Message, message) {
		r.t.Errorf("CarriedOut is %+v\nwant %s: %s", failed, reason, message)
	}
	if lt.Status.Verdict != v1beta1.VerdictError || lt.Status.Phase != v1beta1.PhaseFinished || lt.Status.CompletionTime == nil {
		r.t.Errorf("verdict %q, phase %q, completed %v; want Error, Finished, now", lt.Status.Verdict, lt.Status.Phase, lt.Status.CompletionTime)
	}
	r.after(time.Minute)
	r.mustPass(lt)
	job := &batchv1.Job{}
	if err := apiserver.Client(r.t).Get(r.t.Context(), client.ObjectKeyFromObject(lt), job); err == nil && job.DeletionTimestamp == nil || client.IgnoreNotFound(err) != nil {
		r.t.Errorf("the Job is there: %v", err)
	}
}

// A status that breaks the schema ends the run at once, with what could be written.
func TestAnInvalidStatusEndsTheRun(t *testing.T) {
	t.Parallel()
	c := interceptor.NewClient(apiserver.Client(t), interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, c client.Client, name string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			if lt := obj.(*v1beta1.LoadTest); len(lt.Status.Steps) > 0 && lt.Status.Steps[0].Result != nil {
				lt.Status.Steps[0].Result.Histogram = strings.Repeat("x", 131_073)
			}
			return c.SubResource(name).Patch(ctx, obj, patch, opts...)
		},
	})
	lt := hello(t)
	r := underWay(t, c, lt)
	counted := r.count()
	same.As(t, "passes failed", 1, r.untilEnded(lt))
	counted("loadtest_refusals_total", `# HELP loadtest_refusals_total Writes that the API server refused, by what was written: a Job, a LoadTest of a load, a status, the results of a step, a deletion.
# TYPE loadtest_refusals_total counter
loadtest_refusals_total{of="Deletion"} 0
loadtest_refusals_total{of="Job"} 0
loadtest_refusals_total{of="LoadTest"} 0
loadtest_refusals_total{of="Results"} 0
loadtest_refusals_total{of="Status"} 1
`)
	if s := lt.Status.Steps[0]; s.State != v1beta1.StepCut || s.Result != nil {
		t.Errorf("the step is %s with result %v, want Cut with what was written", s.State, s.Result)
	}
	r.abandoned(lt, v1beta1.ReasonStatusRefused, "The API server refuses the status of the run: status.steps[0].result.histogram: Too long")
}

// A policy may be changed: its refusals end the run after half a minute only.
func TestARefusedStatusEndsTheRun(t *testing.T) {
	t.Parallel()
	c := apiserver.Client(t)
	lt := hello(t)
	r := underWay(t, c, lt)
	in := noResults(t, lt)
	for range 3 {
		if _, err := r.pass(lt); err == nil {
			t.Fatal("the status was taken")
		}
	}
	must.Succeed(t, c.Delete(t.Context(), in))
	awaitStatus(t, lt, true)
	r.mustPass(lt)
	if lt.Status.Verdict != v1beta1.VerdictPassed {
		t.Fatalf("the status is taken again: verdict %q, want Passed", lt.Status.Verdict)
	}

	lt = hello(t)
	r = underWay(t, c, lt)
	noResults(t, lt)
	same.As(t, "passes failed", 15, r.untilEnded(lt))
	r.abandoned(lt, v1beta1.ReasonStatusRefused, "no results here")
}

// What is too large for the store is ended with less than was there.
func TestAStatusThatIsTooLargeEndsTheRun(t *testing.T) {
	t.Parallel()
	c := apiserver.Client(t)
	lt := hello(t)
	change(t, lt, func(s *v1beta1.LoadTestSpec) {
		s.Ladder.Users = []int32{10, 20, 30}
		for i := range 17 {
			s.Requests = append(s.Requests, v1beta1.Request{Name: fmt.Sprint(i), HTTP: &v1beta1.HTTPRequest{Path: "/", Body: strings.Repeat("x", 65_536), Method: "POST"}, Weight: new(int32)})
		}
	})
	r := newFixture(t, c)
	r.workers.requests = len(lt.Spec.Requests)
	r.prepare(lt)
	r.mustPass(lt)
	for range 2 {
		r.mustPass(lt)
		r.after(2 * time.Second)
		r.mustPass(lt) // a step is complete, and the next begins
	}
	if lt.Status.CurrentStep != 2 {
		t.Fatalf("in step %d, want the last", lt.Status.CurrentStep)
	}
	lt.Annotations = map[string]string{"large": strings.Repeat("x", 250_000)}
	must.Succeed(t, c.Update(t.Context(), lt))
	r.mustPass(lt)
	fill(t, c, lt)
	r.after(2 * time.Second)
	r.untilEnded(lt)
	r.abandoned(lt, v1beta1.ReasonStatusRefused, "too large")
	if lt.Status.Steps[0].Result == nil || lt.Status.Steps[0].Result.Histogram != "" || lt.Status.Steps[0].State != v1beta1.StepComplete {
		t.Errorf("the first step is %+v, want its result without the histogram", lt.Status.Steps[0].State)
	}
}

// fill lets the histograms of the first two steps grow until the store has room for no
// more.
func fill(t *testing.T, c client.Client, lt *v1beta1.LoadTest) {
	t.Helper()
	const longest = 131_072
	lt.Status.Steps[0].Result.Histogram = strings.Repeat("x", longest)
	lt.Status.Steps[1].Result.Histogram = ""
	for size := longest; size > 128; size /= 2 {
		more := lt.DeepCopy()
		grown := &more.Status.Steps[1].Result.Histogram
		*grown = strings.Repeat("x", min(len(*grown)+size, longest))
		err := c.Status().Update(t.Context(), more)
		switch {
		case err == nil:
			*lt = *more
		case !strings.Contains(err.Error(), "request is too large"):
			t.Fatal(err)
		}
	}
}

// panics are workers of which one run cannot be observed.
type panics struct {
	*workers
	run coordinator.RunID
}

func (p *panics) Observe(run coordinator.RunID) exchange.Observation {
	if run == p.run {
		panic("merge: slice bounds out of range")
	}
	return p.workers.Observe(run)
}

// A pass that panics ends its run after some tries, and no other run.
func TestAPassThatPanicsEndsItsRun(t *testing.T) {
	t.Parallel()
	c := apiserver.Client(t)
	lt, other := hello(t), hello(t)
	r := underWay(t, c, lt)
	p := &panics{workers: r.workers, run: coordinator.RunID(lt.UID)}
	r.Workers = p
	r.mustPass(other)
	counted := r.count()
	same.As(t, "passes failed", 10, r.untilEnded(lt))
	counted("loadtest_panics_total", `# HELP loadtest_panics_total Reconcile passes that panicked.
# TYPE loadtest_panics_total counter
loadtest_panics_total 10
`)
	r.abandoned(lt, v1beta1.ReasonInternalError, "merge: slice bounds out of range")
	r.mustPass(other)
	same.As(t, "phase of the other run", v1beta1.PhaseStarting, other.Status.Phase)
}

// A pass that panics once in a while goes on.
func TestAPassThatPanicsOnceGoesOn(t *testing.T) {
	t.Parallel()
	lt := hello(t)
	r := underWay(t, apiserver.Client(t), lt)
	p := &panics{workers: r.workers, run: coordinator.RunID(lt.UID)}
	r.workers.silent = true
	for range 15 {
		r.Workers = p
		if _, err := r.pass(lt); err == nil || !strings.Contains(err.Error(), "panic 1 in a row: merge") {
			t.Fatalf("got %v, want the panic and its number", err)
		}
		r.Workers = r.workers
		r.mustPass(lt)
	}
	r.workers.silent = false
	r.mustPass(lt)
	same.As(t, "verdict", v1beta1.VerdictPassed, lt.Status.Verdict)
}

// What cannot be deleted is said in an event, as the status is final.
func TestARefusedDeletionIsAnEvent(t *testing.T) {
	t.Parallel()
	c := interceptor.NewClient(apiserver.Client(t), interceptor.Funcs{
		Delete: func(context.Context, client.WithWatch, client.Object, ...client.DeleteOption) error {
			return apierrors.NewForbidden(batchv1.Resource("jobs"), "hello", nil)
		},
	})
	r, lt := newFixture(t, c), withResult(t, true)
	r.clock.SetTime(lt.Status.CompletionTime.Add(time.Hour))
	if _, err := r.pass(lt); err == nil {
		t.Error("a deletion that was refused is not tried again")
	}
	if said := strings.Join(r.said(), "\n"); !strings.Contains(said, "Warning DeleteRefused The LoadTest cannot be deleted") {
		t.Errorf("events %q", said)
	}
}

// noResults denies the results of steps in a namespace.
func noResults(t *testing.T, lt *v1beta1.LoadTest) client.Object {
	t.Helper()
	in := deny(t, lt.Namespace, admissionv1.Rule{APIGroups: []string{"loadtest.dev"}, APIVersions: []string{"*"}, Resources: []string{"loadtests/status"}},
		admissionv1.Update, "!object.status.steps.exists(s, has(s.result))", "no results here")
	awaitStatus(t, lt, false)
	return in
}

// awaitStatus waits until a result is admitted, or is not any more.
func awaitStatus(t *testing.T, lt *v1beta1.LoadTest, admitted bool) {
	t.Helper()
	awaitAdmission(t, admitted, func(c client.Client) error {
		next := lt.DeepCopy()
		next.Status.Steps[0].Result = &v1beta1.StepResult{Transport: "http1"}
		return c.Status().Patch(t.Context(), next, client.MergeFrom(lt))
	})
}
