package loadtest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/targetstate/podreader"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// reads counts the lists and Services that are read, and fails lists if err is set.
type reads struct {
	client.Reader
	n   int
	err error
	// autoscalers is why autoscalers are not.
	autoscalers error
}

func (r *reads) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if o := (&client.ListOptions{}).ApplyOptions(opts); o.Limit == 250 {
		return r.Reader.List(ctx, list, opts...) // for the policy of targets, which has tests of its own
	}
	if r.n++; r.err != nil {
		return r.err
	}
	if _, ok := list.(*autoscalingv2.HorizontalPodAutoscalerList); ok && r.autoscalers != nil {
		return r.autoscalers
	}
	return r.Reader.List(ctx, list, opts...)
}

// tested is a LoadTest whose target is the Service shortener, behind which are two pods of
// the Deployment web on one node.
func tested(t *testing.T) (lt *v1beta1.LoadTest, pods []*corev1.Pod) {
	t.Helper()
	c, lt := apiserver.Client(t), withoutService(t)
	port := intstr.FromInt32(80)
	lt.Spec.Target = v1beta1.Target{Service: &v1beta1.ServiceReference{Name: "shortener", Port: &port}}
	must.Succeed(t, c.Update(t.Context(), lt))
	app := map[string]string{"app": "shortener"}
	service := &corev1.Service{Spec: corev1.ServiceSpec{Selector: app, Ports: []corev1.ServicePort{{Port: 80}}}}
	service.Namespace, service.Name = lt.Namespace, "shortener"
	must.Succeed(t, c.Create(t.Context(), service))
	for i := range 2 {
		pods = append(pods, targetPod(t, lt.Namespace, fmt.Sprintf("web-%d", i)))
	}
	// The second is of a StatefulSet, which gives its pods another label.
	delete(pods[1].Labels, "pod-template-hash")
	pods[1].Labels["controller-revision-hash"] = "web-7d9"
	must.Succeed(t, c.Update(t.Context(), pods[1]))
	return lt, pods
}

func targetPod(t *testing.T, namespace, name string) *corev1.Pod {
	t.Helper()
	c := apiserver.Client(t)
	pod := &corev1.Pod{Spec: corev1.PodSpec{NodeName: "node-1", Containers: []corev1.Container{{
		Name: "app", Image: "shortener:v3", Env: []corev1.EnvVar{{Name: "PASSWORD", Value: "hunter2"}},
		Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("256Mi"), corev1.ResourceCPU: resource.MustParse("500m")}},
	}}}}
	pod.Namespace, pod.Name, pod.Labels = namespace, name, map[string]string{"app": "shortener", "pod-template-hash": "5f8c"}
	pod.Spec.ServiceAccountName = "default"
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(&metav1.ObjectMeta{Name: "web-5f8c", UID: "1"}, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))}
	must.Succeed(t, c.Create(t.Context(), pod))
	runs(t, pod, "sha256:aaa", 0)
	return pod
}

// runs has the container of a pod run an image, after that many restarts.
func runs(t *testing.T, pod *corev1.Pod, digest string, restarts int32) {
	t.Helper()
	status := corev1.ContainerStatus{Name: "app", Image: "shortener:v3", ImageID: "docker.io/loadtest/shortener@" + digest, RestartCount: restarts}
	if restarts > 0 {
		status.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{Reason: "OOMKilled", ExitCode: 137}
	}
	pod.Status.Phase, pod.Status.ContainerStatuses = corev1.PodRunning, []corev1.ContainerStatus{status}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	must.Succeed(t, apiserver.Client(t).Status().Update(t.Context(), pod))
}

// carryOut runs a LoadTest to its end, with what happens within its step.
func (r *fixture) carryOut(lt *v1beta1.LoadTest, within func()) {
	r.t.Helper()
	r.prepare(lt)
	r.mustPass(lt) // the start is chosen
	r.mustPass(lt) // and directed
	within()
	for range 5 {
		r.after(2 * time.Second)
		r.mustPass(lt)
	}
	if lt.Status.Verdict == "" {
		r.t.Fatalf("the run has not ended: %+v", lt.Status)
	}
}

