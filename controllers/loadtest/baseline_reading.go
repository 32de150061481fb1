package loadtest

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
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
