package loadtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/desired"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

var errCut = errors.New("the connection was cut")

// stored are the ConfigMaps of a run.
func stored(t *testing.T, lt *v1beta1.LoadTest) []corev1.ConfigMap {
	t.Helper()
	var list corev1.ConfigMapList
	must.Succeed(t, apiserver.Client(t).List(t.Context(), &list, client.InNamespace(lt.Namespace), client.MatchingLabels{desired.LabelRun: string(lt.UID)}))
	return list.Items
}

// noStatus is a client whose writes of a status fail while *failing.
func noStatus(t *testing.T, failing *bool) client.Client {
	return interceptor.NewClient(apiserver.Client(t), interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			if *failing {
				return errCut
			}
			return c.SubResource(sub).Patch(ctx, obj, patch, opts...)
		},
	})
}

// wantArchive says where the run's only archive is not that of its step.
func wantArchive(t *testing.T, lt *v1beta1.LoadTest) {
	t.Helper()
	all := stored(t, lt)
	if len(all) != 1 || !metav1.IsControlledBy(&all[0], lt) || all[0].Immutable == nil || !*all[0].Immutable {
		t.Fatalf("%d ConfigMaps, want one that is immutable and the run's: %+v", len(all), all)
	}
	want := []v1beta1.ResultRef{{Step: lt.Status.Steps[0].Name, ConfigMap: all[0].Name, SHA256: archive.Sum(all[0].BinaryData[archive.Key])}}
	same.As(t, "status.resultRefs", want, lt.Status.ResultRefs)
	step, err := archive.Decode(all[0].BinaryData[archive.Key])
	must.Succeed(t, err)
	if step.Sent != lt.Status.Steps[0].Result.Sent || step.Name != lt.Status.Steps[0].Name || step.UID != string(lt.UID) || step.Requests[0].Response == nil {
		t.Errorf("the archive is of %+v", step)
	}
}

// An operator that ends between the ConfigMap and the status is followed by one that
// comes to the same ConfigMap.
func TestResultsAreStoredOnceBeforeTheStatus(t *testing.T) {
	t.Parallel()
	failing := false
	lt := hello(t)
	r := underWay(t, noStatus(t, &failing), lt)
	failing = true
	if _, err := r.pass(lt); !errors.Is(err, errCut) {
		t.Fatalf("the pass ended with %v", err)
	}
	if n := len(stored(t, lt)); n != 1 || lt.Status.Steps[0].State != v1beta1.StepRunning {
		t.Fatalf("%d ConfigMaps, and the step is %s; want one, and Running", n, lt.Status.Steps[0].State)
	}
	if d := r.workers.last(); d.Acknowledged != 0 {
		t.Errorf("steps before %d are acknowledged", d.Acknowledged)
	}
	next := newFixture(t, apiserver.Client(t))
	next.workers = r.workers
	next.Workers = r.workers
	next.after(2 * time.Second)
	next.mustPass(lt)
	same.As(t, "verdict", v1beta1.VerdictPassed, lt.Status.Verdict)
	wantArchive(t, lt)
}

// While the API server does not answer, the step waits, however long.
func TestAStepWaitsForItsResultsToBeStored(t *testing.T) {
	t.Parallel()
	away, creations := true, 0
	c := interceptor.NewClient(apiserver.Client(t), interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
			if _, ok := obj.(*corev1.ConfigMap); ok {
				if creations++; away {
					return errCut
				}
			}
			return c.Create(ctx, obj, opts...)
		},
	})
	lt := hello(t)
	r := underWay(t, c, lt)
	for range 20 {
		if _, err := r.pass(lt); !errors.Is(err, errCut) {
			t.Fatalf("the pass ended with %v", err)
		}
	}
	if s := lt.Status.Steps[0].State; s != v1beta1.StepRunning || creations != 20 {
		t.Errorf("the step is %s after %d tries, want Running after 20", s, creations)
	}
	away = false
	r.mustPass(lt)
	wantArchive(t, lt)
}

