package loadtest_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest"
)

// chain is all that says who a worker is: what the API server answers of its
// token, the pod and the Job.
type chain struct {
	review authenticationv1.TokenReviewStatus
	pod    corev1.Pod
	job    batchv1.Job
	// away is what cannot be asked for: "review", "pod" or "job".
	away string
}

func controlled(apiVersion, kind, name string, uid types.UID) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, UID: uid, Controller: ptr.To(true)}}
}

// ofWorker is the chain of worker 1 of a run.
func ofWorker() *chain {
	c := &chain{review: authenticationv1.TokenReviewStatus{Authenticated: true, User: authenticationv1.UserInfo{
		Username: "system:serviceaccount:team-a:default",
		Extra: map[string]authenticationv1.ExtraValue{
			"authentication.kubernetes.io/pod-name": {"hello-1-abcde"}, "authentication.kubernetes.io/pod-uid": {"pod-uid"},
		},
	}}}
	c.pod.Namespace, c.pod.Name, c.pod.UID, c.pod.Spec.NodeName = "team-a", "hello-1-abcde", "pod-uid", "node-7"
	c.pod.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: "1"}
	c.pod.OwnerReferences = controlled("batch/v1", "Job", "hello", "job-uid")
	c.job.Namespace, c.job.Name, c.job.UID = "team-a", "hello", "job-uid"
	c.job.OwnerReferences = controlled("loadtest.dev/v1alpha1", "LoadTest", "hello", "run-uid")
	return c
}

// client answers from the chain.
func (c *chain) client() client.Client {
	find := func(key client.ObjectKey, what string, stored client.Object) error {
		switch {
		case c.away == what:
			return errors.New("connection refused")
		case key != client.ObjectKeyFromObject(stored):
			return apierrors.NewNotFound(corev1.Resource(what), key.Name)
		}
		return nil
	}
	return interceptor.NewClient(nil, interceptor.Funcs{
		Create: func(_ context.Context, _ client.WithWatch, obj client.Object, _ ...client.CreateOption) error {
			review := obj.(*authenticationv1.TokenReview)
			if review.Spec.Token != "bearer" || !slices.Equal(review.Spec.Audiences, []string{workerv1.Audience}) {
				return errors.New("another token, or another audience")
			}
			review.Status = c.review
			return find(client.ObjectKey{}, "review", &corev1.Pod{})
		},
		Get: func(_ context.Context, _ client.WithWatch, key client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
			switch obj := obj.(type) {
			case *corev1.Pod:
				*obj = c.pod
				return find(key, "pod", &c.pod)
			case *batchv1.Job:
				*obj = c.job
				return find(key, "job", &c.job)
			}
			return errors.New("unexpected read")
		},
	})
}

// Each link from a token to its run can be forged.
func TestEveryLinkOfAnIdentityIsChecked(t *testing.T) {
	name := func(username string) func(*chain) {
		return func(c *chain) { c.review.User.Username = username }
	}
	extra := func(key string, values ...string) func(*chain) {
		return func(c *chain) { c.review.User.Extra["authentication.kubernetes.io/"+key] = values }
	}
	index := func(n string) func(*chain) {
		return func(c *chain) { c.pod.Annotations[batchv1.JobCompletionIndexAnnotation] = n }
	}
	for name, tc := range map[string]struct {
		edit func(*chain)
		want string // what the refusal says
	}{
		"not authenticated":          {func(c *chain) { c.review.Authenticated = false }, "not valid for audience"},
		"a person":                   {name("system:serviceaccounts:team-a:default"), "not bound to a pod"},
		"an account of no namespace": {name("system:serviceaccount::default"), "not bound to a pod"},
		"a namespace of no account":  {name("system:serviceaccount:team-a"), "not bound to a pod"},
		"no pod":                     {extra("pod-name"), "not bound to a pod"},
		"a pod of any UID":           {extra("pod-uid"), "not bound to a pod"},
		"two pods":                   {extra("pod-name", "hello-1-abcde", "hello-0-abcde"), "not bound to a pod"},
		"a pod that was replaced":    {extra("pod-uid", "earlier"), "pod team-a/hello-1-abcde was replaced"},
		"no index":                   {index(""), "has no completion index"},
		"an index that wraps around": {index("4294967297"), "has no completion index"},
		"a pod without an owner":     {func(c *chain) { c.pod.OwnerReferences = nil }, "does not belong to a Job"},
		"a pod of another kind":      {func(c *chain) { c.pod.OwnerReferences[0].Kind = "ReplicaSet" }, "does not belong to a Job"},
		"a pod that only names a Job": {
			func(c *chain) { c.pod.OwnerReferences[0].Controller = nil }, "does not belong to a Job",
		},
		"a Job that was replaced": {func(c *chain) { c.job.UID = "later" }, "does not belong to a LoadTest"},
		"a Job without an owner":  {func(c *chain) { c.job.OwnerReferences = nil }, "does not belong to a LoadTest"},
		"a Job of another kind":   {func(c *chain) { c.job.OwnerReferences[0].Kind = "CronJob" }, "does not belong to a LoadTest"},
		"a foreign LoadTest":      {func(c *chain) { c.job.OwnerReferences[0].APIVersion = "example.com/v1alpha1" }, "does not belong to a LoadTest"},
	} {
		t.Run(name, func(t *testing.T) {
			c := ofWorker()
			tc.edit(c)
			got, err := (&loadtest.Authenticator{Client: c.client()}).Authenticate(t.Context(), "bearer")
			if !errors.Is(err, coordinator.ErrUnauthenticated) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %+v and %v, want that it %s", got, err, tc.want)
			}
		})
	}
}

func TestIdentityOfAWorker(t *testing.T) {
	got, err := (&loadtest.Authenticator{Client: ofWorker().client()}).Authenticate(t.Context(), "bearer")
	if want := (coordinator.Identity{Run: "run-uid", Worker: 1, Pod: "hello-1-abcde", Node: "node-7"}); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

// What cannot be asked now says nothing against a worker; nor does a pod or Job
// that the cache will have in a moment.
func TestTemporaryFailuresDoNotRefuseAWorker(t *testing.T) {
	for name, edit := range map[string]func(*chain){
		"the review":           func(c *chain) { c.away = "review" },
		"the pod":              func(c *chain) { c.away = "pod" },
		"a pod not there yet":  func(c *chain) { c.pod.Name = "later" },
		"the pod's namespace":  func(c *chain) { c.pod.Namespace = "team-b" },
		"the Job":              func(c *chain) { c.away = "job" },
		"a Job not there yet":  func(c *chain) { c.job.Name = "later" },
		"the Job of elsewhere": func(c *chain) { c.job.Namespace = "team-b" },
	} {
		t.Run(name, func(t *testing.T) {
			c := ofWorker()
			edit(c)
			got, err := (&loadtest.Authenticator{Client: c.client()}).Authenticate(t.Context(), "bearer")
			if err == nil || errors.Is(err, coordinator.ErrUnauthenticated) || got != (coordinator.Identity{}) {
				t.Errorf("got %+v and %v, want no identity, and a retryable error", got, err)
			}
		})
	}
}
