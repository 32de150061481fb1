package loadtest

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestPodState(t *testing.T) {
	t.Parallel()
	waiting := func(reason string) corev1.PodStatus {
		return corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{
			Image: "nowhere/worker:v9", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: "back-off 10s"}},
		}}}
	}
	ended := func(phase corev1.PodPhase, terminated *corev1.ContainerStateTerminated) corev1.PodStatus {
		return corev1.PodStatus{Phase: phase, ContainerStatuses: []corev1.ContainerStatus{{State: corev1.ContainerState{Terminated: terminated}}}}
	}
	scheduled := func(status corev1.ConditionStatus, reason, message string) corev1.PodStatus {
		return corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: status, Reason: reason, Message: message}}}
	}
	running := []corev1.ContainerStatus{{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
	imagePull := `the image "nowhere/worker:v9" cannot be pulled; correct spec.worker.image, or load the image into the nodes`
	for name, tc := range map[string]struct {
		status          corev1.PodStatus
		state           exchange.PodState
		reason, message string
	}{
		"created": {status: corev1.PodStatus{Phase: corev1.PodPending}, state: exchange.PodWaiting},
		"unschedulable": {status: scheduled(corev1.ConditionFalse, corev1.PodReasonUnschedulable, "0/3 nodes are available"),
			state: exchange.PodWaiting, reason: v1beta1.ReasonUnschedulable, message: "waits for a node: 0/3 nodes are available"},
		"scheduled":           {status: scheduled(corev1.ConditionTrue, "", ""), state: exchange.PodWaiting},
		"scheduled at last":   {status: scheduled(corev1.ConditionTrue, corev1.PodReasonUnschedulable, ""), state: exchange.PodWaiting},
		"held back by a gate": {status: scheduled(corev1.ConditionFalse, corev1.PodReasonSchedulingGated, ""), state: exchange.PodWaiting},
		"about to run":        {status: corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: running}, state: exchange.PodWaiting},
		"starting":            {status: waiting("ContainerCreating"), state: exchange.PodWaiting},
		"image missing":       {status: waiting("ErrImagePull"), state: exchange.PodWaiting, reason: v1beta1.ReasonImagePull, message: imagePull},
		// The kubelet alternates between the two; the message must not.
		"image back-off": {status: waiting("ImagePullBackOff"), state: exchange.PodWaiting, reason: v1beta1.ReasonImagePull, message: imagePull},
		"bad config":     {status: waiting("CreateContainerConfigError"), state: exchange.PodWaiting, reason: v1beta1.ReasonCreateRefused, message: "the container cannot be created: back-off 10s"},
		"running":        {status: corev1.PodStatus{Phase: corev1.PodRunning}, state: exchange.PodRunning},
		"killed": {status: ended(corev1.PodFailed, &corev1.ContainerStateTerminated{Reason: "OOMKilled", ExitCode: 137}),
			state: exchange.PodEnded, reason: v1beta1.ReasonWorkerLost, message: "OOMKilled, exit code 137"},
		"failed without a message": {status: ended(corev1.PodFailed, &corev1.ContainerStateTerminated{Reason: "Error", ExitCode: 2}),
			state: exchange.PodEnded, reason: v1beta1.ReasonWorkerLost, message: "Error, exit code 2; the log of its pod may say why"},
		"failed with a message": {
			status: ended(corev1.PodFailed, &corev1.ContainerStateTerminated{Reason: "Error", ExitCode: 1, Message: "starting\ncannot read the token\n"}),
			state:  exchange.PodEnded, reason: v1beta1.ReasonWorkerLost, message: "Error, exit code 1: cannot read the token",
		},
		"failed with a message for terminals": {
			status: ended(corev1.PodFailed, &corev1.ContainerStateTerminated{Reason: "Error", ExitCode: 1, Message: "\x1b[2Jall is well"}),
			state:  exchange.PodEnded, reason: v1beta1.ReasonWorkerLost, message: "Error, exit code 1: [2Jall is well",
		},
		"evicted": {status: corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: "low on\nmemory"},
			state: exchange.PodEnded, reason: v1beta1.ReasonWorkerLost, message: "Evicted: low on memory"},
		"evicted, and its container unknown": {
			status: corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: "low on memory", ContainerStatuses: []corev1.ContainerStatus{{}}},
			state:  exchange.PodEnded, reason: v1beta1.ReasonWorkerLost, message: "Evicted: low on memory",
		},
		"gone": {status: corev1.PodStatus{Phase: corev1.PodSucceeded}, state: exchange.PodEnded, reason: v1beta1.ReasonWorkerLost, message: "its pod ended"},
	} {
		t.Run(name, func(t *testing.T) {
			var w exchange.Worker
			observePod(&w, &corev1.Pod{Status: tc.status})
			if w.Pod != tc.state || w.PodReason != tc.reason || w.PodMessage != tc.message {
				t.Errorf("got %v, %q, %q; want %v, %q, %q", w.Pod, w.PodReason, w.PodMessage, tc.state, tc.reason, tc.message)
			}
		})
	}
}

