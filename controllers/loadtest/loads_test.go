package loadtest_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// sale is a LoadTest with two loads of one worker each.
func sale(t *testing.T) *v1beta1.LoadTest {
	t.Helper()
	first := hello(t)
	lt := &v1beta1.LoadTest{Spec: *first.Spec.DeepCopy()}
	must.Succeed(t, apiserver.Client(t).Delete(t.Context(), first))
	lt.Namespace, lt.Name = first.Namespace, "sale"
	steps := []v1beta1.Step{{Name: "10", Users: ptr.To[int32](10), Duration: &lt.Spec.Ladder.Duration}}
	lt.Spec.Ladder, lt.Spec.Parallelism = nil, nil
	lt.Spec.Loads = []v1beta1.Load{{Name: "readers", Steps: steps}, {Name: "buyers", Steps: steps, Parallelism: ptr.To[int32](2)}}
	must.Succeed(t, apiserver.Client(t).Create(t.Context(), lt))
	return lt
}

// loadsOf are the LoadTests of the loads, as they are stored; one that does not exist is empty.
func loadsOf(t *testing.T, lt *v1beta1.LoadTest) (list []*v1beta1.LoadTest) {
	t.Helper()
	for _, l := range lt.Spec.Loads {
		one := &v1beta1.LoadTest{}
		err := apiserver.Client(t).Get(t.Context(), client.ObjectKey{Namespace: lt.Namespace, Name: plan.LoadName(lt.Name, l.Name)}, one)
		if client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
		list = append(list, one)
	}
	return list
}

// The LoadTests of loads are created once, by whichever process comes, and begin without a place of their
// own in the queue.
func TestLoadsAreCreatedOnce(t *testing.T) {
	t.Parallel()
	r := newFixture(t, apiserver.Client(t))
	lt := sale(t)
	r.mustPass(lt)
	if got := r.said(); len(got) != 1 || !strings.Contains(got[0], "The run begins; LoadTests of its 2 loads are created.") {
		t.Errorf("said %q", got)
	}
	before := lt.DeepCopy()
	r.mustPass(lt)
	loads := loadsOf(t, lt)
	for i, one := range loads {
		if one.UID == "" || lt.Status.Loads[i].UID != string(one.UID) {
			t.Fatalf("load %d has UID %s, and the status %s", i, one.UID, lt.Status.Loads[i].UID)
		}
		r.mustPass(one)
		if one.Status.Phase != v1beta1.PhaseStarting {
			t.Errorf("%s is %s", one.Name, one.Status.Phase)
		}
	}
	// A process that ended before it wrote the UIDs.
	lt.Status.Loads = before.Status.Loads
	must.Succeed(t, apiserver.Client(t).Status().Update(t.Context(), lt))
	r = newFixture(t, apiserver.Client(t))
	r.mustPass(lt)
	for i, one := range loads {
		if lt.Status.Loads[i].UID != string(one.UID) {
			t.Errorf("load %d has UID %s, want that of the first process", i, lt.Status.Loads[i].UID)
		}
	}
}

// A LoadTest of the name that another created is left alone, and one that only says that it is the load is replaced.
func TestALoadDoesNotTakeTheLoadTestOfAnother(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*v1beta1.LoadTest){
		"without an owner":  func(one *v1beta1.LoadTest) { one.OwnerReferences = nil },
		"with more workers": func(one *v1beta1.LoadTest) { one.Spec.Parallelism = ptr.To[int32](7) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newFixture(t, apiserver.Client(t))
			lt := sale(t)
			r.mustPass(lt)
			other := plan.Loads(lt)[1]
			change(other)
			must.Succeed(t, apiserver.Client(t).Create(t.Context(), other))
			r.mustPass(lt)
			r.mustPass(lt)
			c := v1beta1.NotCarriedOut(lt.Status.Conditions)
			if len(other.OwnerReferences) == 0 && (c == nil || c.Message != "A LoadTest named sale-buyers exists and is not of this run; delete it, or give the load another name.") {
				t.Errorf("not carried out: %+v", c)
			}
			if one := loadsOf(t, lt)[1]; len(other.OwnerReferences) > 0 && (c != nil || one.UID == other.UID || *one.Spec.Parallelism != 2) {
				t.Errorf("not carried out: %+v; the load has %d workers", c, *one.Spec.Parallelism)
			}
		})
	}
}

