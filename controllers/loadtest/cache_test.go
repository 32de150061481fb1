package loadtest_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/desired"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// cached is a client that reads through a cache as the operator's.
func cached(t *testing.T) client.Client {
	t.Helper()
	options, _, err := loadtest.CacheOptions()
	must.Succeed(t, err)
	return apiserver.Cached(t, options)
}

const histogram = "HISTFAAAAEF4nJNpmSzMwMDAyQABzFCaEURcm7yEwf4DRISJgREAPasDHQ=="

// withResult stores a LoadTest whose one step has a result, finished or not.
func withResult(t *testing.T, finished bool) *v1beta1.LoadTest {
	t.Helper()
	lt := hello(t)
	now := metav1.NewTime(lt.CreationTimestamp.Time)
	lt.Status = v1beta1.LoadTestStatus{
		ObservedGeneration: lt.Generation, StartTime: &now, Phase: v1beta1.PhaseRunning,
		Workers: v1beta1.WorkerCounts{Desired: 2},
		Steps: []v1beta1.StepStatus{{
			Name: "10", Rung: 1, State: v1beta1.StepRunning, StartTime: ptr.To(metav1.NewMicroTime(now.Time)),
			Result: &v1beta1.StepResult{Due: 7, Histogram: histogram, Transport: "http1"},
		}},
	}
	if finished {
		lt.Status.CompletionTime, lt.Status.Verdict, lt.Status.Phase = &now, v1beta1.VerdictPassed, v1beta1.PhaseFinished
		lt.Status.Steps[0].State = v1beta1.StepComplete
		lt.Status.Steps = append(lt.Status.Steps, v1beta1.StepStatus{Name: "100", Rung: 2, State: v1beta1.StepSkipped})
		lt.Status.Conditions = []metav1.Condition{{
			Type: v1beta1.ConditionFinished, Status: metav1.ConditionTrue, Reason: string(v1beta1.VerdictPassed), LastTransitionTime: now,
		}}
	}
	must.Succeed(t, apiserver.Client(t).Status().Update(t.Context(), lt))
	return lt
}

// cachedAs reads until an object has come into the cache as it is stored.
func cachedAs(t *testing.T, c client.Client, stored, got client.Object) {
	t.Helper()
	await.Until(t, "it is in the cache", func() error {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(stored), got)
		if err == nil && got.GetResourceVersion() != stored.GetResourceVersion() {
			err = fmt.Errorf("version %s instead of %s", got.GetResourceVersion(), stored.GetResourceVersion())
		}
		return err
	})
}

// withMuch gives a LoadTest what may be large and is read of runs under way only.
func withMuch(t *testing.T, lt *v1beta1.LoadTest) *v1beta1.LoadTest {
	t.Helper()
	c := apiserver.Client(t)
	lt.Annotations, lt.Labels = map[string]string{"applied": "large"}, map[string]string{"team": "a"}
	must.Succeed(t, c.Update(t.Context(), lt))
	lt.Status.Thresholds = []v1beta1.ThresholdStatus{{Name: "p50", State: v1beta1.ThresholdPassed}}
	lt.Status.TargetURL = "http://shortener:8080"
	must.Succeed(t, c.Status().Update(t.Context(), lt))
	return lt
}

// Of finished runs, of which there may be thousands, the cache holds what says when they
// go; of runs under way all but the managed fields.
func TestTheCacheHoldsLittleOfFinishedRuns(t *testing.T) {
	t.Parallel()
	c := cached(t)
	for name, finished := range map[string]bool{"a run under way": false, "a finished run": true} {
		t.Run(name, func(t *testing.T) {
			want, got := withMuch(t, withResult(t, finished)), &v1beta1.LoadTest{}
			cachedAs(t, c, want, got)
			want.ManagedFields, want.TypeMeta = nil, got.TypeMeta
			if finished {
				want.Annotations, want.Labels = nil, nil
				want.Spec = v1beta1.LoadTestSpec{TTLSecondsAfterFinished: want.Spec.TTLSecondsAfterFinished}
				want.Status.Steps, want.Status.Thresholds, want.Status.Requests = nil, nil, nil
			}
			same.As(t, "in the cache", want, got)
		})
	}
}

