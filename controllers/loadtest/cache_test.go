package loadtest_test

import (
	"context"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/desired"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
)

// patience bounds what would otherwise hang; nothing takes that long.
const patience = 2 * time.Minute

// cached is a client that reads through a cache as the operator's.
func cached(t *testing.T) client.Client {
	t.Helper()
	options, err := loadtest.CacheOptions()
	if err != nil {
		t.Fatal(err)
	}
	options.Scheme = apiserver.Scheme(t)
	reader, err := cache.New(apiserver.Config(t), options)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- reader.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("cache: %v", err)
		}
	})
	c, err := client.New(apiserver.Config(t), client.Options{Scheme: options.Scheme, Cache: &client.CacheOptions{Reader: reader}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const histogram = "HISTFAAAAEF4nJNpmSzMwMDAyQABzFCaEURcm7yEwf4DRISJgREAPasDHQ=="

// withResult stores a LoadTest whose one step has a result, finished or not.
func withResult(t *testing.T, finished bool) *v1alpha1.LoadTest {
	t.Helper()
	lt := hello(t)
	now := metav1.NewTime(lt.CreationTimestamp.Time)
	lt.Status = v1alpha1.LoadTestStatus{
		ObservedGeneration: lt.Generation, StartTime: &now, Phase: v1alpha1.PhaseRunning,
		Workers: v1alpha1.WorkerCounts{Desired: 2},
		Steps: []v1alpha1.StepStatus{{
			Name: "10", Rung: 1, State: v1alpha1.StepRunning, StartTime: ptr.To(metav1.NewMicroTime(now.Time)),
			Result: &v1alpha1.StepResult{Due: 7, Histogram: histogram, Transport: "http1"},
		}},
	}
	if finished {
		lt.Status.CompletionTime, lt.Status.Verdict, lt.Status.Phase = &now, v1alpha1.VerdictPassed, v1alpha1.PhaseComplete
		lt.Status.Steps[0].State = v1alpha1.StepComplete
		lt.Status.Steps = append(lt.Status.Steps, v1alpha1.StepStatus{Name: "100", Rung: 2, State: v1alpha1.StepSkipped})
		lt.Status.Conditions = []metav1.Condition{{
			Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: string(v1alpha1.VerdictPassed), LastTransitionTime: now,
		}}
	}
	if err := apiserver.Client(t).Status().Update(t.Context(), lt); err != nil {
		t.Fatal(err)
	}
	return lt
}

// await reads until an object has come into the cache as it is stored.
func await(t *testing.T, c client.Client, stored, got client.Object) {
	t.Helper()
	deadline := time.After(patience)
	for {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(stored), got)
		if err == nil && got.GetResourceVersion() == stored.GetResourceVersion() {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("not in the cache: %v", err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func TestCacheDropsHistogramsOfFinishedRuns(t *testing.T) {
	c := cached(t)
	for name, tc := range map[string]struct {
		finished bool
		want     string
	}{
		"a run under way": {false, histogram},
		"a finished run":  {true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := &v1alpha1.LoadTest{}
			await(t, c, withResult(t, tc.finished), got)
			if r := got.Status.Steps[0].Result; r.Histogram != tc.want || r.Due != 7 || r.Transport != "http1" {
				t.Errorf("the result is %+v, want histogram %q and all else", r, tc.want)
			}
			if len(got.ManagedFields) > 0 {
				t.Errorf("%d managed fields are held", len(got.ManagedFields))
			}
		})
	}
}

// Of Jobs and pods the cache holds what is looked at, and no pods of others.
func TestTheCacheHoldsLittleOfJobsAndPods(t *testing.T) {
	c, lt := cached(t), hello(t)
	lt.Status.Workers.Desired = 1
	job := desired.Job(lt, desired.Config{WorkerImage: "worker:test"})
	if err := apiserver.Client(t).Create(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	other := &corev1.Pod{Spec: podTemplate().Spec}
	other.Namespace, other.Name = lt.Namespace, "other"
	if err := apiserver.Client(t).Create(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	pod := makePod(t, apiserver.Client(t), job, 0) // after the other: once it is here, that one would be

	gotPod, gotJob := &corev1.Pod{}, &batchv1.Job{}
	await(t, c, pod, gotPod)
	if len(gotPod.ManagedFields) > 0 || gotPod.Status.Phase != corev1.PodRunning {
		t.Errorf("the pod has %d managed fields and is %s, want none and Running", len(gotPod.ManagedFields), gotPod.Status.Phase)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(other), &corev1.Pod{}); !apierrors.IsNotFound(err) {
		t.Errorf("a pod of no LoadTest: got %v, want that it is not there", err)
	}
	await(t, c, job, gotJob)
	if len(gotJob.ManagedFields) > 0 || gotJob.Spec.Template.Spec.Containers != nil || !metav1.IsControlledBy(gotJob, lt) {
		t.Errorf("the Job is %+v, want its owner and status alone", gotJob)
	}
}

// What the cache lacks is not written back.
func TestAPatchLeavesTheHistogramAlone(t *testing.T) {
	c, lt := cached(t), withResult(t, true)
	await(t, c, lt, &v1alpha1.LoadTest{})
	if lt.Status.Summary.Step != "" {
		t.Fatal("there is nothing to patch")
	}
	r := newFixture(t, apiserver.Client(t))
	r.Client = c
	r.mustPass(lt)
	if lt.Status.Summary.Step == "" || lt.Status.Steps[0].Result.Histogram != histogram {
		t.Errorf("summary %+v, histogram %q; want that only the summary changed", lt.Status.Summary, lt.Status.Steps[0].Result.Histogram)
	}
}
