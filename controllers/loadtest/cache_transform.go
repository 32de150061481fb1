package loadtest

import (
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

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
		lt.ObjectMeta = stripped(lt.ObjectMeta)
		lt.Spec = v1beta1.LoadTestSpec{TTLSecondsAfterFinished: lt.Spec.TTLSecondsAfterFinished}
		lt.Status = v1beta1.LoadTestStatus{
			ObservedGeneration: s.ObservedGeneration, Phase: s.Phase, Verdict: s.Verdict, Conditions: s.Conditions,
			StartTime: s.StartTime, CompletionTime: s.CompletionTime, Workers: s.Workers, TargetURL: s.TargetURL, Versus: s.Versus, Loads: testsOf(s.Loads),
		}
	case isToBegin(lt):
		size := strconv.Itoa(sizeInStore(lt))
		lt.ObjectMeta = stripped(lt.ObjectMeta)
		lt.Annotations = map[string]string{annotationSize: size}
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
	decision.WithoutTemplate(s)
	annotations := s.Annotations
	s.ObjectMeta = stripped(s.ObjectMeta)
	s.Annotations = annotations
	return s, nil
}

// stripped is what the operator reads of any object's metadata. The rest is of its author's choice: as many
// owners, finalizers and labels as the store takes.
func stripped(m metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: m.Name, Namespace: m.Namespace, UID: m.UID, ResourceVersion: m.ResourceVersion, Generation: m.Generation,
		CreationTimestamp: m.CreationTimestamp, OwnerReferences: controllerOf(m.OwnerReferences),
		DeletionTimestamp: m.DeletionTimestamp, DeletionGracePeriodSeconds: m.DeletionGracePeriodSeconds,
	}
}

// controllerOf is the reference to the controller among those to owners, of which there is one at most. The
// API server bounds no text of it: one that is cut is still that of no object.
func controllerOf(owners []metav1.OwnerReference) []metav1.OwnerReference {
	for _, o := range owners {
		if ptr.Deref(o.Controller, false) {
			return []metav1.OwnerReference{{
				APIVersion: cut(o.APIVersion), Kind: cut(o.Kind), Name: cut(o.Name), UID: types.UID(cut(string(o.UID))), Controller: o.Controller,
			}}
		}
	}
	return nil
}

// cut is a text, or the beginning of one that is longer than any name or UID.
func cut(s string) string {
	const longest = 253
	if len(s) <= longest {
		return s
	}
	return strings.Clone(s[:longest+1])
}

// only are the entries with these keys.
func only(m map[string]string, keys ...string) map[string]string {
	kept := map[string]string{}
	for _, key := range keys {
		if v, ok := m[key]; ok {
			kept[key] = cut(v)
		}
	}
	return kept
}
