//go:build e2e

package runs

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// rolling is a workload whose rollouts are tested.
type rolling struct {
	object   client.Object
	template *corev1.PodTemplateSpec
	schedule *v1beta1.LoadTestSchedule
}

// checkWorkloads has a StatefulSet and a DaemonSet roll out, and roll back to what they were:
// each time one LoadTest starts.
func checkWorkloads(t *testing.T, ns string, target cluster.Counter) {
	var all []*rolling
	for _, w := range []*rolling{statefulSetOf(target, "store"), daemonSetOf(target, "agent")} {
		kind, name := w.object.GetObjectKind().GroupVersionKind().Kind, w.object.GetName()
		must.Succeed(t, cluster.API.Create(t.Context(), w.object))
		fields := fmt.Sprintf("onRollout: {kind: %s, name: %s}\nsuccessfulRunsHistoryLimit: 10\nfailedRunsHistoryLimit: 10", kind, name)
		w.schedule = createSchedule(t, ns, name, fmt.Sprintf(scheduledSpec, fields, name))
		all = append(all, w)
	}
	for n, annotations := range []map[string]string{{"restarted": "once"}, nil, nil} {
		for _, w := range all {
			runs := awaitRuns(t, w.schedule, n+1)
			for i := range runs {
				cluster.Finish(t, &runs[i])
			}
			if len(runs) != n+1 {
				t.Fatalf("there are %d LoadTests of %s after %d rollouts", len(runs), w.object.GetName(), n+1)
			}
			if n < 2 {
				retryUpdate(t, w.object, func() { w.template.Annotations = annotations })
			}
		}
	}
	for _, w := range all {
		if cluster.Received(t, target, w.object.GetName()) == 0 {
			t.Errorf("the LoadTests of %s sent nothing", w.object.GetName())
		}
	}
}

func statefulSetOf(c cluster.Counter, name string) *rolling {
	labels := map[string]string{"app": name}
	set := &appsv1.StatefulSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"},
		ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: name},
		Spec: appsv1.StatefulSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: c.Pod("").Spec},
		},
	}
	return &rolling{object: set, template: &set.Spec.Template}
}

func daemonSetOf(c cluster.Counter, name string) *rolling {
	labels := map[string]string{"app": name}
	set := &appsv1.DaemonSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"},
		ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: name},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: c.Pod("").Spec},
		},
	}
	return &rolling{object: set, template: &set.Spec.Template}
}
