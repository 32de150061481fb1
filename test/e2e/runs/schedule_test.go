//go:build e2e

package runs

import (
	"context"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/pressure"
)

// scheduledSpec has two users wait for the counter, which counts what it receives. Waiting
// takes nearly all of their time: a hiccup of 40 ms is less than 1% of it.
const scheduledSpec = `
%s
template:
  spec:
    target: {service: {name: counter}, timeout: 5s}
    requests: [{name: wait, http: {path: "/%s?delay=100ms"}}]
    steps: [{name: two, users: 2, duration: 5s}]
    parallelism: 1
    thresholds: [{metric: p50, maxIncrease: 400%%}]
`

// TestSchedule has LoadTests started by what a team changes: the schedule itself and a
// Deployment. The truth is what the target has counted.
func TestSchedule(t *testing.T) {
	cluster.OnlyFull(t)
	t.Parallel()
	ns := cluster.Namespace(t)
	target := cluster.CounterOf(t, ns)
	t.Run("change", func(t *testing.T) { checkChange(t, ns, target) })
	t.Run("rollouts", func(t *testing.T) {
		for name, check := range map[string]func(*testing.T, string, cluster.Counter){"Deployment": checkRollout, "others": checkWorkloads} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				check(t, ns, target)
			})
		}
	})
	t.Log(cluster.MustCommand(t, "kubectl", "get", "loadtestschedules,loadtests", "--namespace", ns))
}

// checkChange starts a LoadTest by creating a schedule, and another by changing it. A busy
// machine excuses a verdict, and what follows from two that are Passed; it excuses no count.
func checkChange(t *testing.T, ns string, target cluster.Counter) {
	machine := pressure.Start()
	s := createSchedule(t, ns, "changed", fmt.Sprintf(scheduledSpec, "onChange: true", "changed"))
	first := awaitRuns(t, s, 1)[0]
	cluster.Finish(t, &first)
	cluster.IsPassed(t, &first, machine)
	if first.Spec.Baseline != nil {
		t.Errorf("the first has the baseline %v", first.Spec.Baseline)
	}
	retryUpdate(t, s, func() { s.Spec.Template.Spec.Thresholds[0].MaxIncrease = "500%" })
	runs := awaitRuns(t, s, 2)
	second := runs[1]
	if second.Name == first.Name {
		second = runs[0]
	}
	cluster.Finish(t, &second)
	cluster.IsPassed(t, &second, machine)
	sent := first.Status.Steps[0].Result.Sent + second.Status.Steps[0].Result.Sent
	if received := cluster.Received(t, target, "changed"); received != sent || sent == 0 {
		t.Errorf("both sent %d requests, and the target received %d", sent, received)
	}
	if first.Status.Verdict != v1beta1.VerdictPassed || second.Status.Verdict != v1beta1.VerdictPassed {
		return
	}
	if b := second.Status.Baseline; b == nil || b.Name != first.Name {
		t.Errorf("the second has the baseline %v, want %s", b, first.Name)
	}
	awaitSchedule(t, s, "noted", func() bool {
		last := s.Status.LastPassed
		return last != nil && last.Name == second.Name && s.Status.Summary.Trend != ""
	})
	t.Log(cluster.MustCommand(t, "kubectl", "get", "loadtestschedule", s.Name, "--namespace", ns, "--output", "yaml"))
}

// checkRollout starts a LoadTest for each of two rollouts.
func checkRollout(t *testing.T, ns string, target cluster.Counter) {
	d := deploymentOf(target, "shop")
	must.Succeed(t, cluster.API.Create(t.Context(), d))
	s := createSchedule(t, ns, "rolled", fmt.Sprintf(scheduledSpec, "onRollout: {kind: Deployment, name: shop}", "rolled"))
	for n := 1; n <= 2; n++ {
		for _, lt := range awaitRuns(t, s, n) {
			cluster.Finish(t, &lt)
		}
		if n == 1 {
			retryUpdate(t, d, func() { d.Spec.Template.Annotations = map[string]string{"restarted": "once"} })
		}
	}
}

// deploymentOf is a Deployment of counters that no Service leads to.
func deploymentOf(c cluster.Counter, name string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(1)), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: c.Pod("").Spec},
		},
	}
}

func createSchedule(t *testing.T, namespace, name, spec string) *v1beta1.LoadTestSchedule {
	t.Helper()
	s := &v1beta1.LoadTestSchedule{}
	must.Succeed(t, yaml.UnmarshalStrict([]byte(spec), &s.Spec))
	s.Namespace, s.Name = namespace, name
	must.Succeed(t, cluster.API.Create(t.Context(), s))
	return s
}

func awaitRuns(t *testing.T, s *v1beta1.LoadTestSchedule, n int) []v1beta1.LoadTest {
	t.Helper()
	awaitSchedule(t, s, fmt.Sprintf("at its LoadTest number %d", n), func() bool { return len(cluster.RunsOf(t, s)) >= n })
	return cluster.RunsOf(t, s)
}

func awaitSchedule(t *testing.T, s *v1beta1.LoadTestSchedule, what string, f func() bool) {
	t.Helper()
	cluster.Soon(t, func(ctx context.Context) error {
		if err := cluster.API.Get(ctx, client.ObjectKeyFromObject(s), s); err != nil {
			return err
		}
		if !f() {
			return fmt.Errorf("schedule %s is not %s: %+v", s.Name, what, s.Status)
		}
		return nil
	})
}

func retryUpdate(t *testing.T, o client.Object, change func()) {
	t.Helper()
	cluster.Soon(t, func(ctx context.Context) error {
		if err := cluster.API.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		change()
		return cluster.API.Update(ctx, o)
	})
}
