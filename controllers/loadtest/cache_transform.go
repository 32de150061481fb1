package loadtest

import (
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/desired"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtestschedule/decision"
)

// What the cache lacks is never written: the only write of an object is a merge patch of
// its status, which has what differs between what was read and what is to be. Nothing
// here may be read without being kept.

// stripJob keeps the owner of a Job, its conditions and which of its pods failed.
func stripJob(o any) (any, error) {
	job, ok := o.(*batchv1.Job)
	if !ok {
		return o, nil
	}
	return &batchv1.Job{ObjectMeta: stripped(job.ObjectMeta), Status: batchv1.JobStatus{Conditions: job.Status.Conditions, FailedIndexes: job.Status.FailedIndexes}}, nil
}

// stripPod keeps the owner of a pod, the number of its worker and its state.
func stripPod(o any) (any, error) {
	pod, ok := o.(*corev1.Pod)
	if !ok {
		return o, nil
	}
	kept := &corev1.Pod{ObjectMeta: stripped(pod.ObjectMeta), Spec: corev1.PodSpec{NodeName: pod.Spec.NodeName}}
	kept.Annotations = only(pod.Annotations, batchv1.JobCompletionIndexAnnotation)
	kept.Labels = only(pod.Labels, batchv1.JobCompletionIndexAnnotation, desired.LabelName, desired.LabelRun)
	kept.Status = corev1.PodStatus{Phase: pod.Status.Phase, Reason: pod.Status.Reason, Message: pod.Status.Message}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled || c.Type == corev1.DisruptionTarget || c.Type == corev1.PodReady {
			kept.Status.Conditions = append(kept.Status.Conditions, c)
		}
	}
	for _, c := range pod.Status.ContainerStatuses {
		kept.Status.ContainerStatuses = append(kept.Status.ContainerStatuses, corev1.ContainerStatus{Name: c.Name, Image: c.Image, State: c.State, Ready: c.Ready})
	}
	return kept, nil
}

// stripLoadTest keeps all of a LoadTest that runs, and of any other what says when it has
// to be looked at again, and what the queue reads.
func stripLoadTest(o any) (any, error) {
	lt, ok := o.(*v1beta1.LoadTest)
	if !ok {
		return o, nil
	}
	lt.ManagedFields = nil
	switch {
	case lifecycle.Finished(lt):
		s := lt.Status
		lt.Annotations, lt.Labels = nil, nil
		lt.Spec = v1beta1.LoadTestSpec{TTLSecondsAfterFinished: lt.Spec.TTLSecondsAfterFinished}
		lt.Status = v1beta1.LoadTestStatus{
			ObservedGeneration: s.ObservedGeneration, Phase: s.Phase, Verdict: s.Verdict, Conditions: s.Conditions,
			StartTime: s.StartTime, CompletionTime: s.CompletionTime, Workers: s.Workers, TargetURL: s.TargetURL, Versus: s.Versus, Loads: testsOf(s.Loads),
		}
	case isToBegin(lt):
		lt.Annotations, lt.Labels = map[string]string{annotationSize: strconv.Itoa(sizeInStore(lt))}, nil
		lt.Spec = v1beta1.LoadTestSpec{Suspend: lt.Spec.Suspend, Terminate: lt.Spec.Terminate, Queue: lt.Spec.Queue}
		lt.Status.Steps = nil
	}
	return lt, nil
}

// testsOf are loads with nothing but their LoadTests.
func testsOf(loads []v1beta1.LoadStatus) (tests []v1beta1.LoadStatus) {
	for _, l := range loads {
		tests = append(tests, v1beta1.LoadStatus{Name: l.Name, Test: l.Test, UID: l.UID, Verdict: l.Verdict})
	}
	return tests
}

// annotationSize has the size of a LoadTest in one that the cache has not whole.
const annotationSize = "loadtest.dev/size"

// sizeInStore is what a LoadTest takes in the store, in bytes of JSON, whether or not the cache
// has it whole: one that is stored has requests.
func sizeInStore(lt *v1beta1.LoadTest) int {
	if size, err := strconv.Atoi(lt.Annotations[annotationSize]); err == nil && len(lt.Spec.Requests) == 0 {
		return size
	}
	return v1beta1.JSONSize(lt)
}

// isToBegin says whether a run has not begun: it is new, waits in the queue, or is held. Whoever
// may create LoadTests may create thousands of these, of over 1 MB each. In the cache is what
// the queue reads of them: for the pass in which one may begin, it is read again.
func isToBegin(lt *v1beta1.LoadTest) bool {
	return lt.Status.StartTime == nil && !lifecycle.Finished(lt)
}

// stripSchedule keeps all of a schedule but its template.
func stripSchedule(o any) (any, error) {
	s, ok := o.(*v1beta1.LoadTestSchedule)
	if !ok {
		return o, nil
	}
	s.ManagedFields = nil
	decision.WithoutTemplate(s)
	return s, nil
}

// stripped is what the operator reads of any object's metadata.
func stripped(m metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: m.Name, Namespace: m.Namespace, UID: m.UID, ResourceVersion: m.ResourceVersion, Generation: m.Generation,
		CreationTimestamp: m.CreationTimestamp, OwnerReferences: m.OwnerReferences,
		DeletionTimestamp: m.DeletionTimestamp, DeletionGracePeriodSeconds: m.DeletionGracePeriodSeconds,
	}
}

// only are the entries with these keys.
func only(m map[string]string, keys ...string) map[string]string {
	kept := map[string]string{}
	for _, key := range keys {
		if v, ok := m[key]; ok {
			kept[key] = v
		}
	}
	return kept
}
