package loadtest

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/baseline"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/history"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
)

// uncachedPage is how many LoadTests are read at once past the cache: up to 15 MB.
const uncachedPage = 10

// readBaseline reads what the run is compared with.
func (p *pass) readBaseline(ctx context.Context) (err error) {
	b, reader := p.lt.Spec.Baseline, history.Reader{Cached: p.Client, Uncached: p.Uncached}
	if !p.Reading.Complete() {
		reader.Cached, reader.Page = p.Uncached, uncachedPage // the cache lacks most of them
	}
	switch {
	case b.Schedule != "":
		p.seen.Level, err = reader.Level(ctx, p.lt.Namespace, b.Schedule, &p.lt.Spec)
	case b.Selector != nil:
		p.seen.Baseline, err = reader.Last(ctx, p.lt.Namespace, baseline.Selector(b))
	default:
		p.seen.Baseline, err = p.named(ctx, types.NamespacedName{Namespace: p.lt.Namespace, Name: b.Name})
	}
	if err != nil {
		return fmt.Errorf("read spec.baseline: %w", err)
	}
	p.seen.BaselineAbsent = p.seen.Baseline == nil && p.seen.Level == nil
	return nil
}

// named is the LoadTest of a name, nil if there is none. The cache has no results of what has
// finished: it is read once more then, whole.
func (r *Reconciler) named(ctx context.Context, name types.NamespacedName) (*v1beta1.LoadTest, error) {
	found := &v1beta1.LoadTest{}
	err := r.Client.Get(ctx, name, found)
	if err == nil && lifecycle.Finished(found) || apierrors.IsNotFound(err) && !r.Reading.Complete() {
		found = &v1beta1.LoadTest{}
		err = r.Uncached.Get(ctx, name, found)
	}
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("get LoadTest %s: %w", name.Name, err)
	}
	return found, nil
}