// A pod that ended since it was deleted says so, and not how its container did; one that ended
// before is told by its own reason.
func TestWhyAPodEnded(t *testing.T) {
	t.Parallel()
	asked := metav1.NewTime(time.Date(2026, 11, 27, 6, 0, 0, 0, time.UTC))
	at := func(d time.Duration) metav1.Time { return metav1.NewTime(asked.Add(d)) }
	by := func(reason string) []corev1.PodCondition {
		return []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: reason}}
	}
	for name, tc := range map[string]struct {
		deleted    bool
		conditions []corev1.PodCondition
		ended      metav1.Time
		want       string
	}{
		"deleted":               {true, nil, at(time.Second), "its pod was deleted"},
		"deleted before it ran": {true, nil, at(0), "its pod was deleted"},
		"ended before":          {true, nil, at(-time.Second), "Error, exit code 1: its own reason"},
		"drained":               {true, by("EvictionByEvictionAPI"), at(time.Second), "its pod was evicted, as in a node drain"},
		"its node shuts down":   {false, by(corev1.PodReasonTerminationByKubelet), at(0), "its node ended its pod, because the node shuts down or lacks a resource"},
		"by itself":             {false, nil, at(0), "Error, exit code 1: its own reason"},
	} {
		pod := &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed, Conditions: tc.conditions, ContainerStatuses: []corev1.ContainerStatus{{
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Error", ExitCode: 1, Message: "its own reason", FinishedAt: tc.ended}},
		}}}}
		if tc.deleted {
			end := at(30 * time.Second)
			pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &end, new(int64(30))
		}
		if _, _, got := podState(pod); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// A worker without a session, whose node does not report, is taken away; so is one whose pod is
// gone, and which its Job has as failed.
func TestWorkersThatAreTakenAway(t *testing.T) {
	t.Parallel()
	job := &batchv1.Job{Status: batchv1.JobStatus{FailedIndexes: new("1,3-5")}}
	job.UID = "ours"
	var pods []corev1.Pod
	add := func(number string, ready corev1.ConditionStatus, containerReady bool) {
		p := corev1.Pod{Status: corev1.PodStatus{
			Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}},
			ContainerStatuses: []corev1.ContainerStatus{{Ready: containerReady}},
		}}
		p.UID, p.Annotations = types.UID(number), map[string]string{batchv1.JobCompletionIndexAnnotation: number}
		p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))}
		pods = append(pods, p)
	}
	add("6", corev1.ConditionFalse, true)  // marked, without a session
	add("7", corev1.ConditionFalse, true)  // marked, and it has a session
	add("8", corev1.ConditionFalse, false) // its container ended a moment ago
	add("9", corev1.ConditionTrue, true)
	workers := make([]exchange.Worker, 10)
	workers[7].Connected, workers[7].PodUID = true, "7"
	observePods(workers, job, pods)
	const deleted, lost = "its pod was deleted", "its node is not ready"
	for n, want := range []string{"", deleted, "", deleted, deleted, deleted, lost, "", "", ""} {
		if w := workers[n]; w.PodMessage != want || w.PodTakenAway != (want != "") || (w.PodReason != "") != (want != "") {
			t.Errorf("worker %d: %q, taken away: %t; want %q", n, w.PodMessage, w.PodTakenAway, want)
		}
	}
}

