package loadtest

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/desired"
	"github.com/loadtest-dev/loadtest-operator/controllers/lifecycle"
)

// CacheOptions keeps the cache small in a large cluster: only the pods of
// LoadTests; of Jobs, all of which are watched so that one that is in the way is
// seen, only what is looked at; of finished LoadTests, of which there may be
// thousands, all but the histograms.
func CacheOptions() (cache.Options, error) {
	ours, err := labels.Parse(desired.LabelRun)
	if err != nil {
		return cache.Options{}, fmt.Errorf("select our pods: %w", err)
	}
	return cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}:        {Label: ours},
			&batchv1.Job{}:       {Transform: stripJob},
			&v1alpha1.LoadTest{}: {Transform: stripLoadTest},
		},
	}, nil
}

// Watched are the kinds that the reconciler watches.
func Watched() []client.Object {
	return []client.Object{&v1alpha1.LoadTest{}, &batchv1.Job{}, &corev1.Pod{}}
}

func stripJob(o any) (any, error) {
	if job, ok := o.(*batchv1.Job); ok {
		job.ManagedFields = nil
		job.Spec = batchv1.JobSpec{}
	}
	return o, nil
}

// stripLoadTest drops fields that the operator never reads, nearly all of a result:
// a histogram has up to 12 KB. The steps of a finished run never change, so that
// no patch has them and what is stored stays whole.
func stripLoadTest(o any) (any, error) {
	lt, ok := o.(*v1alpha1.LoadTest)
	if !ok {
		return o, nil
	}
	lt.ManagedFields = nil
	if !lifecycle.Finished(lt) {
		return lt, nil
	}
	for i := range lt.Status.Steps {
		if result := lt.Status.Steps[i].Result; result != nil {
			result.Histogram = ""
		}
	}
	return lt, nil
}
