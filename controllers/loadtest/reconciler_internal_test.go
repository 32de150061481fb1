package loadtest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/firstread"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/resultkeeper"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// However often the status that names an archive is tried, the archive is stored once, and
// its size is charged to the write that succeeds.
func TestArchiveIsStoredUntilAStatusNamesIt(t *testing.T) {
	var a archiving
	if a.isStored("hello-0") {
		t.Error("it is stored before it was")
	}
	a.stored = storedArchive{name: "hello-0", configMap: "hello-0-abc", sum: "abc", size: 100}
	for range 2 {
		status := v1beta1.LoadTestStatus{ResultRefs: []v1beta1.ResultRef{{ConfigMap: "earlier", SHA256: "def"}, {ConfigMap: "hello-0"}, {}}}
		a.sign(&status)
		want := []v1beta1.ResultRef{{ConfigMap: "earlier", SHA256: "def"}, {ConfigMap: "hello-0-abc", SHA256: "abc"}, {}}
		if diff := cmp.Diff(want, status.ResultRefs); diff != "" || !a.isStored("hello-0") || a.isStored("hello-1") {
			t.Errorf("stored: %t; the references (-want +got):\n%s", a.isStored("hello-0"), diff)
		}
	}
	if size := a.written(); size != 100 || a.isStored("hello-0") {
		t.Errorf("%d bytes are charged, want 100; still stored: %t", size, a.isStored("hello-0"))
	}
	same.As(t, "bytes that the next write is charged with", 0, a.written())
}

// Tries are counted for each step, and what will never be stored is tried once.
func TestArchiveIsGivenUpAfterItsTries(t *testing.T) {
	var a archiving
	for i, tc := range []struct {
		step      int
		permanent bool
		want      bool
	}{{0, false, false}, {0, false, false}, {1, false, false}, {1, false, false}, {1, false, true}, {2, true, true}} {
		if got := a.failed(tc.step, tc.permanent, 3, "no room"); got != tc.want {
			t.Errorf("try %d, of step %d: given up %t, want %t", i, tc.step, got, tc.want)
		}
		if tc.want && (a.unstored == nil || *a.unstored != lifecycle.Unstored{Step: tc.step, Message: "no room"}) {
			t.Errorf("try %d: given up is %+v, want step %d", i, a.unstored, tc.step)
		}
	}
}

// A change of the configuration has every run looked at that is not finished, and of those
// that are the ones whose results could not be kept.
func TestPolicyChangeHasRunsReconciled(t *testing.T) {
	scheme := runtime.NewScheme()
	must.Succeed(t, v1beta1.AddToScheme(scheme))
	over := named(types.NamespacedName{Namespace: "team", Name: "over"})
	over.Status.Conditions = []metav1.Condition{{Type: v1beta1.ConditionFinished, Status: metav1.ConditionTrue}}
	failed := named(types.NamespacedName{Namespace: "team", Name: "failed"})
	failed.Status.Conditions = append([]metav1.Condition{{Type: v1beta1.ConditionArchived, Status: metav1.ConditionFalse}}, over.Status.Conditions...)
	runs := NewRuns()
	r := &Reconciler{Runs: runs, Keeper: &resultkeeper.Keeper{}, Policy: policy.Default, Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(
		named(types.NamespacedName{Namespace: "team", Name: "waits"}), over, failed, named(types.NamespacedName{Namespace: "shop", Name: "runs"}),
	).Build()}
	must.Report(t, "before the controller has started", r.PolicyChanged(t.Context()))
	r.Runs = started(t)
	must.Succeed(t, r.PolicyChanged(t.Context()))
	got := queued(r.Runs)
	slices.Sort(got)
	if want := []string{"shop/runs", "team/failed", "team/waits"}; !slices.Equal(got, want) {
		t.Errorf("enqueued %v, want %v", got, want)
	}
}

// The baseline of a run that has begun may be among what is not in the cache yet.
func TestBaselineIsReadPastTheCacheWhileItLacksMuch(t *testing.T) {
	r := &Reconciler{Client: empty{}, Uncached: stored{}}
	for want, reading := range map[string]*firstread.Reading{"before": firstread.New(1), "": nil} {
		r.Reading = reading
		got, err := r.named(t.Context(), types.NamespacedName{Name: "before"})
		must.Succeed(t, err)
		if (got != nil) != (want != "") || got != nil && got.Name != want {
			t.Errorf("complete %t: the baseline is %v, want %q", reading.Complete(), got, want)
		}
	}
}

// empty is a cache without objects.
type empty struct{ client.Client }

func (empty) Get(_ context.Context, name client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	return apierrors.NewNotFound(v1beta1.GroupVersion.WithResource("loadtests").GroupResource(), name.Name)
}

// stored has each object that is asked for.
type stored struct{ client.Reader }

func (stored) Get(_ context.Context, name client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	o.SetName(name.Name)
	return nil
}

// Each pass over a run of the queue looks at all that wait, thousands perhaps. It looks at the quiet hours of a namespace
// once.
func TestQuietHoursAreLookedAtOnceForANamespace(t *testing.T) {
	quiet, err := policy.Load([]byte(`quietHours: [{from: "22:00", to: "06:00", timeZone: Europe/Berlin}]`))
	must.Succeed(t, err)
	rules, lt := rulesOf(quiet, time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)), &v1beta1.LoadTest{}
	rules.stateOf(lt)
	if n := testing.AllocsPerRun(10, func() { rules.stateOf(lt) }); n > 0 {
		t.Errorf("%v allocations for one run more of a namespace, want none", n)
	}
}