func TestJobState(t *testing.T) {
	t.Parallel()
	lt := &v1beta1.LoadTest{}
	lt.UID = "ours"
	now := metav1.Now()
	ended := func(kind batchv1.JobConditionType, status corev1.ConditionStatus) func(*batchv1.Job) {
		return func(j *batchv1.Job) {
			j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobSuspended, Status: corev1.ConditionTrue}, {Type: kind, Status: status}}
		}
	}
	for name, tc := range map[string]struct {
		edit func(*batchv1.Job)
		want lifecycle.JobState
	}{
		"begun":              {func(*batchv1.Job) {}, lifecycle.JobPresent},
		"complete":           {ended(batchv1.JobComplete, corev1.ConditionTrue), lifecycle.JobFinished},
		"failed":             {ended(batchv1.JobFailed, corev1.ConditionTrue), lifecycle.JobFinished},
		"not failed":         {ended(batchv1.JobFailed, corev1.ConditionFalse), lifecycle.JobPresent},
		"about to be failed": {ended(batchv1.JobFailureTarget, corev1.ConditionTrue), lifecycle.JobPresent},
		"on its way out":     {func(j *batchv1.Job) { j.DeletionTimestamp = &now }, lifecycle.JobDeleting},
		"of an earlier one":  {func(j *batchv1.Job) { j.OwnerReferences[0].UID = "theirs" }, lifecycle.JobLeftOver},
		"of another name":    {func(j *batchv1.Job) { j.OwnerReferences[0].UID, j.OwnerReferences[0].Name = "theirs", "other" }, lifecycle.JobForeign},
		"of another kind":    {func(j *batchv1.Job) { j.OwnerReferences[0].UID, j.OwnerReferences[0].Kind = "theirs", "CronJob" }, lifecycle.JobForeign},
		"without an owner":   {func(j *batchv1.Job) { j.OwnerReferences = nil }, lifecycle.JobForeign},
	} {
		t.Run(name, func(t *testing.T) {
			job := &batchv1.Job{}
			job.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(lt, v1beta1.GroupVersion.WithKind("LoadTest"))}
			tc.edit(job)
			same.As(t, "state of the Job", tc.want, jobState(lt, job, true))
			same.As(t, "a Job that was not found", lifecycle.JobAbsent, jobState(lt, job, false))
		})
	}
}

// Only a pod of the run's own Job, with a number that a worker has, is a worker's.
func TestObservePods(t *testing.T) {
	t.Parallel()
	job := &batchv1.Job{}
	job.UID = "ours"
	pod := func(name, index string, owner types.UID) corev1.Pod {
		by := &batchv1.Job{}
		by.UID = owner
		p := corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning}}
		p.UID, p.Annotations = types.UID(name), map[string]string{batchv1.JobCompletionIndexAnnotation: index}
		p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(by, batchv1.SchemeGroupVersion.WithKind("Job"))}
		return p
	}
	workers := make([]exchange.Worker, 3)
	third := pod("third", "2", "ours")
	third.DeletionTimestamp = ptr.To(metav1.Now())
	observePods(workers, job, []corev1.Pod{
		pod("before", "0", "earlier"), pod("second", "1", "ours"), pod("below", "-1", "ours"),
		pod("beyond", "3", "ours"), pod("none", "", "ours"), third,
	})
	want := []exchange.Worker{{}, {Pod: exchange.PodRunning}, {Pod: exchange.PodRunning, PodEnding: true, PodTakenAway: true, PodReason: v1beta1.ReasonWorkerLost, PodMessage: "its pod was deleted"}}
	same.As(t, "workers", want, workers)
}

