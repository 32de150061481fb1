package loadtestschedule

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtestschedule/decision"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

// observe reads everything that a decision needs beside the schedule.
func (r *Reconciler) observe(ctx context.Context, s *v1beta1.LoadTestSchedule, note *note, now time.Time) (decision.Observed, error) {
	seen := decision.Observed{Refused: note.refused, Hold: r.Policy().For(s.Namespace).Hold(now)}
	var err error
	if seen.Runs, err = r.runs(ctx, s); err != nil {
		return seen, err
	}
	seen.Created = note.createdBeside(seen.Runs, now)
	seen.Measured = map[string]*decision.Measured{}
	for _, name := range decision.Unread(s, seen.Runs) {
		if seen.Measured[name], err = r.measured(ctx, s.Namespace, name); err != nil {
			return seen, err
		}
	}
	if s.Spec.OnRollout != nil {
		seen.Rollout, seen.Problem, err = r.rollout(ctx, s)
	}
	return seen, err
}

// runs are the LoadTests that the schedule controls.
func (r *Reconciler) runs(ctx context.Context, s *v1beta1.LoadTestSchedule) ([]decision.LoadTest, error) {
	options := []client.ListOption{client.InNamespace(s.Namespace), client.UnsafeDisableDeepCopy}
	if r.listOwned != nil {
		options = append(options, r.listOwned(s.UID))
	}
	var list v1beta1.LoadTestList
	if err := r.Client.List(ctx, &list, options...); err != nil {
		return nil, fmt.Errorf("list LoadTests: %w", err)
	}
	var runs []decision.LoadTest
	wanted := r.Policy().Results()
	for i := range list.Items {
		if lt := &list.Items[i]; ownerOf(lt) == s.UID {
			runs = append(runs, runOf(lt, wanted))
		}
	}
	return runs, nil
}

// ownerOf is the UID of the schedule that controls an object; empty: none does.
func ownerOf(o client.Object) types.UID {
	if c := metav1.GetControllerOfNoCopy(o); c != nil && c.Kind == "LoadTestSchedule" {
		return c.UID
	}
	return ""
}

func runOf(lt *v1beta1.LoadTest, wanted policy.Results) decision.LoadTest {
	run := decision.LoadTest{
		Namespace: lt.Namespace, Name: lt.Name, UID: string(lt.UID), Created: lt.CreationTimestamp.Time, Deleting: !lt.DeletionTimestamp.IsZero(),
		Finished: lifecycle.Finished(lt), Verdict: lt.Status.Verdict, Kept: lifecycle.WaitedFor(lt, wanted),
	}
	if run.Finished && lt.Status.CompletionTime != nil {
		run.Completed = lt.Status.CompletionTime.Time
	}
	return run
}

// measured is what a LoadTest measured that has finished, of which the cache has no results; nil: it
// is gone.
func (r *Reconciler) measured(ctx context.Context, namespace, name string) (*decision.Measured, error) {
	lt := &v1beta1.LoadTest{}
	if err := r.Uncached.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, lt); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return decision.Measure(lt), nil
}