// The LoadTest waits in the queue with the workers of all its loads, and these wait for it.
func TestLoadsHaveOnePlaceInTheQueue(t *testing.T) {
	t.Parallel()
	r := crowded(t, "runs: 1", "")
	lt := sale(t)
	r.mustPass(lt)
	r.mustPass(lt)
	loads := loadsOf(t, lt)
	for _, one := range loads {
		r.mustPass(one)
		if one.Status.StartTime == nil {
			t.Errorf("%s waits: %+v", one.Name, one.Status.Conditions)
		}
	}
	waits := &v1beta1.LoadTest{Spec: *loads[0].Spec.DeepCopy()}
	waits.Namespace, waits.Name = lt.Namespace, "another"
	must.Succeed(t, apiserver.Client(t).Create(t.Context(), waits))
	r.mustPass(waits)
	if waits.Status.Phase != v1beta1.PhaseQueued || !strings.Contains(meta.FindStatusCondition(waits.Status.Conditions, v1beta1.ConditionQueued).Message, "1 of 1 runs of namespace") {
		t.Errorf("another run: %s %+v", waits.Status.Phase, waits.Status.Conditions)
	}
	forged := &v1beta1.LoadTest{Spec: *waits.Spec.DeepCopy()}
	forged.Namespace, forged.Name, forged.OwnerReferences = lt.Namespace, "forged", loads[0].OwnerReferences
	must.Succeed(t, apiserver.Client(t).Create(t.Context(), forged))
	r.mustPass(forged)
	if c := meta.FindStatusCondition(forged.Status.Conditions, v1beta1.ConditionAccepted); c == nil || c.Status != metav1.ConditionFalse {
		t.Errorf("a LoadTest that names an owner by itself: %+v", forged.Status.Conditions)
	}
}

// What the API server refuses is tried again.
func TestARefusedLoadIsTriedAgain(t *testing.T) {
	t.Parallel()
	full := apierrors.NewForbidden(schema.GroupResource{Resource: "loadtests"}, "sale-buyers", errors.New("exceeded quota"))
	refused := true
	r := newFixture(t, interceptor.NewClient(apiserver.Client(t), interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
			if refused && o.GetName() == "sale-buyers" {
				return full
			}
			return c.Create(ctx, o, options...)
		},
	}))
	lt := sale(t)
	for range 3 {
		r.mustPass(lt)
	}
	if c := meta.FindStatusCondition(lt.Status.Conditions, v1beta1.ConditionWorkersReady); c == nil || !strings.Contains(c.Message, "The API server refuses LoadTest sale-buyers: ") || !strings.Contains(c.Message, "exceeded quota") {
		t.Errorf("WorkersReady: %+v", c)
	}
	refused = false
	r.after(5 * time.Second)
	r.mustPass(lt)
	if got := loadsOf(t, lt); got[1].UID == "" || lt.Status.Loads[1].UID != string(got[1].UID) {
		t.Errorf("load buyers has UID %q, and the status %q", got[1].UID, lt.Status.Loads[1].UID)
	}
}

// The operator is restarted while a load waits, with its workers ready, for the load before it.
func TestALoadThatWaitsOutlivesARestart(t *testing.T) {
	t.Parallel()
	c := apiserver.Client(t)
	r, lt := newFixture(t, c), sale(t)
	lt.Spec.Loads[1].After = "readers"
	must.Succeed(t, c.Update(t.Context(), lt))
	r.mustPass(lt)
	r.mustPass(lt)
	buyers := loadsOf(t, lt)[1]
	r.prepare(buyers)
	r.mustPass(buyers)
	if !meta.IsStatusConditionTrue(buyers.Status.Conditions, v1beta1.ConditionWorkersReady) {
		t.Fatalf("%+v", buyers.Status.Conditions)
	}
	again := newFixture(t, c)
	again.clock.SetTime(r.clock.Now().Add(301 * time.Second))
	again.mustPass(buyers)
	if buyers.Status.Verdict != "" {
		t.Errorf("verdict %s: %+v", buyers.Status.Verdict, v1beta1.NotCarriedOut(buyers.Status.Conditions))
	}
}

