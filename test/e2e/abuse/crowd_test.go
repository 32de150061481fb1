//go:build e2e

package abuse

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// crowdAbuses want more than their turn, which takes minutes.
func crowdAbuses() []abuse {
	if os.Getenv("FULL") == "" {
		return nil
	}
	return []abuse{
		{"1,000 LoadTests that may begin in the same moment", operator, "1 of 1 runs of namespace", beginAtOnce},
		{"200 LoadTests that wait, and as many schedules, of a megabyte each", operator, "1 of 1 runs of namespace", fillMemory},
	}
}

const (
	// crowd is how many LoadTests there are, in a namespace that may have one run at once by
	// operator/values.yaml.
	crowd = 1000
	// moreInACrowd is what the operator may hold more: 50 KB for each of them, in its cache
	// and on the way there. Of the large ones, it is a quarter of what they are.
	moreInACrowd = 100e6
	// large is how many are of a megabyte: the store has room for little more.
	large = 200
	// oneAtATime keeps a run going while the others wait.
	oneAtATime = "steps: [{name: pause 1h, pause: 1h}, {name: 1/s, rate: 1, duration: 1s}]"
)

// beginAtOnce creates LoadTests while runs of their namespace are stopped, and takes the stop
// back: all may begin, and one does. Another team's run is created in that moment.
func beginAtOnce(t *testing.T, _ *people) attempt {
	tn, b := newTenantNamed(t, "crowd-"), newOthersRun(t)
	leading := cluster.NewScraper(t, tn.namespace)
	before := healthOf(t, leading)
	cluster.MustCommand(t, "kubectl", "loadtest", "stop", "--all", "-n", tn.namespace, "--reason", "a crowd comes", "--yes")
	t.Cleanup(func() {
		_, _ = cluster.Command(context.Background(), "kubectl", "loadtest", "resume", "--all", "-n", tn.namespace)
	})
	tn.createCrowd(t, crowd, specWith(oneAtATime))
	tn.awaitCrowd(t, crowd, func(lt *v1beta1.LoadTest) bool { return lt.Status.Phase == v1beta1.PhaseSuspended })
	if began, _ := tn.begun(t); began > 0 {
		return succeeded("%d began while runs were stopped", began)
	}
	cluster.MustCommand(t, "kubectl", "loadtest", "resume", "--all", "-n", tn.namespace)
	harm := b.suffered(t, b.begin(t, "turn"))
	tn.awaitCrowd(t, crowd, func(lt *v1beta1.LoadTest) bool {
		return lt.Status.StartTime != nil || lt.Status.Phase == v1beta1.PhaseQueued
	})
	began, waits := tn.begun(t)
	switch {
	case harm != "":
		return succeeded("%s", harm)
	case began != 1:
		return succeeded("%d began", began)
	}
	if harm := healthOf(t, leading).since(before, moreInACrowd); harm != "" {
		return succeeded("%s", harm)
	}
	tn.removeCrowd(t)
	return refused(operator, waits)
}

// fillMemory creates what each replica of the operator would have in its memory, if it kept the
// whole of it.
func fillMemory(t *testing.T, _ *people) attempt {
	tn, b := newTenantNamed(t, "crowd-"), newOthersRun(t)
	leading := cluster.NewScraper(t, tn.namespace)
	before := healthOf(t, leading)
	requests, body := "", strings.Repeat("x", 62_500)
	for i := range 16 {
		requests += fmt.Sprintf("{name: r%d, http: {method: POST, body: %s}}, ", i, body)
	}
	spec := specWith(oneAtATime + "\nrequests: [" + requests + "]")
	tn.createCrowd(t, large, spec)
	var all errgroup.Group
	all.SetLimit(20)
	for range large {
		s := tn.scheduleObject(t, spec, "suspend: true")
		all.Go(func() error { return tn.editor.Create(t.Context(), s) })
	}
	must.Succeed(t, all.Wait())
	tn.awaitCrowd(t, large, func(lt *v1beta1.LoadTest) bool {
		return lt.Status.StartTime != nil || lt.Status.Phase == v1beta1.PhaseQueued
	})
	harm := b.suffered(t, b.begin(t, "beside"))
	after := healthOf(t, leading)
	fmt.Printf("crowd of large ones: the leader had %.0f MB, and has %.0f\n", before.values[resident]/1e6, after.values[resident]/1e6)
	if harm = cmp.Or(harm, after.since(before, moreInACrowd)); harm != "" {
		return succeeded("%s", harm)
	}
	_, waits := tn.begun(t)
	must.Succeed(t, tn.editor.DeleteAllOf(t.Context(), &v1beta1.LoadTestSchedule{}, client.InNamespace(tn.namespace)))
	tn.removeCrowd(t)
	return refused(operator, waits)
}

