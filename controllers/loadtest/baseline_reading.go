package loadtest

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/baseline"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/history"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
)

// uncachedPage is how many LoadTests are read at once past the cache: up to 15 MB.
const uncachedPage = 10

// readBaseline reads what the run is compared with.
func (p *pass) readBaseline(ctx context.Context) (err error) {
	if name := p.lt.Spec.Baseline.Schedule; name != "" {
		reader := history.Reader{Cached: p.Client, Uncached: p.Uncached}
		if !p.Reading.Complete() {
			reader.Cached, reader.Page = p.Uncached, uncachedPage // the cache lacks most of them
		}
		p.seen.Level, err = reader.Level(ctx, p.lt.Namespace, name, &p.lt.Spec)
		return err
	}
	p.seen.Baseline, err = p.baseline(ctx, p.lt)
	return err
}

// baseline is the LoadTest of spec.baseline, nil if there is none. The cache has no
// results of what has finished: it is read once more then, whole.
func (r *Reconciler) baseline(ctx context.Context, lt *v1beta1.LoadTest) (*v1beta1.LoadTest, error) {
	name, found := types.NamespacedName{Namespace: lt.Namespace, Name: lt.Spec.Baseline.Name}, &v1beta1.LoadTest{}
	if name.Name == "" {
		last, err := r.lastPassed(ctx, lt)
		if last == nil || err != nil {
			return nil, err
		}
		name.Name = last.Name
	}
	err := r.Client.Get(ctx, name, found)
	if err == nil && lifecycle.Finished(found) || apierrors.IsNotFound(err) && !r.Reading.Complete() {
		found = &v1beta1.LoadTest{}
		err = r.Uncached.Get(ctx, name, found)
	}
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("get LoadTest of spec.baseline: %w", err)
	}
	return found, nil
}

// lastPassed is the LoadTest of spec.baseline.selector that passed last, without its result; nil:
// none has. The cache has no labels of what has finished: the API server selects, and sends the
// metadata.
func (r *Reconciler) lastPassed(ctx context.Context, lt *v1beta1.LoadTest) (last *v1beta1.LoadTest, err error) {
	const page = 100 // metadata may have annotations of 256 KiB
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(v1beta1.GroupVersion.WithKind("LoadTestList"))
	for {
		err := r.Uncached.List(ctx, list, client.InNamespace(lt.Namespace), client.MatchingLabelsSelector{Selector: baseline.Selector(lt.Spec.Baseline)},
			client.MatchingFields{"status.verdict": string(v1beta1.VerdictPassed)}, client.Limit(page), client.Continue(list.Continue))
		if err != nil {
			return nil, fmt.Errorf("list LoadTests of spec.baseline.selector: %w", err)
		}
		for i := range list.Items {
			passed, err := r.passed(ctx, client.ObjectKeyFromObject(&list.Items[i]))
			if err != nil {
				return nil, err
			}
			if passed != nil && (last == nil || baseline.IsLater(passed, last)) {
				last = passed
			}
		}
		if list.Continue == "" {
			return last, nil
		}
	}
}

// passed is a LoadTest that the API server has as passed; nil: it is gone, or going. The cache may
// not know yet that it has.
func (r *Reconciler) passed(ctx context.Context, key types.NamespacedName) (*v1beta1.LoadTest, error) {
	found := &v1beta1.LoadTest{}
	err := r.Client.Get(ctx, key, found)
	if apierrors.IsNotFound(err) || err == nil && found.Status.Verdict != v1beta1.VerdictPassed {
		found = &v1beta1.LoadTest{}
		err = r.Uncached.Get(ctx, key, found)
	}
	switch {
	case apierrors.IsNotFound(err), err == nil && (found.Status.Verdict != v1beta1.VerdictPassed || found.DeletionTimestamp != nil):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("get LoadTest of spec.baseline.selector: %w", err)
	}
	return found, nil
}
