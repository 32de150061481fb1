package identity

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator"
)

// errNotFound is a pod or a Job that is not in the cache. It may be there in a moment:
// the kubelet can have a pod before the cache does.
var errNotFound = errors.New("not found")

// workerOf follows the controllers of a pod up to its LoadTest. Labels, which anyone
// who may create pods can set, are not enough for anything.
//
// A pod that is being deleted is still its worker until it is gone: it is given time
// to end in which it hands over what it measured, and may have to connect again for
// it. A Job or a LoadTest that is being deleted has no workers any more.
func (a *Authenticator) workerOf(ctx context.Context, ref podRef) (coordinator.Identity, error) {
	pod := &corev1.Pod{}
	if err := a.get(ctx, ref.namespace, ref.name, pod); err != nil {
		return coordinator.Identity{}, err
	}
	if string(pod.UID) != ref.uid {
		return coordinator.Identity{}, refuse("pod %s/%s was replaced", ref.namespace, ref.name)
	}
	job, err := a.jobOf(ctx, pod)
	if err != nil {
		return coordinator.Identity{}, err
	}
	number, err := completionIndex(pod, job.Name)
	if err != nil {
		return coordinator.Identity{}, err
	}
	lt, err := a.loadTestOf(ctx, job)
	if err != nil {
		return coordinator.Identity{}, err
	}
	return coordinator.Identity{
		Run: coordinator.RunID(lt.UID), Worker: number,
		Namespace: pod.Namespace, Pod: pod.Name, PodUID: string(pod.UID), Node: pod.Spec.NodeName,
		Created: pod.CreationTimestamp.Time,
	}, nil
}

func (a *Authenticator) jobOf(ctx context.Context, pod *corev1.Pod) (*batchv1.Job, error) {
	ref, ok := controllerOf(pod, batchv1.SchemeGroupVersion.WithKind("Job"))
	if !ok {
		return nil, refuse("pod %s/%s does not belong to a Job", pod.Namespace, pod.Name)
	}
	job := &batchv1.Job{}
	if err := a.get(ctx, pod.Namespace, ref.Name, job); err != nil {
		return nil, err
	}
	switch {
	case job.UID != ref.UID:
		return nil, refuse("the Job of pod %s/%s was replaced", pod.Namespace, pod.Name)
	case job.DeletionTimestamp != nil:
		return nil, refuse("the Job of pod %s/%s is being deleted", pod.Namespace, pod.Name)
	}
	return job, nil
}

// loadTestOf reads the LoadTest that a Job names as its controller: the author of an
// owner reference may write any UID into it. Only what has been read counts. The
// operator, which creates such Jobs, has read their LoadTests, so that one that it does
// not find is gone or never was.
func (a *Authenticator) loadTestOf(ctx context.Context, job *batchv1.Job) (*v1beta1.LoadTest, error) {
	ref, ok := controllerOf(job, v1beta1.GroupVersion.WithKind("LoadTest"))
	if !ok {
		return nil, refuse("Job %s/%s does not belong to a LoadTest", job.Namespace, job.Name)
	}
	lt := &v1beta1.LoadTest{}
	switch err := a.get(ctx, job.Namespace, ref.Name, lt); {
	case errors.Is(err, errNotFound):
		return nil, refuse("Job %s/%s names LoadTest %s, which is not in its namespace", job.Namespace, job.Name, ref.Name)
	case err != nil:
		return nil, err
	case lt.UID != ref.UID:
		return nil, refuse("Job %s/%s names LoadTest %s by another UID", job.Namespace, job.Name, ref.Name)
	case lt.DeletionTimestamp != nil:
		return nil, refuse("LoadTest %s/%s is being deleted", lt.Namespace, lt.Name)
	}
	return lt, nil
}

// get reads an object without copying it: a thousand workers may connect at once, and
// a LoadTest may be a megabyte. It must not be modified.
func (a *Authenticator) get(ctx context.Context, namespace, name string, obj client.Object) error {
	err := a.client.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, obj, client.UnsafeDisableDeepCopy)
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("%w: %T %s/%s", errNotFound, obj, namespace, name)
	case err != nil:
		return fmt.Errorf("get %T: %w", obj, err)
	}
	return nil
}

func controllerOf(obj client.Object, want schema.GroupVersionKind) (*metav1.OwnerReference, bool) {
	ref := metav1.GetControllerOfNoCopy(obj)
	return ref, ref != nil && ref.Kind == want.Kind && ref.APIVersion == want.GroupVersion().String()
}

// completionIndex is the number that the Job controller gave a pod, which stands in
// three places.
func completionIndex(pod *corev1.Pod, job string) (int32, error) {
	text := pod.Annotations[batchv1.JobCompletionIndexAnnotation]
	n, err := strconv.ParseInt(text, 10, 32)
	switch {
	case err != nil || n < 0 || strconv.FormatInt(n, 10) != text:
		return 0, refuse("pod %s/%s has no completion index", pod.Namespace, pod.Name)
	case pod.Labels[batchv1.JobCompletionIndexAnnotation] != text:
		return 0, refuse("pod %s/%s has completion index %s, but its label has another", pod.Namespace, pod.Name, text)
	case !strings.HasPrefix(pod.Name, podNamePrefix(job, text)):
		return 0, refuse("pod %s/%s does not have the name of completion index %s", pod.Namespace, pod.Name, text)
	}
	return int32(n), nil
}

// maxGeneratedName is how long a name may be before its random suffix.
const maxGeneratedName = 58

// podNamePrefix is how the Job controller begins the name of a pod.
func podNamePrefix(job, index string) string {
	suffix := "-" + index + "-"
	return job[:min(len(job), maxGeneratedName-len(suffix))] + suffix
}