// createCrowd creates so many LoadTests of a spec.
func (tn *tenant) createCrowd(t *testing.T, n int, spec string) {
	t.Helper()
	var all errgroup.Group
	all.SetLimit(20)
	for i := range n {
		lt := tn.loadTest(t, spec)
		lt.SetName(fmt.Sprintf("crowd-%d", i))
		all.Go(func() error { return tn.editor.Create(t.Context(), lt) })
	}
	must.Succeed(t, all.Wait())
}

// awaitCrowd reads all LoadTests until there are so many, and a condition holds for each.
func (tn *tenant) awaitCrowd(t *testing.T, n int, holds func(*v1beta1.LoadTest) bool) {
	t.Helper()
	cluster.Soon(t, func(ctx context.Context) error {
		all, err := tn.listCrowd(ctx)
		if err != nil {
			return err
		}
		phases, missing := map[v1beta1.Phase]int{}, 0
		for i := range all {
			if phases[all[i].Status.Phase]++; !holds(&all[i]) {
				missing++
			}
		}
		if missing > 0 || len(all) != n {
			return fmt.Errorf("%d of %d are not there yet: %v", missing, len(all), phases)
		}
		return nil
	})
}

func (tn *tenant) listCrowd(ctx context.Context) ([]v1beta1.LoadTest, error) {
	var all v1beta1.LoadTestList
	err := cluster.API.List(ctx, &all, client.InNamespace(tn.namespace))
	return all.Items, err
}

// begun is how many have begun, by their statuses and by their Jobs, of which the larger
// counts, and for what the last of the others waits. None of them ends by itself.
func (tn *tenant) begun(t *testing.T) (began int, waits string) {
	t.Helper()
	all, err := tn.listCrowd(t.Context())
	must.Succeed(t, err)
	for i := range all {
		if lt := &all[i]; lt.Status.StartTime != nil {
			began++
		} else if queued := cluster.Condition(lt, v1beta1.ConditionQueued); queued.Status == metav1.ConditionTrue {
			waits = queued.Message
		}
	}
	var jobs batchv1.JobList
	must.Succeed(t, cluster.API.List(t.Context(), &jobs, client.InNamespace(tn.namespace)))
	return max(began, len(jobs.Items)), waits
}

// removeCrowd deletes all LoadTests, and waits until nothing of them is left.
func (tn *tenant) removeCrowd(t *testing.T) {
	t.Helper()
	err := tn.editor.DeleteAllOf(t.Context(), &v1beta1.LoadTest{}, client.InNamespace(tn.namespace), client.PropagationPolicy(metav1.DeletePropagationBackground))
	must.Succeed(t, err)
	cluster.Soon(t, func(ctx context.Context) error {
		all, err := tn.listCrowd(ctx)
		if err != nil {
			return err
		}
		var jobs batchv1.JobList
		if err := cluster.API.List(ctx, &jobs, client.InNamespace(tn.namespace)); err != nil {
			return err
		}
		if len(all)+len(jobs.Items) > 0 {
			return fmt.Errorf("%d LoadTests and %d Jobs are left", len(all), len(jobs.Items))
		}
		return nil
	})
}
