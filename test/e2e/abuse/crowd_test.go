//go:build e2e

package abuse

import (
	"context"
	"fmt"
	"os"
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
	return []abuse{{"1,000 LoadTests that may begin in the same moment", operator, "1 of 1 runs of namespace", beginAtOnce}}
}

const (
	// crowd is how many LoadTests there are, in a namespace that may have one run at once by
	// operator/values.yaml.
	crowd = 1000
	// moreInACrowd is what the operator may hold more: 50 KB for each of them, in its cache
	// and on the way there.
	moreInACrowd = 100e6
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
	tn.createCrowd(t)
	tn.awaitCrowd(t, func(lt *v1beta1.LoadTest) bool { return lt.Status.Phase == v1beta1.PhaseSuspended })
	if began, _ := tn.begun(t); began > 0 {
		return succeeded("%d began while runs were stopped", began)
	}
	cluster.MustCommand(t, "kubectl", "loadtest", "resume", "--all", "-n", tn.namespace)
	harm := b.suffered(t, b.begin(t, "turn"))
	tn.awaitCrowd(t, func(lt *v1beta1.LoadTest) bool {
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

func (tn *tenant) createCrowd(t *testing.T) {
	t.Helper()
	var all errgroup.Group
	all.SetLimit(20)
	for i := range crowd {
		lt := tn.loadTest(t, specWith("steps: [{name: pause 1h, pause: 1h}, {name: 1/s, rate: 1, duration: 1s}]"))
		lt.SetName(fmt.Sprintf("crowd-%d", i))
		all.Go(func() error { return tn.editor.Create(t.Context(), lt) })
	}
	must.Succeed(t, all.Wait())
}

// awaitCrowd reads all LoadTests until a condition holds for each.
func (tn *tenant) awaitCrowd(t *testing.T, holds func(*v1beta1.LoadTest) bool) {
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
		if missing > 0 || len(all) != crowd {
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