func TestResultSaysWhatWasTested(t *testing.T) {
	t.Parallel()
	c := apiserver.Client(t)
	lt, pods := tested(t)
	scaler := &autoscalingv2.HorizontalPodAutoscaler{Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}, MinReplicas: ptr.To[int32](2), MaxReplicas: 10,
	}}
	scaler.Namespace, scaler.Name = lt.Namespace, "web"
	must.Succeed(t, c.Create(t.Context(), scaler))
	r := newFixture(t, c)
	r.TargetPods = &podreader.Reader{API: r.Uncached}
	r.carryOut(lt, func() {
		runs(t, pods[0], "sha256:aaa", 1)
		targetPod(t, lt.Namespace, "web-2")
	})
	if lt.Status.Verdict != v1beta1.VerdictPassed {
		t.Errorf("verdict %s: %s", lt.Status.Verdict, lt.Status.Conditions[len(lt.Status.Conditions)-1].Message)
	}
	env := lt.Status.Environment
	want := &v1beta1.EnvironmentStatus{Nodes: []string{"node-1"}, Configurations: []v1beta1.TargetConfiguration{{
		ID: env.Configurations[0].ID, Service: "shortener", Autoscaler: &v1beta1.TargetAutoscaler{Name: "web", Min: 2, Max: 10},
		Containers: []v1beta1.TargetContainer{{Name: "app", Image: "shortener:v3", Digest: "sha256:aaa", Limits: "cpu 500m, memory 256Mi"}},
		Templates:  []string{"5f8c", "web-7d9"},
	}}}
	same.As(t, "environment", want, env)
	step := lt.Status.Steps[0].Environment
	if step.Before == nil || step.After == nil || step.Before.Pods != 2 || step.After.Pods != 3 || step.After.Restarts-step.Before.Restarts != 1 {
		t.Errorf("before %+v, after %+v; want 2 pods, then 3 and a restart", step.Before, step.After)
	}
	changes := []v1beta1.EnvironmentChange{
		{Reason: v1beta1.TargetScaled, Message: "Service shortener was scaled from 2 to 3 pods during step 10 by its autoscaler web (2 to 10)."},
		{Reason: v1beta1.TargetRestarted, Message: "Containers of Service shortener restarted at least once during step 10, the last after OOMKilled, exit code 137."},
	}
	same.As(t, "changes", changes, step.Changes)
	if raw := fmt.Sprintf("%+v", lt.Status); strings.Contains(raw, "hunter2") {
		t.Error("the status has a variable of a pod")
	}
}

// A target that is changed within a step makes its figures say nothing.
func TestRolloutWithinAStepIsInconclusive(t *testing.T) {
	t.Parallel()
	lt, pods := tested(t)
	r := newFixture(t, apiserver.Client(t))
	r.TargetPods = &podreader.Reader{API: r.Uncached}
	r.carryOut(lt, func() { runs(t, pods[0], "sha256:bbb", 0); runs(t, pods[1], "sha256:bbb", 0) })
	met := condition(lt, v1beta1.ConditionThresholdsMet)
	if lt.Status.Verdict != v1beta1.VerdictInconclusive || met.Reason != v1beta1.ReasonTargetChanged || !strings.Contains(met.Message, "was sha256:aaa and is sha256:bbb") {
		t.Errorf("verdict %s, %s: %s", lt.Status.Verdict, met.Reason, met.Message)
	}
	if lt.Status.Thresholds[0].State != v1beta1.ThresholdInconclusive {
		t.Errorf("the threshold is %s: %s", lt.Status.Thresholds[0].State, lt.Status.Thresholds[0].Message)
	}
}

// A cluster that does not let itself be read harms no run.
func TestTargetThatCannotBeReadHarmsNoRun(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"not allowed":       {apierrors.NewForbidden(corev1.Resource("pods"), "", errors.New("no rule")), "The operator may not read the pods of Service shortener: list pods: pods is forbidden: no rule"},
		"does not answer":   {context.DeadlineExceeded, "The pods of Service shortener could not be read: list pods: context deadline exceeded"},
		"something is long": {errors.New(strings.Repeat("x", 5000)), "The pods of Service shortener could not be read: list pods: xxx"},
	} {
		t.Run(name, func(t *testing.T) {
			lt, _ := tested(t)
			r := newFixture(t, apiserver.Client(t))
			r.TargetPods = &podreader.Reader{API: &reads{Reader: r.Uncached, err: tc.err}}
			r.carryOut(lt, func() {})
			step := lt.Status.Steps[0].Environment
			if lt.Status.Verdict != v1beta1.VerdictPassed || step.After == nil || !strings.HasPrefix(step.After.Problem, tc.want) {
				t.Errorf("verdict %s, %+v; want Passed, and %s", lt.Status.Verdict, step, tc.want)
			}
		})
	}
}

