package soak

import (
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/fault"
)

// Objects are LoadTests, and what was made for LoadTests.
type Objects struct {
	LoadTests  []v1beta1.LoadTest
	Jobs       []batchv1.Job
	Pods       []corev1.Pod
	ConfigMaps []corev1.ConfigMap
}

// Unfinished are the LoadTests that have not ended, be it that they are not finished or,
// with a time to live, not removed.
func (o Objects) Unfinished(now time.Time) (stuck []string) {
	for i := range o.LoadTests {
		if lt := &o.LoadTests[i]; !IsFinished(lt) || lt.Spec.TTLSecondsAfterFinished != nil {
			stuck = append(stuck, fmt.Sprintf("%s (%s): %s %s", lt.Name, lt.Annotations["load"], fault.At(&lt.Status, now), fault.Read(&lt.Status).Reason))
		}
	}
	return stuck
}

// Working are the workers that run. There is to be none when all LoadTests have ended.
func (o Objects) Working() (stuck []string) {
	for _, p := range o.Pods {
		if p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed {
			stuck = append(stuck, fmt.Sprintf("worker %s of a run that has ended is %s", p.Name, p.Status.Phase))
		}
	}
	return stuck
}

// Left are all of them. There is to be none when all LoadTests were deleted.
func (o Objects) Left() (left []string) {
	for _, lt := range o.LoadTests {
		left = append(left, "LoadTest "+lt.Name)
	}
	for _, j := range o.Jobs {
		left = append(left, "Job "+j.Name)
	}
	for _, p := range o.Pods {
		left = append(left, "Pod "+p.Name)
	}
	for _, m := range o.ConfigMaps {
		left = append(left, "ConfigMap "+m.Name)
	}
	slices.Sort(left)
	return left
}

// IsFinished says whether a run has ended.
func IsFinished(lt *v1beta1.LoadTest) bool {
	return meta.IsStatusConditionTrue(lt.Status.Conditions, v1beta1.ConditionFinished)
}