func TestDeletionOfAPodIsExplained(t *testing.T) {
	t.Parallel()
	disrupted := func(kind corev1.PodConditionType, status corev1.ConditionStatus, reason string) []corev1.PodCondition {
		return []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}, {Type: kind, Status: status, Reason: reason}}
	}
	for name, tc := range map[string]struct {
		conditions []corev1.PodCondition
		want       string
	}{
		"deleted":            {nil, "its pod was deleted"},
		"evicted":            {disrupted(corev1.DisruptionTarget, corev1.ConditionTrue, "EvictionByEvictionAPI"), "its pod was evicted, as in a node drain"},
		"preempted":          {disrupted(corev1.DisruptionTarget, corev1.ConditionTrue, "PreemptionByScheduler"), "its pod was preempted by one of a higher priority"},
		"tainted":            {disrupted(corev1.DisruptionTarget, corev1.ConditionTrue, "DeletionByTaintManager"), "its pod was deleted because of a taint on its node"},
		"ended by its node":  {disrupted(corev1.DisruptionTarget, corev1.ConditionTrue, "TerminationByKubelet"), "its node ended its pod, because the node shuts down or lacks a resource"},
		"for another reason": {disrupted(corev1.DisruptionTarget, corev1.ConditionTrue, "Whatever"), "its pod was deleted"},
		"not evicted":        {disrupted(corev1.DisruptionTarget, corev1.ConditionFalse, "EvictionByEvictionAPI"), "its pod was deleted"},
		"another condition":  {disrupted(corev1.PodScheduled, corev1.ConditionTrue, "EvictionByEvictionAPI"), "its pod was deleted"},
	} {
		same.As(t, name+": why it goes", tc.want, deletion(&corev1.Pod{Status: corev1.PodStatus{Conditions: tc.conditions}}))
	}
}

// A session of a pod that is not of the run's Job is no connection of the run; what it
// measured stands.
func TestSessionsOfOtherPodsAreNotConnected(t *testing.T) {
	t.Parallel()
	job := &batchv1.Job{}
	job.UID = "ours"
	pod := func(name, index string) corev1.Pod {
		p := corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning}}
		p.UID, p.Annotations = types.UID(name), map[string]string{batchv1.JobCompletionIndexAnnotation: index}
		p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))}
		return p
	}
	seen := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	refused := exchange.Worker{Connected: true, PodUID: "b", Reason: v1beta1.ReasonPreflightFailed, Message: "preflight: GET /version: .strategy: ..."}
	workers := []exchange.Worker{
		{Connected: true, Ready: true, Answers: 2, PodUID: "a", LastSeen: seen, Final: true},
		refused,
		{Connected: true, Ready: true, Answers: 2, PodUID: "of a Job before", LastSeen: seen},
		{Connected: true, PodUID: "deleted", LastSeen: seen, Final: true},
		{},
	}
	observePods(workers, job, []corev1.Pod{pod("a", "0"), pod("b", "1")})
	refused.Pod = exchange.PodRunning
	want := []exchange.Worker{
		{Pod: exchange.PodRunning, Connected: true, Ready: true, Answers: 2, PodUID: "a", LastSeen: seen, Final: true},
		refused,
		{PodUID: "of a Job before", LastSeen: seen},
		{PodUID: "deleted", LastSeen: seen, Final: true},
		{},
	}
	same.As(t, "workers", want, workers)
}

// A worker's reason becomes a condition's, and both sides act on it.
func TestReasonsOfTheSessionAreThoseOfTheAPI(t *testing.T) {
	t.Parallel()
	for session, api := range map[string]string{
		workerv1.ReasonInvalidSpec:       v1beta1.ReasonInvalidSpec,
		workerv1.ReasonTargetUnreachable: v1beta1.ReasonTargetUnreachable,
		workerv1.ReasonPreflightFailed:   v1beta1.ReasonPreflightFailed,
		workerv1.ReasonSetupFailed:       v1beta1.ReasonSetupFailed,
		workerv1.ReasonWorkerRefused:     v1beta1.ReasonWorkerRefused,
	} {
		same.As(t, "what the session says of what the API has", api, session)
	}
}
