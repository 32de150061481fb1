package loadtest

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/desired"
)

// CacheOptions keeps the cache small in a large cluster: only the Jobs and pods of
// LoadTests, and of all objects only what is read. Most of what there is are finished
// LoadTests, thousands of them, of up to 1.5 MB each, and anybody who may create LoadTests may
// create as many that wait.
func CacheOptions() (cache.Options, error) {
	ours, err := labels.Parse(desired.LabelRun)
	if err != nil {
		return cache.Options{}, fmt.Errorf("select our pods: %w", err)
	}
	return cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}:       {Label: ours, Transform: stripPod},
			&batchv1.Job{}:      {Label: ours, Transform: stripJob},
			&v1beta1.LoadTest{}: {Transform: stripLoadTest},

			&v1beta1.LoadTestSchedule{}: {Transform: stripSchedule},
		},
		NewInformer: newInformer,
	}, nil
}

// Watched are the kinds that the reconciler watches.
func Watched() []client.Object {
	return []client.Object{&v1beta1.LoadTest{}, &batchv1.Job{}, &corev1.Pod{}}
}

// newInformer reads LoadTests and their schedules in small pages where the API server does not
// stream them: a page of the default length, 500 objects, may be 750 MB.
func newInformer(lw toolscache.ListerWatcher, obj runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
	switch obj.(type) {
	case *v1beta1.LoadTest:
		lw = pages{lw, stripLoadTest}
	case *v1beta1.LoadTestSchedule:
		lw = pages{lw, stripSchedule}
	}
	return toolscache.NewSharedIndexInformer(lw, obj, resync, indexers)
}

// pageSize is how many objects are read at once: up to 30 MB.
const pageSize = 20

// pages lists in pages of pageSize, and strips each before the next is read.
type pages struct {
	toolscache.ListerWatcher
	strip toolscache.TransformFunc
}

var _ toolscache.ListerWatcherWithContext = pages{}

// ListWithContext lists a page. At version 0 the API server answers from memory, and
// does so in one piece. A list without a limit is one that must be in one piece.
func (p pages) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	if options.Limit > 0 {
		options.Limit = pageSize
		if options.ResourceVersion == "0" {
			options.ResourceVersion = ""
		}
	}
	list, err := toolscache.ToListerWithContext(p.ListerWatcher).ListWithContext(ctx, options)
	if err != nil {
		return nil, err
	}
	return list, meta.EachListItem(list, func(o runtime.Object) error {
		_, err := p.strip(o)
		return err
	})
}

// WatchWithContext watches; there is nothing to add to that.
func (p pages) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return toolscache.ToWatcherWithContext(p.ListerWatcher).WatchWithContext(ctx, options)
}
