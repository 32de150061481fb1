package loadtest

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/desired"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/firstread"
)

// CacheOptions keeps the cache small in a large cluster: only the Jobs and pods of
// LoadTests, and of all objects only what is read. Most of what there is are finished
// LoadTests, thousands of them, of up to 1.5 MB each, and anybody who may create LoadTests may
// create as many that wait. The LoadTests that have begun are in the cache when it has synced, all
// others when the reading is complete; namespaces are those of the cache, none for all.
func CacheOptions(namespaces ...string) (cache.Options, *firstread.Reading, error) {
	ours, err := labels.Parse(desired.LabelRun)
	if err != nil {
		return cache.Options{}, nil, fmt.Errorf("select our pods: %w", err)
	}
	reading := firstread.New(len(namespaces))
	options := cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}:       {Label: ours, Transform: stripPod},
			&batchv1.Job{}:      {Label: ours, Transform: stripJob},
			&v1beta1.LoadTest{}: {Transform: stripLoadTest},

			&v1beta1.LoadTestSchedule{}: {Transform: stripSchedule},
		},
		NewInformer: informersOf(reading, firstread.New(len(namespaces))),
	}
	for _, name := range namespaces {
		if options.DefaultNamespaces == nil {
			options.DefaultNamespaces = map[string]cache.Config{}
		}
		options.DefaultNamespaces[name] = cache.Config{}
	}
	return options, reading, nil
}

// Watched are the kinds that the reconciler watches.
func Watched() []client.Object {
	return []client.Object{&v1beta1.LoadTest{}, &batchv1.Job{}, &corev1.Pod{}}
}

const (
	// begun selects the LoadTests whose workers this process may have to serve at once. The phase
	// is Finished, and the start time is set, in the same write as what lifecycle.Finished and
	// isToBegin read.
	begun = "status.startTime!=,status.phase!=" + string(v1beta1.PhaseFinished)
	// none selects no object: this is no name.
	none = "metadata.name=/"
)

// informersOf has LoadTests and their schedules read in small pages: a page of the default length,
// 500 objects, may be 750 MB. No schedule is needed at once.
func informersOf(loadTests, schedules *firstread.Reading) func(toolscache.ListerWatcher, runtime.Object, time.Duration, toolscache.Indexers) toolscache.SharedIndexInformer {
	return func(lw toolscache.ListerWatcher, obj runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
		switch obj.(type) {
		case *v1beta1.LoadTest:
			return loadTests.Informer(firstread.What{First: begun, Strip: stripLoadTest}, lw, obj, resync, indexers)
		case *v1beta1.LoadTestSchedule:
			return schedules.Informer(firstread.What{First: none, Strip: stripSchedule}, lw, obj, resync, indexers)
		}
		return toolscache.NewSharedIndexInformer(lw, obj, resync, indexers)
	}
}
