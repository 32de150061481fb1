package history

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/baseline"
)

// Reader reads LoadTests.
type Reader struct {
	// Cached lists them; it need not have their results.
	Cached client.Reader
	// Uncached gets one whole.
	Uncached client.Reader
	// Page is how many are listed at a time; 0: all, as a cache has to.
	Page int64
}

// passed is a LoadTest that passed.
type passed struct {
	name      string
	uid       types.UID
	completed metav1.Time
}

// Level is what the runs of a schedule measured that passed, the newest baseline.MostRuns of them,
// as far as a run of this spec is compared with it. A schedule that does not exist has none.
func (r Reader) Level(ctx context.Context, namespace, schedule string, spec *v1beta1.LoadTestSpec) (*baseline.Level, error) {
	found, err := r.passed(ctx, namespace, schedule)
	if err != nil {
		return nil, err
	}
	level := &baseline.Level{Schedule: schedule}
	for _, run := range found {
		lt := &v1beta1.LoadTest{}
		err := r.Uncached.Get(ctx, types.NamespacedName{Namespace: namespace, Name: run.name}, lt)
		switch {
		case apierrors.IsNotFound(err):
			continue // it was deleted a moment ago
		case err != nil:
			return nil, fmt.Errorf("get LoadTest of schedule %s: %w", schedule, err)
		case lt.UID == run.uid:
			level.Runs = append(level.Runs, baseline.Read(spec, lt))
		}
	}
	return level, nil
}

// passed are the newest LoadTests of a schedule that passed, the oldest first.
func (r Reader) passed(ctx context.Context, namespace, schedule string) ([]passed, error) {
	var found []passed
	for next := ""; ; {
		var list v1beta1.LoadTestList
		options := []client.ListOption{client.InNamespace(namespace), client.UnsafeDisableDeepCopy}
		if r.Page > 0 {
			options = append(options, client.Limit(r.Page), client.Continue(next))
		}
		if err := r.Cached.List(ctx, &list, options...); err != nil {
			return nil, fmt.Errorf("list the LoadTests of schedule %s: %w", schedule, err)
		}
		for i := range list.Items {
			if lt := &list.Items[i]; hasPassed(lt, schedule) {
				found = append(found, passed{lt.Name, lt.UID, *lt.Status.CompletionTime})
			}
		}
		if next = list.Continue; next == "" || r.Page == 0 { // a cache may say that it has no pages by a token
			break
		}
	}
	slices.SortFunc(found, func(a, b passed) int {
		return cmp.Or(a.completed.Compare(b.completed.Time), cmp.Compare(a.name, b.name))
	})
	return found[max(0, len(found)-baseline.MostRuns):], nil
}

// hasPassed says whether a LoadTest is one of a schedule that passed.
func hasPassed(lt *v1beta1.LoadTest, schedule string) bool {
	owner := metav1.GetControllerOfNoCopy(lt)
	return owner != nil && owner.Kind == "LoadTestSchedule" && owner.Name == schedule && isOurs(owner.APIVersion) &&
		lt.Status.Verdict == v1beta1.VerdictPassed && lt.Status.CompletionTime != nil && lt.DeletionTimestamp.IsZero()
}

func isOurs(apiVersion string) bool {
	group, _, _ := strings.Cut(apiVersion, "/")
	return group == v1beta1.GroupVersion.Group
}