// A run with loads that is held keeps its place, and no longer than the administrator allows.
func TestARunWithLoadsThatIsHeldGivesItsPlaceInTime(t *testing.T) {
	t.Parallel()
	c := apiserver.Client(t)
	r := crowded(t, "runs: 1, held: 1h", "")
	lt := sale(t)
	r.mustPass(lt)
	r.mustPass(lt)
	lt.Spec.Suspend = true
	must.Succeed(t, c.Update(t.Context(), lt))
	passes := func() {
		r.mustPass(lt)
		for _, one := range loadsOf(t, lt) {
			r.mustPass(one)
		}
	}
	passes()
	for _, one := range loadsOf(t, lt) {
		if one.Status.Phase != v1beta1.PhaseSuspended || one.Status.StartTime != nil {
			t.Fatalf("%s is %s", one.Name, one.Status.Phase)
		}
	}
	waits := &v1beta1.LoadTest{Spec: *loadsOf(t, lt)[0].Spec.DeepCopy()}
	waits.Namespace, waits.Name = lt.Namespace, "another"
	must.Succeed(t, c.Create(t.Context(), waits))
	if r.mustPass(waits); waits.Status.Phase != v1beta1.PhaseQueued || lt.Status.Phase != v1beta1.PhaseSuspended {
		t.Fatalf("another run is %s, and the one that is held %s", waits.Status.Phase, lt.Status.Phase)
	}
	r.after(time.Hour)
	for range 3 {
		passes()
	}
	if r.mustPass(waits); waits.Status.Phase == v1beta1.PhaseQueued {
		t.Errorf("after an hour, another run is still queued; the one that is held is %s", lt.Status.Phase)
	}
}

// Whoever may edit LoadTests gives a load no more workers than the run has a place for.
func TestALoadThatIsEditedBeforeItBeginsDoesNot(t *testing.T) {
	t.Parallel()
	c := apiserver.Client(t)
	r := newFixture(t, c)
	r.workers.absent = true
	lt := sale(t)
	r.mustPass(lt)
	r.mustPass(lt)
	for _, one := range loadsOf(t, lt) {
		one.Spec.Parallelism, one.Spec.Steps[0].Users = ptr.To[int32](3), ptr.To[int32](5000)
		must.Succeed(t, c.Update(t.Context(), one))
		r.mustPass(one)
		if r.mustPass(one); one.Status.StartTime != nil || one.Status.Verdict != v1beta1.VerdictError {
			t.Errorf("%s begins, or is not refused: %s", one.Name, one.Status.Verdict)
		}
	}
	for range 3 {
		r.mustPass(lt)
	}
	if c := v1beta1.NotCarriedOut(lt.Status.Conditions); c == nil || c.Reason != v1beta1.ReasonInvalidSpec {
		t.Errorf("verdict %s: %+v", lt.Status.Verdict, c)
	}
}

// What the API server adds to the spec of a load is no edit.
func TestLoadsOfASampleAreWhatTheLoadTestAsksFor(t *testing.T) {
	t.Parallel()
	c := apiserver.Client(t)
	r, lt := newFixture(t, c), sale(t)
	r.workers.absent = true
	must.Succeed(t, c.Delete(t.Context(), lt))
	full := &v1beta1.LoadTest{}
	document, err := os.ReadFile("../../config/samples/loads.yaml")
	must.Succeed(t, err)
	must.Succeed(t, yaml.UnmarshalStrict(document, full))
	full.Namespace, full.Name = lt.Namespace, "full"
	full.Spec.Worker = &v1beta1.Worker{Resources: &corev1.ResourceRequirements{Limits: corev1.ResourceList{"cpu": resource.MustParse("1000m")}}}
	full.Spec.Thresholds = append(full.Spec.Thresholds, v1beta1.Threshold{Metric: "failureRate", Max: ptr.To(intstr.Parse("1%"))})
	full.Spec.RandomSeed = ptr.To[int64](7)
	must.Succeed(t, c.Create(t.Context(), full))
	r.mustPass(full)
	r.mustPass(full)
	for _, one := range loadsOf(t, full) {
		if r.mustPass(one); one.Status.StartTime == nil {
			t.Errorf("%s does not begin: %+v", one.Name, one.Status.Conditions)
		}
	}
}
