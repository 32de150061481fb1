//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/fault"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/soak"
)

// runLabel has the UID of the LoadTest for which an object was made.
const runLabel = "loadtest.dev/run"

func isFinished(lt *v1alpha1.LoadTest) bool {
	return meta.IsStatusConditionTrue(lt.Status.Conditions, v1alpha1.ConditionFinished)
}

// settle waits until all LoadTests have ended, compares each with what the target
// counted, removes them, and waits until nothing of them is left.
func (s *soaker) settle(ctx context.Context) {
	s.check(s.resumeAll(ctx))
	if err := retry(ctx, settleLatest, s.allEnded); err != nil {
		s.report.Stuck = append(s.report.Stuck, s.unfinished(ctx)...)
	}
	if err := retry(ctx, leftLatest, s.noWorkerRuns); err != nil {
		s.report.Stuck = append(s.report.Stuck, err.Error())
	}
	s.check(s.judgeAll(ctx))
	everything := []client.DeleteAllOfOption{client.InNamespace(s.target.namespace), client.PropagationPolicy(metav1.DeletePropagationBackground)}
	s.check(cluster.DeleteAllOf(ctx, &v1alpha1.LoadTest{}, everything...))
	if err := retry(ctx, settleLatest, func(ctx context.Context) error {
		left, err := s.left(ctx)
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("%d objects are left", len(left))
		}
		return err
	}); err != nil {
		left, failed := s.left(ctx)
		s.check(failed)
		s.report.Leaked = append(s.report.Leaked, left...)
	}
}

func (s *soaker) resumeAll(ctx context.Context) error {
	all, err := s.list(ctx)
	for i := range all {
		if all[i].Spec.Suspend {
			err = errors.Join(err, s.patch(ctx, &all[i], `{"spec":{"suspend":false}}`))
		}
	}
	return err
}

// allEnded says which LoadTests have not, be it that they are finished or, with a time to
// live, removed.
func (s *soaker) allEnded(ctx context.Context) error {
	all, err := s.list(ctx)
	if err != nil {
		return err
	}
	var not []string
	for i := range all {
		if !isFinished(&all[i]) || all[i].Spec.TTLSecondsAfterFinished != nil {
			not = append(not, all[i].Name)
		}
	}
	if len(not) > 0 {
		return errors.New(strings.Join(not, ", "))
	}
	return nil
}

func (s *soaker) unfinished(ctx context.Context) (stuck []string) {
	all, err := s.list(ctx)
	s.check(err)
	for i := range all {
		if lt := &all[i]; !isFinished(lt) || lt.Spec.TTLSecondsAfterFinished != nil {
			stuck = append(stuck, fmt.Sprintf("%s (%s): %s %s", lt.Name, lt.Annotations["load"], fault.At(&lt.Status, time.Now()), fault.Read(&lt.Status).Reason))
		}
	}
	return stuck
}

// noWorkerRuns names a worker that runs, though all LoadTests have ended.
func (s *soaker) noWorkerRuns(ctx context.Context) error {
	var pods corev1.PodList
	if err := cluster.List(ctx, &pods, client.InNamespace(s.target.namespace), client.HasLabels{runLabel}); err != nil {
		return err
	}
	for _, p := range pods.Items {
		if p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed {
			return fmt.Errorf("worker %s of a run that has ended is %s", p.Name, p.Status.Phase)
		}
	}
	return nil
}

// judgeAll compares each LoadTest that has finished with what the target counted.
func (s *soaker) judgeAll(ctx context.Context) error {
	all, err := s.list(ctx)
	if err != nil {
		return err
	}
	var counts map[string]counted
	if err := retry(ctx, waitTimeout, func(ctx context.Context) (err error) {
		counts, err = s.target.read(ctx)
		return err
	}); err != nil {
		return err
	}
	verdicts := map[string]int{}
	for i := range all {
		lt := &all[i]
		if !isFinished(lt) {
			continue
		}
		o := fault.Read(&lt.Status)
		verdicts[o.Verdict]++
		at := counts[lt.Annotations["path"]]
		// What is planned of a search is known to its steps alone.
		o.Planned, o.Received, o.Wrong = o.Due, at.Received, at.Wrong
		for _, p := range soak.Judge(lt.Annotations["load"], o) {
			s.report.Wrong = append(s.report.Wrong, fmt.Sprintf("%s (%s), %s: %s", lt.Name, lt.Annotations["load"], o.Verdict, p))
		}
	}
	s.say("judged: %v", verdicts)
	return nil
}

// left names the objects that were made for LoadTests, all of which are removed.
func (s *soaker) left(ctx context.Context) (left []string, err error) {
	for _, list := range []client.ObjectList{&v1alpha1.LoadTestList{}, &batchv1.JobList{}, &corev1.PodList{}, &corev1.ConfigMapList{}} {
		options := []client.ListOption{client.InNamespace(s.target.namespace)}
		if _, own := list.(*v1alpha1.LoadTestList); !own {
			options = append(options, client.HasLabels{runLabel})
		}
		if err := cluster.List(ctx, list, options...); err != nil {
			return nil, err
		}
		objects, err := meta.ExtractList(list)
		if err != nil {
			return nil, err
		}
		for _, o := range objects {
			left = append(left, fmt.Sprintf("%T %s", o, o.(client.Object).GetName()))
		}
	}
	slices.Sort(left)
	return left, nil
}
