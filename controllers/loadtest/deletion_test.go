package loadtest_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/desired"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// Of a LoadTest that is deleted and that a finalizer keeps, the Job goes with its place in the queue: garbage collection
// would leave it. Nothing is created or written for it any more, and nothing remembered.
func TestADeletedLoadTestIsForgotten(t *testing.T) {
	t.Parallel()
	c := apiserver.Client(t)
	r, lt := newFixture(t, c), hello(t)
	r.mustPass(lt)
	r.mustPass(lt)
	must.Succeed(t, c.Get(t.Context(), client.ObjectKeyFromObject(lt), &batchv1.Job{}))
	held := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":["example.com/hold"]}}`))
	must.Succeed(t, errors.Join(c.Patch(t.Context(), lt, held), c.Delete(t.Context(), lt)))
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(lt), lt); err != nil || lt.DeletionTimestamp.IsZero() {
		t.Fatalf("the LoadTest is not on its way out: %v", err)
	}
	before := lt.ResourceVersion
	if result := r.mustPass(lt); result.RequeueAfter != 0 || lt.ResourceVersion != before || r.workers.forgotten != 1 {
		t.Errorf("again after %v, written: %t, forgotten %d times; want only that it is forgotten", result.RequeueAfter, lt.ResourceVersion != before, r.workers.forgotten)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(lt), &batchv1.Job{}); !apierrors.IsNotFound(err) {
		t.Errorf("the Job of a LoadTest on its way out is there: %v", err)
	}
	r.mustPass(lt)
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(lt), &batchv1.Job{}); !apierrors.IsNotFound(err) {
		t.Errorf("a Job was created for a LoadTest on its way out: %v", err)
	}
}

// A LoadTest that is gone between two passes is forgotten, and nothing else.
func TestAGoneLoadTestIsForgotten(t *testing.T) {
	t.Parallel()
	r, lt := newFixture(t, apiserver.Client(t)), hello(t)
	r.mustPass(lt)
	r.mustPass(lt)
	must.Succeed(t, apiserver.Client(t).Delete(t.Context(), lt))
	if result := r.mustPass(lt); result.RequeueAfter != 0 || r.workers.forgotten != 1 {
		t.Errorf("again after %v, forgotten %d times; want never, and once", result.RequeueAfter, r.workers.forgotten)
	}
}

// What cannot be deleted now is tried again.
func TestFailedDeletionIsRetried(t *testing.T) {
	t.Parallel()
	refuses := true
	c := interceptor.NewClient(apiserver.Client(t), interceptor.Funcs{
		Delete: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.DeleteOption) error {
			if refuses {
				return errors.New("connection refused")
			}
			return c.Delete(ctx, obj, opts...)
		},
	})
	r, lt := newFixture(t, c), withResult(t, true)
	must.Succeed(t, c.Create(t.Context(), desired.Job(lt, desired.Config{WorkerImage: "worker:test"})))
	for _, tc := range []struct {
		after time.Duration
		want  string
	}{{time.Minute, "delete Job: "}, {time.Hour, "delete LoadTest: "}} {
		r.clock.SetTime(lt.Status.CompletionTime.Add(tc.after))
		if _, err := r.pass(lt); err == nil || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("after %v: got %v, want that it cannot %s", tc.after, err, tc.want)
		}
	}
	refuses = false
	r.mustPass(lt)
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(lt), lt); !apierrors.IsNotFound(err) {
		t.Errorf("the LoadTest outlives its time to live: %v", err)
	}
}

// The cache may still have a finished LoadTest of which a namesake has taken the
// place.
func TestANamesakeIsNotDeleted(t *testing.T) {
	t.Parallel()
	namesake := withResult(t, true)
	c := interceptor.NewClient(apiserver.Client(t), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			err := c.Get(ctx, key, obj, opts...)
			if lt, ok := obj.(*v1beta1.LoadTest); ok {
				lt.UID = "of-the-one-before"
			}
			return err
		},
	})
	r := newFixture(t, c)
	r.clock.SetTime(namesake.Status.CompletionTime.Add(time.Hour))
	if _, err := r.pass(namesake); !apierrors.IsConflict(err) {
		t.Errorf("got %v, want a conflict", err)
	}
	must.Report(t, "the namesake is gone", apiserver.Client(t).Get(t.Context(), client.ObjectKeyFromObject(namesake), namesake))
}

// Nor is a foreign Job that has taken the place of the run's, whether
// the cache has it by now or not.
func TestAJobInThePlaceOfTheRunsIsNotDeleted(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ stale, deletions int }{
		"the cache has noticed":     {stale: 0, deletions: 0},
		"the cache has not noticed": {stale: 1, deletions: 1},
	} {
		t.Run(name, func(t *testing.T) {
			lt := withResult(t, true)
			owned := desired.Job(lt, desired.Config{WorkerImage: "worker:test"})
			foreign := owned.DeepCopy()
			owned.UID, foreign.OwnerReferences = "of-the-one-before", nil
			must.Succeed(t, apiserver.Client(t).Create(t.Context(), foreign))
			reads, deletions := 0, 0
			r := newFixture(t, interceptor.NewClient(apiserver.Client(t), interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
					job, ok := obj.(*batchv1.Job)
					if !ok {
						return c.Get(ctx, key, obj, opts...)
					}
					if reads++; reads > tc.stale {
						return c.Get(ctx, key, obj, opts...)
					}
					owned.DeepCopyInto(job)
					return nil
				},
				Delete: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.DeleteOption) error {
					deletions++
					return c.Delete(ctx, obj, opts...)
				},
			}))
			r.clock.SetTime(lt.Status.CompletionTime.Add(time.Minute))
			r.mustPass(lt)
			err := apiserver.Client(t).Get(t.Context(), client.ObjectKeyFromObject(foreign), foreign)
			if err != nil || deletions != tc.deletions {
				t.Errorf("after %d attempts: %v, want it there after %d", deletions, err, tc.deletions)
			}
		})
	}
}

// The cache may not have the Job yet that was created a moment ago.
func TestAJobIsCreatedOnce(t *testing.T) {
	t.Parallel()
	c := interceptor.NewClient(apiserver.Client(t), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			if _, ok := obj.(*batchv1.Job); ok {
				return apierrors.NewNotFound(batchv1.Resource("jobs"), key.Name)
			}
			return c.Get(ctx, key, obj, opts...)
		},
	})
	r, lt := newFixture(t, c), hello(t)
	r.workers.absent = true
	for range 3 {
		r.mustPass(lt)
	}
	job := &batchv1.Job{}
	if err := apiserver.Client(t).Get(t.Context(), client.ObjectKeyFromObject(lt), job); err != nil || ptr.Deref(job.Spec.Completions, 0) != 2 {
		t.Errorf("the Job is %+v, %v, want that of two workers", job.Spec, err)
	}
}
