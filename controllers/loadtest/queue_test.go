// The race detector looks at the tests of this file, too: passes over sixteen LoadTests at once.

package loadtest_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// restored creates LoadTests as a backup or a GitOps tool does: all at once, without a
// status.
func restored(t *testing.T, n int) []*v1beta1.LoadTest {
	t.Helper()
	first := hello(t)
	list := []*v1beta1.LoadTest{first}
	for i := 1; i < n; i++ {
		lt := &v1beta1.LoadTest{Spec: *first.Spec.DeepCopy()}
		lt.Namespace, lt.Name = first.Namespace, fmt.Sprintf("%s-%03d", first.Name, i)
		must.Succeed(t, apiserver.Client(t).Create(t.Context(), lt))
		list = append(list, lt)
	}
	return list
}

// passes are one pass over each, 16 at a time.
func (r *fixture) passes(list []*v1beta1.LoadTest) {
	r.t.Helper()
	var group errgroup.Group
	group.SetLimit(16)
	for _, lt := range list {
		group.Go(func() error {
			_, err := r.Reconcile(r.t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(lt)})
			return err
		})
	}
	must.Succeed(r.t, group.Wait())
	for _, lt := range list {
		must.Succeed(r.t, apiserver.Client(r.t).Get(r.t.Context(), client.ObjectKeyFromObject(lt), lt))
	}
}

// inPhase are the LoadTests in a phase that have not finished.
func inPhase(list []*v1beta1.LoadTest, phase v1beta1.Phase) (in []*v1beta1.LoadTest) {
	for _, lt := range list {
		if lt.Status.Phase == phase && !lifecycle.Finished(lt) {
			in = append(in, lt)
		}
	}
	return in
}

// end ends a run.
func (r *fixture) end(lt *v1beta1.LoadTest) {
	r.t.Helper()
	lt.Spec.Terminate = true
	must.Succeed(r.t, apiserver.Client(r.t).Update(r.t.Context(), lt))
	r.mustPass(lt)
}

// tenAtOnce is the policy by which ten runs of a namespace go on at once.
func tenAtOnce() *policy.Policy {
	return limitedTo("limits: {runs: 10000, workers: 100000, namespaces: [{runs: 10}]}")
}

// A run that waits costs the API server nothing: of it, its Service and its baseline, nothing
// is read again until its place comes. Then it begins by the whole of its spec.
func TestWhatWaitsIsNotReadAgain(t *testing.T) {
	t.Parallel()
	r := crowded(t, "runs: 1", "")
	counted := &countingReader{Reader: unhurried{apiserver.Client(t)}}
	r.readPastCache(counted)
	list := restored(t, 3)
	r.passes(list)
	waits := list[1:]
	if n := len(inPhase(waits, v1beta1.PhaseQueued)); n != 2 {
		t.Fatalf("%d of 2 wait", n)
	}
	before := counted.n.Load()
	for range 5 {
		r.after(time.Minute)
		r.passes(waits)
	}
	same.As(t, "readings of what waits", 0, counted.n.Load()-before)
	same.As(t, "where the last is", "place 2 of 2", waits[1].Status.Summary.Step)
	r.end(list[0])
	r.passes(waits)
	if first := waits[0]; first.Status.StartTime == nil || len(first.Status.Steps) != 1 || first.Status.Workers.Desired == 0 {
		t.Errorf("the first is %s: %+v", first.Status.Phase, first.Status)
	}
	if got := waits[1].Status; got.StartTime != nil || got.Phase != v1beta1.PhaseQueued {
		t.Errorf("the second is %s", got.Phase)
	}
}

// A run that waits is looked at whole again when its spec changes.
func TestAChangeOfWhatWaitsIsJudged(t *testing.T) {
	t.Parallel()
	r := crowded(t, "runs: 1", "")
	list := restored(t, 3)
	r.passes(list)
	change(t, list[1], func(s *v1beta1.LoadTestSpec) { s.Parallelism = new(int32(7)) })
	change(t, list[2], func(s *v1beta1.LoadTestSpec) { s.Terminate = true })
	r.passes(list[1:])
	if got := list[1].Status; got.Phase != v1beta1.PhaseQueued || got.ObservedGeneration != list[1].Generation {
		t.Errorf("the one that changed is %s, of generation %d", got.Phase, got.ObservedGeneration)
	}
	if !lifecycle.Finished(list[2]) || list[2].Status.Verdict != v1beta1.VerdictCanceled {
		t.Errorf("the one that was ended is %s, verdict %s", list[2].Status.Phase, list[2].Status.Verdict)
	}
	r.end(list[0])
	r.passes(list[1:])
	if got := list[1].Status; got.StartTime == nil || got.Workers.Desired != 7 {
		t.Errorf("the one that changed is %s with %d workers, want that it begins with 7", got.Phase, got.Workers.Desired)
	}
}

// countingReader counts what is read.
type countingReader struct {
	client.Reader
	n atomic.Int64
}

func (c *countingReader) Get(ctx context.Context, name client.ObjectKey, o client.Object, options ...client.GetOption) error {
	c.n.Add(1)
	return c.Reader.Get(ctx, name, o, options...)
}