// What is refused again and again is given up, and said.
func TestRefusedResultsDoNotHoldUpTheRun(t *testing.T) {
	t.Parallel()
	lt := hello(t)
	r := underWay(t, apiserver.Client(t), lt)
	counted := r.count()
	noResultMaps(t, lt.Namespace)
	passes := 0
	for lt.Status.Verdict == "" && passes < 10 {
		r.after(r.mustPass(lt).RequeueAfter)
		passes++
	}
	if passes != 4 || lt.Status.Verdict != v1beta1.VerdictPassed {
		t.Errorf("verdict %q after %d passes, want Passed after 4", lt.Status.Verdict, passes)
	}
	if len(lt.Status.ResultRefs) != 1 || lt.Status.ResultRefs[0].ConfigMap != "" || !strings.Contains(lt.Status.ResultRefs[0].Message, "no ConfigMap of ours") {
		t.Errorf("status.resultRefs is %+v", lt.Status.ResultRefs)
	}
	if said := strings.Join(r.said(), "\n"); !strings.Contains(said, "Warning ResultsNotStored The detailed results of step") {
		t.Errorf("events:\n%s", said)
	}
	counted("loadtest_refusals_total", `# HELP loadtest_refusals_total Writes that the API server refused, by what was written: a Job, a LoadTest of a load, a status, the results of a step, a deletion.
# TYPE loadtest_refusals_total counter
loadtest_refusals_total{of="Deletion"} 0
loadtest_refusals_total{of="Job"} 0
loadtest_refusals_total{of="LoadTest"} 0
loadtest_refusals_total{of="Results"} 3
loadtest_refusals_total{of="Status"} 0
`)
}

// noResultMaps denies the ConfigMaps of results in a namespace.
func noResultMaps(t *testing.T, namespace string) {
	t.Helper()
	deny(t, namespace, admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
		admissionv1.Create, "!has(object.binaryData)", "no ConfigMap of ours")
	probe := &corev1.ConfigMap{BinaryData: map[string][]byte{"a": {1}}}
	probe.Namespace, probe.Name = namespace, "probe"
	awaitAdmission(t, false, func(c client.Client) error { return c.Create(t.Context(), probe.DeepCopy()) })
}

// A ConfigMap of results that was replaced by another of its name is not changed. The status has the
// sum of what was measured, by which readers refuse the other.
func TestAnotherConfigMapIsNotTakenForTheResults(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*corev1.ConfigMap){
		"of nothing":          func(m *corev1.ConfigMap) { m.OwnerReferences = nil },
		"of another LoadTest": func(m *corev1.ConfigMap) { m.OwnerReferences[0].UID = "another" },
		"with other results":  func(m *corev1.ConfigMap) { m.BinaryData[archive.Key] = []byte("forged") },
	} {
		t.Run(name, func(t *testing.T) {
			failing := false
			lt := hello(t)
			r := underWay(t, noStatus(t, &failing), lt)
			failing = true
			if _, err := r.pass(lt); !errors.Is(err, errCut) {
				t.Fatalf("the pass ended with %v", err)
			}
			c := apiserver.Client(t)
			forged := stored(t, lt)[0]
			measured := forged.BinaryData[archive.Key]
			must.Succeed(t, c.Delete(t.Context(), forged.DeepCopy()))
			forged.ResourceVersion, forged.UID = "", ""
			change(&forged)
			must.Succeed(t, c.Create(t.Context(), &forged))
			next := newFixture(t, c)
			next.workers, next.Workers = r.workers, r.workers
			next.after(2 * time.Second)
			next.mustPass(lt)
			next.mustPass(lt)
			want := []v1beta1.ResultRef{{Step: lt.Status.Steps[0].Name, ConfigMap: forged.Name, SHA256: archive.Sum(measured)}}
			same.As(t, "status.resultRefs", want, lt.Status.ResultRefs)
			if !meta.IsStatusConditionTrue(lt.Status.Conditions, v1beta1.ConditionFinished) {
				t.Error("the run does not end")
			}
			found := &corev1.ConfigMap{}
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(&forged), found); err != nil || found.ResourceVersion != forged.ResourceVersion {
				t.Errorf("it was touched: %v", err)
			}
		})
	}
}

// What is stored counts into the bytes that a run writes.
func TestStoredResultsCountAsWritten(t *testing.T) {
	t.Parallel()
	lt := hello(t)
	r := underWay(t, apiserver.Client(t), lt)
	registry := prometheus.NewRegistry()
	r.Metrics = loadtest.NewMetrics(registry)
	r.mustPass(lt)
	object, err := json.Marshal(lt)
	must.Succeed(t, err)
	families, err := registry.Gather()
	must.Succeed(t, err)
	want := len(object) + len(stored(t, lt)[0].BinaryData[archive.Key])
	for _, f := range families {
		const kind = 100 // the kind and its version may be missing
		if got := int(f.GetMetric()[0].GetCounter().GetValue()); f.GetName() == "loadtest_status_bytes_total" && (got < want-kind || got > want+kind) {
			t.Errorf("%d bytes were written, want about %d: the LoadTest and its archive", got, want)
		}
	}
}