// Of runs that have not begun, the cache holds what the queue reads. Thousands of them, with
// bodies of over 1 MB, leave the operator its memory.
func TestTheCacheHoldsLittleOfRunsThatHaveNotBegun(t *testing.T) {
	t.Parallel()
	c := cached(t)
	for name, edit := range map[string]func(*v1beta1.LoadTestSpec){
		"new":        func(*v1beta1.LoadTestSpec) {},
		"held":       func(s *v1beta1.LoadTestSpec) { s.Suspend = true },
		"ended":      func(s *v1beta1.LoadTestSpec) { s.Terminate = true },
		"of a class": func(s *v1beta1.LoadTestSpec) { s.Queue = &v1beta1.Queue{PriorityClass: "urgent"} },
	} {
		t.Run(name, func(t *testing.T) {
			lt, got := hello(t), &v1beta1.LoadTest{}
			change(t, lt, func(s *v1beta1.LoadTestSpec) {
				for i := range 16 {
					s.Requests = append(s.Requests, v1beta1.Request{Name: fmt.Sprint("r", i), HTTP: &v1beta1.HTTPRequest{Body: strings.Repeat("x", 60_000)}})
				}
				edit(s)
			})
			cachedAs(t, c, lt, got)
			want := v1beta1.LoadTestSpec{Suspend: lt.Spec.Suspend, Terminate: lt.Spec.Terminate, Queue: lt.Spec.Queue}
			same.As(t, "in the cache", want, got.Spec)
			if size := v1beta1.JSONSize(got); size > 2_000 {
				t.Errorf("it takes %d bytes of the cache", size)
			}
			if size, err := strconv.Atoi(got.Annotations["loadtest.dev/size"]); err != nil || size < 16*60_000 || len(got.Annotations) > 1 {
				t.Errorf("the cache has the annotations %v, want its size alone", got.Annotations)
			}
		})
	}
}

// Of Jobs and pods the cache holds what is looked at, and no pods of others.
func TestTheCacheHoldsLittleOfJobsAndPods(t *testing.T) {
	t.Parallel()
	c, lt := cached(t), hello(t)
	lt.Status.Workers.Desired = 1
	job := desired.Job(lt, desired.Config{WorkerImage: "worker:test"})
	must.Succeed(t, apiserver.Client(t).Create(t.Context(), job))
	other := &corev1.Pod{Spec: apiserver.PodTemplate().Spec}
	other.Namespace, other.Name = lt.Namespace, "other"
	must.Succeed(t, apiserver.Client(t).Create(t.Context(), other))
	pod := apiserver.Pod(t, apiserver.Client(t), job, 0) // after the other: once it is here, that one would be

	gotPod, gotJob := &corev1.Pod{}, &batchv1.Job{}
	cachedAs(t, c, pod, gotPod)
	if len(gotPod.ManagedFields) > 0 || gotPod.Status.Phase != corev1.PodRunning {
		t.Errorf("the pod has %d managed fields and is %s, want none and Running", len(gotPod.ManagedFields), gotPod.Status.Phase)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(other), &corev1.Pod{}); !apierrors.IsNotFound(err) {
		t.Errorf("a pod of no LoadTest: got %v, want that it is not there", err)
	}
	cachedAs(t, c, job, gotJob)
	if len(gotJob.ManagedFields) > 0 || gotJob.Spec.Template.Spec.Containers != nil || !metav1.IsControlledBy(gotJob, lt) {
		t.Errorf("the Job is %+v, want its owner and status alone", gotJob)
	}
}

// Whoever may create objects may give them as many owners, finalizers and labels as the store takes.
func TestTheCacheHoldsLittleOfMetadata(t *testing.T) {
	t.Parallel()
	c, waiting, finished := cached(t), hello(t), withResult(t, true)
	schedule := &v1beta1.LoadTestSchedule{Spec: v1beta1.LoadTestScheduleSpec{Schedule: "0 * * * *", Template: v1beta1.LoadTestTemplate{Spec: waiting.Spec}}}
	schedule.Namespace, schedule.Name = waiting.Namespace, "hourly"
	schedule.Spec.Template.Spec.TTLSecondsAfterFinished = nil
	job := &batchv1.Job{Spec: batchv1.JobSpec{Template: apiserver.PodTemplate()}}
	job.Namespace, job.Name = waiting.Namespace, "job"
	for _, o := range []client.Object{schedule, job} {
		must.Succeed(t, apiserver.Client(t).Create(t.Context(), o))
	}
	for kind, stored := range map[string]client.Object{"a run that waits": waiting, "a finished run": finished, "a schedule": schedule, "a Job": job} {
		name := strings.Repeat("x", 100_000)
		owners := []metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "Thing", Name: name, UID: "owner", Controller: ptr.To(true)}}
		labels, finalizers := map[string]string{desired.LabelRun: ""}, []string{}
		for i := range 1000 {
			owners = append(owners, metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: fmt.Sprint("owner-", i), UID: "another"})
			finalizers = append(finalizers, fmt.Sprint("example.com/finalizer-", i))
			labels[fmt.Sprint("example.com/label-", i)] = "x"
		}
		stored.SetOwnerReferences(owners)
		stored.SetFinalizers(finalizers)
		stored.SetLabels(labels)
		must.Succeed(t, apiserver.Client(t).Update(t.Context(), stored))
		got := stored.DeepCopyObject().(client.Object)
		cachedAs(t, c, stored, got)
		if size := v1beta1.JSONSize(got); size > 3_000 {
			t.Errorf("%s takes %d bytes of the cache", kind, size)
		}
		owner := metav1.GetControllerOf(got)
		if owner == nil || owner.Kind != "Thing" || owner.UID != "owner" || owner.Name != name[:254] {
			t.Errorf("the controller of %s is %+v", kind, owner)
		}
	}
}

