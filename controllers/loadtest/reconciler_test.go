package loadtest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
)

func TestLife(t *testing.T) {
	c := apiserver.Client(t)
	r, lt := newRig(t, c), hello(t)

	r.mustPass(lt)
	if lt.Status.Phase != v1alpha1.PhaseStarting || len(lt.Status.Steps) != 1 || lt.Status.Workers.Desired != 2 {
		t.Fatalf("after the first pass: %+v", lt.Status)
	}
	job := &batchv1.Job{}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(lt), job); !apierrors.IsNotFound(err) {
		t.Fatalf("the Job is there before the status was read back: %v", err)
	}
	r.mustPass(lt)
	bringPods(t, lt)

	r.mustPass(lt)
	if lt.Status.Steps[0].State != v1alpha1.StepRunning {
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
	if !meta.IsStatusConditionTrue(lt.Status.Conditions, v1alpha1.ConditionComplete) || lt.Status.Verdict != v1alpha1.VerdictPassed {
		t.Fatalf("not complete and passed: %+v", lt.Status)
	}
	if got := lt.Status.Steps[0].Result.Sent; got != 20 {
		t.Errorf("sent is %d, want 20", got)
	}
	if r.workers.last().Acknowledged != 0 {
		t.Error("a step was acknowledged before it was stored")
	}

	r.mustPass(lt)
	if d := r.workers.last(); !d.Finish || d.Acknowledged != 1 {
		t.Errorf("after completion workers are directed %+v, want Finish and the step acknowledged", d)
	}
	r.after(time.Minute) // the Job never ends here, so that it is deleted
	r.mustPass(lt)
	r.after(10 * time.Minute)
	r.mustPass(lt)
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(lt), lt); !apierrors.IsNotFound(err) {
		t.Errorf("the LoadTest outlives its time to live: %v", err)
	}
	r.mustPass(lt)
	if r.workers.forgotten == 0 {
		t.Error("the coordinator still remembers a run that is gone")
	}
}

// The same status must not be written again: each write wakes every watcher.
func TestNothingNewIsNotWritten(t *testing.T) {
	r, lt := newRig(t, apiserver.Client(t)), hello(t)
	r.workers.absent = true
	for range 3 {
		r.mustPass(lt)
	}
	before := lt.ResourceVersion
	r.mustPass(lt)
	if lt.ResourceVersion != before {
		t.Errorf("a pass without news wrote: resourceVersion %s became %s", before, lt.ResourceVersion)
	}
}

// Events tell of what is stored, and only of that.
func TestNoEventWithoutTheWrite(t *testing.T) {
	conflict := interceptor.NewClient(apiserver.Client(t), interceptor.Funcs{
		SubResourcePatch: func(_ context.Context, _ client.Client, _ string, obj client.Object, _ client.Patch, _ ...client.SubResourcePatchOption) error {
			return apierrors.NewConflict(schema.GroupResource{Resource: "loadtests"}, obj.GetName(), errors.New("changed"))
		},
	})
	r, lt := newRig(t, conflict), hello(t)
	result := r.mustPass(lt)
	if result.RequeueAfter == 0 {
		t.Error("a conflict is not tried again")
	}
	if said := r.said(); len(said) > 0 {
		t.Errorf("events without a write: %q", said)
	}
	if lt.Status.Phase != "" {
		t.Errorf("phase is %q, want none", lt.Status.Phase)
	}
}

// TestEveryCallMayFail fails the nth call to the API server, for each n that a
// life has: the run must end as it would have, and say everything once.
func TestEveryCallMayFail(t *testing.T) {
	failed := true
	for n := 1; failed; n++ {
		t.Run(fmt.Sprintf("call %d", n), func(t *testing.T) {
			calls := 0
			failed = false
			count := func() error {
				calls++
				if calls == n {
					failed = true
					return apierrors.NewInternalError(errors.New("the server has a bad day"))
				}
				return nil
			}
			r, lt := newRig(t, failing(apiserver.Client(t), count)), hello(t)
			live(r, lt)
			if lt.Status.Verdict != v1alpha1.VerdictPassed || lt.Status.Steps[0].Result.Sent != 20 {
				t.Errorf("verdict %q, result %+v", lt.Status.Verdict, lt.Status.Steps[0].Result)
			}
			verdicts := 0
			for _, e := range r.said() {
				if strings.Contains(e, "Verdict") {
					verdicts++
				}
			}
			if verdicts != 1 {
				t.Errorf("the verdict was told %d times, want once", verdicts)
			}
		})
	}
}

// live passes until the run is complete, through errors.
func live(r *rig, lt *v1alpha1.LoadTest) {
	const bound = 20
	pods := false
	for range bound {
		_, _ = r.pass(lt) // an error is what this is about; the next pass retries
		if !pods && r.client.Get(r.t.Context(), client.ObjectKeyFromObject(lt), &batchv1.Job{}) == nil {
			bringPods(r.t, lt)
			pods = true
		}
		if meta.IsStatusConditionTrue(lt.Status.Conditions, v1alpha1.ConditionComplete) {
			return
		}
		r.after(time.Second)
	}
	r.t.Fatalf("not complete after %d passes: %+v", bound, lt.Status)
}

// failing is a client each of whose calls may fail.
func failing(c client.WithWatch, check func() error) client.Client {
	return interceptor.NewClient(c, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			return errors.Join(check(), c.Get(ctx, key, obj, opts...))
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			return errors.Join(check(), c.List(ctx, list, opts...))
		},
		Create: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
			if err := check(); err != nil {
				return err
			}
			return c.Create(ctx, obj, opts...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.DeleteOption) error {
			if err := check(); err != nil {
				return err
			}
			return c.Delete(ctx, obj, opts...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, name string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			if err := check(); err != nil {
				return err
			}
			return c.SubResource(name).Patch(ctx, obj, patch, opts...)
		},
	})
}

// A Job of the same name that is somebody else's must be left alone.
func TestForeignJob(t *testing.T) {
	c := apiserver.Client(t)
	r, lt := newRig(t, c), hello(t)
	foreign := &batchv1.Job{Spec: batchv1.JobSpec{}}
	foreign.Namespace, foreign.Name = lt.Namespace, lt.Name
	foreign.Spec.Template = podTemplate()
	if err := c.Create(t.Context(), foreign); err != nil {
		t.Fatal(err)
	}
	r.mustPass(lt)
	r.mustPass(lt)
	failed := meta.FindStatusCondition(lt.Status.Conditions, v1alpha1.ConditionFailed)
	if failed == nil || failed.Reason != v1alpha1.ReasonCreateRefused || !strings.Contains(failed.Message, "Job of the LoadTest's name exists") {
		t.Errorf("Failed is %+v", failed)
	}
	r.after(time.Hour)
	r.mustPass(lt)
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(foreign), foreign); err != nil || foreign.DeletionTimestamp != nil {
		t.Errorf("the foreign Job was touched: %v", err)
	}
}
