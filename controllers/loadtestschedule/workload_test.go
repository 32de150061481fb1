package loadtestschedule_test

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// standing is where a workload of three pods stands: its revision, and of which pods there
// are how many. want is how many LoadTests there are then.
type standing struct {
	revision                      int
	wanted, updated, pods, usable int32
	want                          int
}

// workloads are the kinds that roll out, and how their controllers write where they stand.
var workloads = map[v1beta1.WorkloadKind]func(f *fixture) func(standing){
	v1beta1.WorkloadDeployment: func(f *fixture) func(standing) {
		d := &appsv1.Deployment{ObjectMeta: workload(f), Spec: appsv1.DeploymentSpec{Selector: selector(), Template: podTemplate()}}
		return f.writes(d, func(at standing) {
			d.Annotations = map[string]string{"deployment.kubernetes.io/revision": fmt.Sprint(at.revision)}
			d.Spec.Replicas = new(at.wanted)
		}, func(at standing) {
			d.Status = appsv1.DeploymentStatus{
				ObservedGeneration: d.Generation, Replicas: at.pods, UpdatedReplicas: at.updated, AvailableReplicas: at.usable, ReadyReplicas: at.usable,
			}
		})
	},
	v1beta1.WorkloadStatefulSet: func(f *fixture) func(standing) {
		set := &appsv1.StatefulSet{ObjectMeta: workload(f), Spec: appsv1.StatefulSetSpec{Selector: selector(), Template: podTemplate()}}
		return f.writes(set, func(at standing) { set.Spec.Replicas = new(at.wanted) }, func(at standing) {
			set.Status = appsv1.StatefulSetStatus{
				ObservedGeneration: set.Generation, Replicas: at.pods, UpdatedReplicas: at.updated, AvailableReplicas: at.usable, ReadyReplicas: at.usable,
				UpdateRevision: f.revision(at.revision),
			}
		})
	},
	v1beta1.WorkloadDaemonSet: func(f *fixture) func(standing) {
		set := &appsv1.DaemonSet{ObjectMeta: workload(f), Spec: appsv1.DaemonSetSpec{Selector: selector(), Template: podTemplate()}}
		rolled := 1
		return f.writes(set, func(at standing) {
			for ; rolled < at.revision; rolled++ { // the API server numbers the templates
				set.Spec.Template.Annotations = map[string]string{"rolled": fmt.Sprint(rolled)}
			}
			set.Spec.MinReadySeconds = at.wanted // a change of the spec that rolls nothing out
		}, func(at standing) {
			set.Status = appsv1.DaemonSetStatus{
				ObservedGeneration: set.Generation, DesiredNumberScheduled: at.wanted, CurrentNumberScheduled: at.pods, UpdatedNumberScheduled: at.updated,
				NumberAvailable: at.usable,
			}
		})
	},
}

// TestRollouts: a LoadTest starts for each rollout, and for nothing else that becomes of a
// workload: not half-way, not when it is scaled, not while it has no pods.
func TestRollouts(t *testing.T) {
	for kind, create := range workloads {
		t.Run(string(kind), func(t *testing.T) {
			f := newFixture(t, apiserver.Client(t))
			s := f.hourly("on-rollout", func(s *v1beta1.LoadTestScheduleSpec) {
				s.Schedule, s.OnRollout, s.SuccessfulRunsHistoryLimit = "", &v1beta1.Rollout{Kind: kind, Name: "shop"}, new(int32(10))
			})
			result := f.settle(s)
			if c := meta.FindStatusCondition(s.Status.Conditions, v1beta1.ConditionReady); c == nil || c.Reason != v1beta1.ReasonWorkloadNotFound || result.RequeueAfter != 15*time.Second {
				t.Errorf("condition %v, and again in %s", c, result.RequeueAfter)
			}
			write := create(f)
			for _, at := range []standing{
				{1, 2, 1, 2, 1, 0},
				{1, 2, 2, 2, 1, 0},
				{1, 2, 2, 2, 2, 1},
				{1, 3, 3, 3, 3, 1}, // scaled
				{2, 3, 1, 4, 3, 1},
				{2, 3, 3, 3, 3, 2},
				{3, 3, 3, 3, 3, 3},
				{4, 0, 0, 0, 0, 3},
				{4, 3, 3, 3, 2, 3},
				{4, 3, 3, 3, 3, 4},
			} {
				write(at)
				f.settle(s)
				f.restart()
				f.settle(s)
				runs := f.runs()
				if len(runs) != at.want {
					t.Fatalf("at %+v there are %d LoadTests", at, len(runs))
				}
				for i := range runs {
					if runs[i].Status.Verdict == "" {
						f.finish(&runs[i], v1beta1.VerdictPassed, time.Millisecond)
					}
				}
				f.settle(s)
			}
		})
	}
}

// writes creates a workload, and returns what changes its spec and then its status.
func (f *fixture) writes(o client.Object, spec, status func(standing)) func(standing) {
	must.Succeed(f.t, apiserver.Client(f.t).Create(f.t.Context(), o))
	return func(at standing) {
		f.t.Helper()
		spec(at)
		f.update(o)
		status(at)
		must.Succeed(f.t, apiserver.Client(f.t).Status().Update(f.t.Context(), o))
	}
}

// revision is the name of a StatefulSet's revision of a number. There are two, to which it is
// rolled back in turn, as their controller does: the number is a new one, the name is not.
func (f *fixture) revision(number int) string {
	f.t.Helper()
	r := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: fmt.Sprint("shop-", number%2)}}
	c := apiserver.Client(f.t)
	err := c.Get(f.t.Context(), client.ObjectKeyFromObject(r), r)
	if client.IgnoreNotFound(err) != nil {
		f.t.Fatal(err)
	}
	r.Revision = int64(number)
	if err == nil {
		f.update(r)
		return r.Name
	}
	r.Data = runtime.RawExtension{Raw: []byte("{}")}
	must.Succeed(f.t, c.Create(f.t.Context(), r))
	return r.Name
}

func workload(f *fixture) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: f.namespace, Name: "shop"}
}

func selector() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": "shop"}}
}

func podTemplate() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: selector().MatchLabels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "shop", Image: "shop:1"}}},
	}
}
