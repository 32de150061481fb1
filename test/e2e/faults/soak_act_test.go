//go:build e2e

package faults

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/soak"
)

// act carries out what a user does. It tries again while the API server is away.
func (s *soaker) act(ctx context.Context, a soak.Action) error {
	err := cluster.Try(ctx, cluster.Patience, func(ctx context.Context) error {
		if a.What == soak.Create {
			return s.createNext(ctx, a)
		}
		all, err := s.list(ctx)
		if err != nil {
			return err
		}
		return s.change(ctx, a, all)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", a.What, err)
	}
	return nil
}

// createNext creates one more LoadTest, in the place of the oldest one that runs if
// there are too many.
func (s *soaker) createNext(ctx context.Context, a soak.Action) error {
	all, err := s.list(ctx)
	if err != nil {
		return err
	}
	running := slices.DeleteFunc(all, func(lt v1beta1.LoadTest) bool { return soak.IsFinished(&lt) })
	if len(running) >= alongside {
		oldest := running[len(running)-1]
		if err := s.delete(ctx, &oldest); err != nil {
			return err
		}
	}
	return s.create(ctx, fmt.Sprintf("soak-%03d", s.report.Runs+1), a.Load, a.Seconds)
}

// create makes a LoadTest whose requests are counted under a name that no other has.
func (s *soaker) create(ctx context.Context, name, load string, seconds int) error {
	path := "run-" + strconv.Itoa(s.report.Runs+1)
	spec, err := soak.Spec(load, path, seconds)
	if err != nil {
		return err
	}
	lt := &v1beta1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: s.target.Namespace, Name: name}, Spec: spec}
	lt.Annotations = map[string]string{"load": load, "path": path}
	if err := cluster.API.Create(ctx, lt); err != nil && !apierrors.IsAlreadyExists(err) { // by a try that was answered too late
		return fmt.Errorf("create %s: %w", name, err)
	}
	s.report.Runs++
	return nil
}

// list returns the LoadTests, the newest first.
func (s *soaker) list(ctx context.Context) ([]v1beta1.LoadTest, error) {
	var all v1beta1.LoadTestList
	if err := cluster.API.List(ctx, &all, client.InNamespace(s.target.Namespace)); err != nil {
		return nil, err
	}
	slices.SortFunc(all.Items, func(a, b v1beta1.LoadTest) int {
		if c := b.CreationTimestamp.Compare(a.CreationTimestamp.Time); c != 0 {
			return c
		}
		return strings.Compare(b.Name, a.Name)
	})
	return all.Items, nil
}

// change does something to one of the LoadTests, or to what was made for it.
func (s *soaker) change(ctx context.Context, a soak.Action, all []v1beta1.LoadTest) error {
	suitable := all[:min(len(all), freshest)]
	switch a.What {
	case soak.Delete:
		suitable = all
	case soak.Resume:
		suitable = slices.DeleteFunc(slices.Clone(all), func(lt v1beta1.LoadTest) bool { return !lt.Spec.Suspend })
	}
	if len(suitable) == 0 {
		return nil
	}
	lt := &suitable[a.Pick%len(suitable)]
	switch a.What {
	case soak.Suspend:
		return s.patch(ctx, lt, `{"spec":{"suspend":true}}`)
	case soak.Resume:
		return s.patch(ctx, lt, `{"spec":{"suspend":false}}`)
	case soak.Terminate:
		return s.patch(ctx, lt, `{"spec":{"terminate":true}}`)
	case soak.Annotate:
		return s.patch(ctx, lt, fmt.Sprintf(`{"metadata":{"annotations":{"soak":"%d"}}}`, a.Pick))
	case soak.Delete:
		return s.delete(ctx, lt)
	case soak.Recreate:
		if err := s.delete(ctx, lt); err != nil {
			return err
		}
		return s.create(ctx, lt.Name, a.Load, a.Seconds)
	case soak.DeleteJob:
		return s.deleteFirst(ctx, lt, &batchv1.JobList{})
	case soak.DeletePod:
		return s.deleteFirst(ctx, lt, &corev1.PodList{})
	case soak.DeleteConfigMap:
		return s.deleteFirst(ctx, lt, &corev1.ConfigMapList{})
	}
	return fmt.Errorf("%s is nothing that a user does", a.What)
}

func (s *soaker) patch(ctx context.Context, lt *v1beta1.LoadTest, patch string) error {
	return client.IgnoreNotFound(cluster.API.Patch(ctx, lt, client.RawPatch("application/merge-patch+json", []byte(patch))))
}

func (s *soaker) delete(ctx context.Context, object client.Object) error {
	return client.IgnoreNotFound(cluster.API.Delete(ctx, object, client.PropagationPolicy(metav1.DeletePropagationBackground)))
}

// deleteFirst deletes the first object of a kind that was made for a LoadTest, if there
// is one.
func (s *soaker) deleteFirst(ctx context.Context, lt *v1beta1.LoadTest, list client.ObjectList) error {
	err := cluster.API.List(ctx, list, client.InNamespace(lt.Namespace), client.MatchingLabels{cluster.RunLabel: string(lt.UID)})
	if err != nil {
		return err
	}
	objects, err := meta.ExtractList(list)
	if err != nil || len(objects) == 0 {
		return err
	}
	return s.delete(ctx, objects[0].(client.Object))
}