// What the cache lacks is neither written nor deleted.
func TestAPatchLeavesAloneWhatTheCacheLacks(t *testing.T) {
	t.Parallel()
	c, lt := cached(t), withMuch(t, withResult(t, true))
	change(t, lt, func(s *v1beta1.LoadTestSpec) { s.TTLSecondsAfterFinished = ptr.To[int32](31_536_000) })
	cachedAs(t, c, lt, &v1beta1.LoadTest{})
	want := lt.DeepCopy()
	r := newFixture(t, apiserver.Client(t))
	r.Client = c
	r.clock.SetTime(lt.Status.CompletionTime.Time)
	r.mustPass(lt)
	if lt.ResourceVersion == want.ResourceVersion || lt.Status.ObservedGeneration != lt.Generation {
		t.Fatal("there was nothing to patch")
	}
	want.ResourceVersion, want.ManagedFields, want.Status.ObservedGeneration = lt.ResourceVersion, lt.ManagedFields, lt.Generation
	want.Status.Conditions = lt.Status.Conditions
	same.As(t, "stored after the patch", want, lt)
}

// The workers of a run that finished before this operator began are directed to end, though
// the cache does not say what they were assigned.
func TestWorkersOfAFinishedRunEnd(t *testing.T) {
	t.Parallel()
	c, lt := cached(t), withMuch(t, withResult(t, true))
	job := desired.Job(lt, desired.Config{WorkerImage: "worker:test"})
	must.Succeed(t, apiserver.Client(t).Create(t.Context(), job))
	cachedAs(t, c, lt, &v1beta1.LoadTest{})
	cachedAs(t, c, job, &batchv1.Job{})
	r := newFixture(t, apiserver.Client(t))
	r.Client = c
	r.clock.SetTime(lt.Status.CompletionTime.Time)
	r.mustPass(lt)
	if d := r.workers.last(); !d.Finish || len(d.Assignments) != 2 || d.Acknowledged < 2 {
		t.Errorf("directed %+v, want that both workers end and all is acknowledged", d)
	}
}

// A run that is held before its start is read again for its pass, and has all of its spec
// when it is resumed.
func TestAHeldRunIsReadAgain(t *testing.T) {
	t.Parallel()
	c, lt := cached(t), hello(t)
	change(t, lt, func(s *v1beta1.LoadTestSpec) { s.Suspend = true })
	held := &v1beta1.LoadTest{}
	cachedAs(t, c, lt, held)
	if held.Spec.Requests != nil || !held.Spec.Suspend {
		t.Errorf("the cache holds %+v of a run that is held, want that it is", held.Spec)
	}
	r := newFixture(t, apiserver.Client(t))
	r.Client = c
	r.mustPass(lt)
	if lt.Status.Phase != v1beta1.PhaseSuspended || lt.Spec.Requests == nil {
		t.Fatalf("the run is %s: %+v", lt.Status.Phase, lt.Status.Conditions)
	}
	change(t, lt, func(s *v1beta1.LoadTestSpec) { s.Suspend = false })
	cachedAs(t, c, lt, held)
	r.mustPass(lt)
	if lt.Status.Phase != v1beta1.PhaseStarting || len(lt.Status.Steps) != 1 {
		t.Errorf("the run is %s with %d steps, want Starting with one", lt.Status.Phase, len(lt.Status.Steps))
	}
}

// A Job that is in the way is not in the cache, and is seen all the same.
func TestAForeignJobIsSeenThroughTheCache(t *testing.T) {
	t.Parallel()
	c, lt := cached(t), hello(t)
	foreign := &batchv1.Job{Spec: batchv1.JobSpec{Template: apiserver.PodTemplate()}}
	foreign.Namespace, foreign.Name = lt.Namespace, lt.Name
	must.Succeed(t, apiserver.Client(t).Create(t.Context(), foreign))
	r := newFixture(t, apiserver.Client(t))
	r.Client = c
	for range 3 { // to accept, to create, to see what is in the way
		cachedAs(t, c, lt, &v1beta1.LoadTest{})
		r.mustPass(lt)
	}
	if failed := v1beta1.NotCarriedOut(lt.Status.Conditions); failed == nil || failed.Reason != v1beta1.ReasonCreateRefused {
		t.Errorf("CarriedOut is %+v, want CreateRefused", failed)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(foreign), foreign); !apierrors.IsNotFound(err) {
		t.Errorf("the cache has a Job of another: %v", err)
	}
}