func (c *countingReader) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	c.n.Add(1)
	return c.Reader.List(ctx, list, options...)
}

// Of those that wait, the oldest begins once another ends, is deleted or is held; it says
// how long it waited.
func TestQueueMovesInOrder(t *testing.T) {
	t.Parallel()
	r := crowded(t, "runs: 1", "")
	list := restored(t, 4)
	r.passes(list)
	if places := []string{list[1].Status.Summary.Step, list[2].Status.Summary.Step, list[3].Status.Summary.Step}; fmt.Sprint(places) != "[place 1 of 3 place 2 of 3 place 3 of 3]" {
		t.Errorf("the places are %q", places)
	}
	began := func(want int) {
		t.Helper()
		r.passes(list[want:])
		for i := want; i < len(list); i++ {
			if begins := list[i].Status.StartTime != nil; begins != (i == want) {
				t.Fatalf("%s: begins %t, want %s to", list[i].Name, begins, list[want].Name)
			}
		}
	}
	began(0)
	r.end(list[0])
	r.after(90 * time.Second)
	began(1)
	c := meta.FindStatusCondition(list[1].Status.Conditions, v1beta1.ConditionQueued)
	if c.Status != "False" || c.Reason != v1beta1.ReasonBegun || c.Message != "The run waited 1m30s in the queue." {
		t.Errorf("%s says %+v", list[1].Name, c)
	}
	list[1].Spec.Suspend = true
	must.Succeed(t, apiserver.Client(t).Update(t.Context(), list[1]))
	r.mustPass(list[1])
	began(2)
	must.Succeed(t, apiserver.Client(t).Delete(t.Context(), list[2]))
	began(3)
	same.As(t, "the step of a run that begins", "0/1", list[3].Status.Summary.Step)
}

// A run that may begin and is refused gives its place to the next.
func TestRefusedRunLeavesItsPlace(t *testing.T) {
	t.Parallel()
	r := crowded(t, "runs: 1, workers: 2", "")
	list := restored(t, 2)
	*list[0].Spec.Parallelism = 3
	must.Succeed(t, apiserver.Client(t).Update(t.Context(), list[0]))
	r.mustPass(list[1])
	if list[1].Status.Phase != v1beta1.PhaseQueued {
		t.Fatalf("the second is %s before the first was looked at", list[1].Status.Phase)
	}
	r.mustPass(list[0])
	c := meta.FindStatusCondition(list[0].Status.Conditions, v1beta1.ConditionAccepted)
	if want := fmt.Sprintf("spec.parallelism: 3 workers are more than a LoadTest of namespace %s may have; at most 2 are accepted.", list[0].Namespace); c.Reason != v1beta1.ReasonLimitExceeded || c.Message != want {
		t.Errorf("the first is refused with %s: %s", c.Reason, c.Message)
	}
	r.mustPass(list[1])
	same.As(t, "phase of the second", v1beta1.PhaseStarting, list[1].Status.Phase)
}

// A run that waits, and needs more workers than one may have since a limit was lowered, keeps nothing free until
// it could begin: it is refused at once.
func TestRunThatWaitsAboveALoweredLimitIsRefused(t *testing.T) {
	t.Parallel()
	r := crowded(t, "runs: 1", "")
	list := restored(t, 3)
	for i, workers := range []int32{1, 3, 1} {
		change(t, list[i], func(s *v1beta1.LoadTestSpec) { s.Parallelism = &workers })
	}
	r.passes(list)
	same.As(t, "how many wait", 2, len(inPhase(list, v1beta1.PhaseQueued)))
	lowered := limitedTo("limits: {runs: 10000, workers: 100000, namespaces: [{workers: 2, workersAtOnce: 2}]}")
	r.Policy = func() *policy.Policy { return lowered }
	r.passes(list[1:2])
	if c := v1beta1.NotCarriedOut(list[1].Status.Conditions); c == nil || c.Reason != v1beta1.ReasonLimitExceeded {
		t.Errorf("the second is %s (%+v), want that it is refused", list[1].Status.Phase, c)
	}
	r.passes(list[2:])
	same.As(t, "phase of the third", v1beta1.PhaseStarting, list[2].Status.Phase)
}

// Priority is before age, and a run held by spec.suspend has no place.
func TestPriorityClassIsBeforeAge(t *testing.T) {
	t.Parallel()
	r := crowded(t, "runs: 1", "priorityClasses: [{name: gate, value: 9}]")
	list := restored(t, 3)
	for i, edit := range []func(*v1beta1.LoadTestSpec){
		func(s *v1beta1.LoadTestSpec) { s.Suspend = true }, func(*v1beta1.LoadTestSpec) {},
		func(s *v1beta1.LoadTestSpec) { s.Queue = &v1beta1.Queue{PriorityClass: "gate"} },
	} {
		edit(&list[i].Spec)
		must.Succeed(t, apiserver.Client(t).Update(t.Context(), list[i]))
	}
	r.passes(list)
	got := []v1beta1.Phase{list[0].Status.Phase, list[1].Status.Phase, list[2].Status.Phase}
	if want := "[Suspended Queued Starting]"; fmt.Sprint(got) != want {
		t.Errorf("the phases are %v, want %s", got, want)
	}
}
