package loadtest

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/controllers/desired"
)

// CacheOptions keeps the cache small in a large cluster: only the pods of
// LoadTests, and of Jobs, all of which are watched so that one that is in the
// way is seen, only what is looked at.
func CacheOptions() (cache.Options, error) {
	ours, err := labels.Parse(desired.LabelRun)
	if err != nil {
		return cache.Options{}, fmt.Errorf("select our pods: %w", err)
	}
	return cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}:  {Label: ours},
			&batchv1.Job{}: {Transform: stripJob},
		},
	}, nil
}

func stripJob(o any) (any, error) {
	if job, ok := o.(*batchv1.Job); ok {
		job.ManagedFields = nil
		job.Spec = batchv1.JobSpec{}
	}
	return o, nil
}
