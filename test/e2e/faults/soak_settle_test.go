//go:build e2e

package faults

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/fault"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/soak"
)

// settle waits until all LoadTests have ended, compares each with what the target
// counted, removes them, and waits until nothing of them is left.
func (s *soaker) settle(ctx context.Context) {
	s.check(s.resumeAll(ctx))
	s.report.Stuck = append(s.report.Stuck, s.awaitNone(ctx, settleLatest, func(o soak.Objects) []string { return o.Unfinished(time.Now()) })...)
	s.report.Stuck = append(s.report.Stuck, s.awaitNone(ctx, leftLatest, soak.Objects.Working)...)
	s.check(s.judgeAll(ctx))
	everything := []client.DeleteAllOfOption{client.InNamespace(s.target.Namespace), client.PropagationPolicy(metav1.DeletePropagationBackground)}
	s.check(cluster.API.DeleteAllOf(ctx, &v1beta1.LoadTest{}, everything...))
	s.report.Leaked = append(s.report.Leaked, s.awaitNone(ctx, settleLatest, soak.Objects.Left)...)
}

// awaitNone waits until there is nothing to find, and returns what is found after the limit.
func (s *soaker) awaitNone(ctx context.Context, limit time.Duration, find func(soak.Objects) []string) (found []string) {
	var problem error
	_ = cluster.Try(ctx, limit, func(ctx context.Context) error {
		var objects soak.Objects
		if objects, problem = s.objects(ctx); problem != nil {
			return problem
		}
		if found = find(objects); len(found) > 0 {
			return errors.New(strings.Join(found, ", "))
		}
		return nil
	})
	s.check(problem)
	return found
}

// objects are those that there are now.
func (s *soaker) objects(ctx context.Context) (o soak.Objects, err error) {
	var jobs batchv1.JobList
	var pods corev1.PodList
	var maps corev1.ConfigMapList
	for _, list := range []client.ObjectList{&jobs, &pods, &maps} {
		err = errors.Join(err, cluster.API.List(ctx, list, client.InNamespace(s.target.Namespace), client.HasLabels{cluster.RunLabel}))
	}
	o = soak.Objects{Jobs: jobs.Items, Pods: pods.Items, ConfigMaps: maps.Items}
	all, failed := s.list(ctx)
	o.LoadTests = all
	return o, errors.Join(err, failed)
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

// judgeAll compares each LoadTest that has finished with what the target counted.
func (s *soaker) judgeAll(ctx context.Context) error {
	all, err := s.list(ctx)
	if err != nil {
		return err
	}
	var counts map[string]cluster.Counted
	if err := cluster.Try(ctx, cluster.Patience, func(ctx context.Context) (err error) {
		counts, err = s.target.Read(ctx)
		return err
	}); err != nil {
		return err
	}
	verdicts := map[string]int{}
	for i := range all {
		lt := &all[i]
		if !soak.IsFinished(lt) {
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
