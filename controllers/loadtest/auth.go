package loadtest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator"
)

// The API server says in these which pod a projected token is bound to.
const (
	extraPodName = "authentication.kubernetes.io/pod-name"
	extraPodUID  = "authentication.kubernetes.io/pod-uid"
)

// Authenticator tells from a worker's token which worker of which run it is:
// the API server vouches for the pod, and the chain of controllers from the pod
// through its Job to the LoadTest vouches for the rest. Labels, which anyone
// who may create pods can set, count for nothing.
type Authenticator struct {
	Client client.Client
}

var _ coordinator.Authenticator = (*Authenticator)(nil)

// Authenticate verifies a token. Its error wraps coordinator.ErrUnauthenticated
// if the token is not one of a worker's; any other error may pass.
func (a *Authenticator) Authenticate(ctx context.Context, token string) (coordinator.Identity, error) {
	pod, err := a.podOf(ctx, token)
	if err != nil {
		return coordinator.Identity{}, err
	}
	n, err := strconv.ParseInt(pod.Annotations[batchv1.JobCompletionIndexAnnotation], 10, 32)
	if err != nil {
		return coordinator.Identity{}, refuse("pod %s/%s has no completion index", pod.Namespace, pod.Name)
	}
	owner, err := a.loadTestOf(ctx, pod)
	if err != nil {
		return coordinator.Identity{}, err
	}
	return coordinator.Identity{Run: coordinator.RunID(owner.UID), Worker: int32(n), Pod: pod.Name, Node: pod.Spec.NodeName}, nil
}

// podOf is the pod that a token is bound to.
func (a *Authenticator) podOf(ctx context.Context, token string) (*corev1.Pod, error) {
	review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token, Audiences: []string{workerv1.Audience}}}
	if err := a.Client.Create(ctx, review); err != nil {
		return nil, fmt.Errorf("review token: %w", err)
	}
	if !review.Status.Authenticated {
		return nil, refuse("the token is not valid for audience %s", workerv1.Audience)
	}
	namespace, ok := serviceAccountNamespace(review.Status.User.Username)
	name, uid := one(review.Status.User.Extra[extraPodName]), one(review.Status.User.Extra[extraPodUID])
	if !ok || name == "" || uid == "" {
		return nil, refuse("the token is not bound to a pod")
	}
	pod := &corev1.Pod{}
	if err := a.Client.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, pod); err != nil {
		// The cache may be a moment behind the kubelet; the worker asks again.
		return nil, fmt.Errorf("get pod: %w", err)
	}
	if string(pod.UID) != uid {
		return nil, refuse("pod %s/%s was replaced", namespace, name)
	}
	return pod, nil
}

// loadTestOf follows the controllers of a pod up to its LoadTest.
func (a *Authenticator) loadTestOf(ctx context.Context, pod *corev1.Pod) (*metav1.OwnerReference, error) {
	ref := metav1.GetControllerOf(pod)
	if ref == nil || ref.Kind != "Job" {
		return nil, refuse("pod %s/%s does not belong to a Job", pod.Namespace, pod.Name)
	}
	job := &batchv1.Job{}
	if err := a.Client.Get(ctx, types.NamespacedName{Namespace: pod.Namespace, Name: ref.Name}, job); err != nil {
		return nil, fmt.Errorf("get Job: %w", err)
	}
	owner := metav1.GetControllerOf(job)
	if job.UID != ref.UID || owner == nil || owner.Kind != "LoadTest" || owner.APIVersion != v1alpha1.GroupVersion.String() {
		return nil, refuse("pod %s/%s does not belong to a LoadTest", pod.Namespace, pod.Name)
	}
	return owner, nil
}

func refuse(format string, args ...any) error {
	return errors.Join(coordinator.ErrUnauthenticated, fmt.Errorf(format, args...))
}

func one(values authenticationv1.ExtraValue) string {
	if len(values) != 1 {
		return ""
	}
	return values[0]
}

// serviceAccountNamespace is the namespace of "system:serviceaccount:NS:NAME".
func serviceAccountNamespace(username string) (string, bool) {
	rest, ok := strings.CutPrefix(username, "system:serviceaccount:")
	if !ok {
		return "", false
	}
	namespace, _, ok := strings.Cut(rest, ":")
	return namespace, ok && namespace != ""
}