// Without the right to list autoscalers, pods are read all the same.
func TestPodsAreReadWithoutAutoscalers(t *testing.T) {
	t.Parallel()
	lt, _ := tested(t)
	r := newFixture(t, apiserver.Client(t))
	r.TargetPods = &podreader.Reader{API: &reads{Reader: r.Uncached, autoscalers: apierrors.NewForbidden(corev1.Resource("horizontalpodautoscalers"), "", errors.New("no rule"))}}
	r.carryOut(lt, func() {})
	if after := lt.Status.Steps[0].Environment.After; after == nil || after.Problem != "" || after.Pods != 2 {
		t.Errorf("%+v, want 2 pods", after)
	}
}

// An autoscaler that could not be read at the end of a step is not gone.
func TestAutoscalerThatIsNotReadOnceIsNoChange(t *testing.T) {
	t.Parallel()
	lt, _ := tested(t)
	r := newFixture(t, apiserver.Client(t))
	failing := &reads{Reader: r.Uncached}
	r.TargetPods = &podreader.Reader{API: failing}
	r.carryOut(lt, func() { failing.autoscalers = errors.New("connection refused") })
	if step := lt.Status.Steps[0].Environment; lt.Status.Verdict != v1beta1.VerdictPassed || len(step.Changes) != 0 || step.After.Problem == "" {
		t.Errorf("verdict %s, %+v; want Passed, no change, and a problem", lt.Status.Verdict, step)
	}
}

// An operator that is not to read targets reads nothing and writes nothing of them.
func TestTargetThatIsNotToBeReadIsNot(t *testing.T) {
	t.Parallel()
	lt, _ := tested(t)
	r := newFixture(t, apiserver.Client(t))
	counted := &reads{Reader: r.Uncached}
	r.readPastCache(counted)
	r.carryOut(lt, func() {})
	if counted.n != 0 || lt.Status.Environment != nil || lt.Status.Steps[0].Environment != nil {
		t.Errorf("%d lists were read; environment %+v", counted.n, lt.Status.Environment)
	}
}

// An operator that is set not to read targets goes on with a run of one that is.
func TestTakeoverByAnOperatorThatDoesNotReadTargets(t *testing.T) {
	t.Parallel()
	lt, _ := tested(t)
	r := newFixture(t, apiserver.Client(t))
	r.TargetPods = &podreader.Reader{API: r.Uncached}
	r.carryOut(lt, func() { r.TargetPods = nil })
	if step := lt.Status.Steps[0].Environment; lt.Status.Verdict != v1beta1.VerdictPassed || step.After == nil || step.After.Problem == "" {
		t.Errorf("verdict %s, %+v; want Passed, and a problem", lt.Status.Verdict, step)
	}
}

// Of many pods some are read, and the others are counted. Those that have ended, of which evictions leave hundreds, are not.
func TestManyPodsAreCounted(t *testing.T) {
	t.Parallel()
	lt, _ := tested(t)
	for i := range 103 {
		pod := &corev1.Pod{Spec: corev1.PodSpec{ServiceAccountName: "default", Containers: []corev1.Container{{Name: "app", Image: "shortener:v3"}}}}
		pod.Namespace, pod.Name, pod.Labels = lt.Namespace, fmt.Sprintf("x-%03d", i), map[string]string{"app": "shortener"}
		must.Succeed(t, apiserver.Client(t).Create(t.Context(), pod))
		if phases := map[int]corev1.PodPhase{0: corev1.PodFailed, 102: corev1.PodSucceeded}; phases[i] != "" {
			pod.Status.Phase = phases[i]
			must.Succeed(t, apiserver.Client(t).Status().Update(t.Context(), pod))
		}
	}
	r := newFixture(t, apiserver.Client(t))
	r.TargetPods = &podreader.Reader{API: r.Uncached}
	r.carryOut(lt, func() {})
	if after := lt.Status.Steps[0].Environment.After; after == nil || after.Pods != 103 || after.Unread != 3 {
		t.Errorf("%+v, want 103 pods, 3 of them unread", after)
	}
}

func condition(lt *v1beta1.LoadTest, kind string) metav1.Condition {
	for _, c := range lt.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return metav1.Condition{}
}
